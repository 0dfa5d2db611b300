"""scaling.py KVC PAGE: the bytes of docs/scaling.md are the byte plan's.

A block after a command `kvc report ...` is what that prints, and rows of `kvc
bench ...` have the bytes that a step reads. Times are not looked at."""
import json
import re
import shlex
import subprocess
import sys

kvc, page = sys.argv[1:]
text = open(page, encoding="utf-8").read()
LINES = "codes scales residual sinks originals rollback".split()


def report(words, *flags):
    command = [kvc, "report", *words, *flags]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


printed = read = 0
for command, shown in re.findall(r"```sh\n(kvc .*?)```\n\n```text\n(.*?)```", text, re.S):
    words = shlex.split(command.replace("\\\n", " "))
    rows = shown.rstrip("\n").split("\n")
    if words[1] == "report":
        # The summary is the end of what is printed.
        assert report(words[2:]).rstrip("\n").split("\n")[-len(rows) :] == rows, command
        printed += len(rows) - 1
        continue
    tokens = words[words.index("--tokens") + 1]
    specs = [word for word in words if word.endswith(".yaml")]
    plans = {}
    for plan in json.loads(report(specs, "--tokens", tokens, "--json")):
        name = re.search(r"name: (\w+)", open(plan["spec"]).read())[1]
        used = sum(layer[line] for layer in plan["layers"] for line in LINES)
        plans[name, plan["tokens"]] = used
    for fields in map(str.split, rows[1:]):
        if not fields:
            continue
        used = plans.pop((fields[0], int(fields[2])))
        assert fields[8] == f"{used / 1e6:.3f}", (fields, used)
        read += 1
    assert not plans, plans
print(f"{printed} rows of reports, {read} rows of benchmarks")
