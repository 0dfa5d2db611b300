"""man.py KVC PAGE: what groff shows of PAGE is what the helps say: each of
their words, in their order."""
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(
        words, stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout


kvc, page = sys.argv[1:]
# Without what terminals are told, and without hyphenation.
shown = output(
    "groff", "-man", "-Tascii", "-P-c", "-rHY=0", "-rLL=200n", "-P-bou", page
)
shown = re.sub(r"\s+", " ", shown)
wrong = 0
for command in re.findall(r"^  (\w+)  +\S", output(kvc, "--help"), re.M):
    head, usage, rest = output(kvc, command, "--help").split("\n\n", 2)
    at = shown.index(usage.removeprefix("usage: "))
    for word in rest.split():
        found = shown.find(word, at)
        if found < 0:
            wrong += 1
            print(f"kvc {command}: '{word}' is not there, or not in its place")
        else:
            at = found + len(word)
sys.exit(wrong > 0)
