"""How much of a thread's stack generated code takes.

    stack.py --kvc KVC --most BYTES SPEC...

Of each spec and target the largest frame of a kernel, from its assembly; an error
where one is larger than BYTES.
"""

import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--kvc", required=True)
parser.add_argument("--most", type=int, required=True)
parser.add_argument("specs", nargs="+")
arguments = parser.parse_args()

X86 = re.compile(r"\tsubq\t\$(\d+), %rsp()")
# subq $24, %rsp; sub sp, sp, #24; sub x9, sp, #2, lsl #12. A frame is taken in
# several steps, by one function.
STEP = {
    "x86-64-v3": X86,
    "x86-64-v4": X86,
    "arm64-apple-macos": re.compile(
        r"\tsub\t(?:sp|x9), (?:sp|x9), #(\d+)(, lsl #12)?"),
}
NAME = re.compile(r"^_?(\w+):")


def frames(text, step):
    name, found = "", {}
    for line in text.splitlines():
        begins = NAME.match(line)
        if begins and not begins.group(1).startswith(("L", "ltmp")):
            name = begins.group(1)
        taken = step.match(line)
        if taken:
            size = int(taken.group(1)) << (12 if taken.group(2) else 0)
            found[name] = found.get(name, 0) + size
    return found


wrong = False
for spec in arguments.specs:
    for target, step in STEP.items():
        text = subprocess.run(
            [arguments.kvc, "compile", spec, "--target", target, "--emit",
             "asm", "-o", "-"], check=True, capture_output=True,
            text=True).stdout
        found = frames(text, step)
        name = max((name for name in found if "_step" in name), key=found.get)
        print(f"{os.path.basename(spec)}: {target}: {found[name]} bytes, {name}")
        wrong |= found[name] > arguments.most
sys.exit(wrong)
