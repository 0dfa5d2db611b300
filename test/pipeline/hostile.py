"""hostile.py KVC FOLDER STAGE FILE: of a stage's text, numbers replaced by such
as nobody means, and pieces left out or there twice. Each compile ends with a
library or with an error that points into the text; none crashes. FOLDER is
filled; a fixed choice of the changes is made."""
import os
import random
import re
import resource
import subprocess
import sys

VALUES = ["0", "-1", "3", str(2**31), str(2**62), str(2**63 - 1), "9" * 20]
CHOICE = 24

kvc, folder, stage, file = sys.argv[1:]
with open(file, encoding="utf-8") as opened:
    text = opened.read()


def with_numbers():
    number = r"(?<![\w.%#@$])-?\d+(?![\w.])|(?<=[<x])\d+(?=[x>])"
    for found in re.finditer(number, text):
        for value in VALUES:
            yield text[: found.start()] + value + text[found.end() :]


def with_pieces():
    lines = text.split("\n")
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.endswith("{") or indent > 4:
            continue
        end = lines.index(" " * indent + "}", at) + 1
        yield "\n".join(lines[:at] + lines[end:])
        yield "\n".join(lines[:at] + lines[at:end] + lines[at:])
        yield "\n".join(lines[: at + 1] + lines[end - 1 :])


def compile_to(wanted, text):
    source = os.path.join(folder, "hostile.mlir")
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    command = [kvc, "compile", source, "--emit", wanted, "-o", source + ".out"]
    command[-1] = os.path.join(folder, "out" + (".o" if wanted == "object" else ".mlir"))
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=120, encoding="utf-8")


pick = random.Random(7)
wrong = 0
changes = [(text, "numbers") for text in pick.sample(list(with_numbers()), CHOICE)]
pieces = list(with_pieces())
changes += [(text, "pieces") for text in pick.sample(pieces, min(CHOICE, len(pieces)))]
# Unfinished texts, and none at all.
changes += [(text[: len(text) * part // 7], "end") for part in range(7)]
refused = 0
for number, (changed, what) in enumerate(changes):
    run = compile_to("loops" if what == "numbers" else "object", changed)
    refused += run.returncode == 1
    said = ": error: " in run.stderr or run.stderr.startswith("kvc: error: ")
    if run.returncode not in (0, 1) or (run.returncode == 1 and not said):
        kept = os.path.join(folder, f"wrong-{number}.mlir")
        os.replace(os.path.join(folder, "hostile.mlir"), kept)
        print(f"{kept}: exit code {run.returncode}: {run.stderr[:300]}")
        wrong += 1
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"{stage}: {len(changes)} texts, {refused} refused, {wrong} wrong, {most} MiB")
sys.exit(1 if wrong or refused < 10 or most > 2048 else 0)
