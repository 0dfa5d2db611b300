"""What libraries of each target ask of the platform is in the target's list.

    symbols.py --kvc KVC --nm NM --lists FOLDER --folder FOLDER SPEC...

FOLDER/symbols-TARGET.txt has a symbol a line; `#` begins a comment. There is a
list for each target that the compiler knows.
"""

import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
for flag in ("--kvc", "--nm", "--lists", "--folder"):
    parser.add_argument(flag, required=True)
parser.add_argument("specs", nargs="+")
arguments = parser.parse_args()


def targets():
    """All that there are, as the compiler lists them where it knows no other."""
    asked = subprocess.run(
        [arguments.kvc, "compile", arguments.specs[0], "--target", "none",
         "--emit", "steps", "-o", "-"], capture_output=True, text=True)
    names = re.search(r"there is (.*)", asked.stderr).group(1).split(", ")
    return [name for name in names if name != "host"]


def undefined(spec, target):
    library = os.path.join(arguments.folder, target + ".so")
    subprocess.run([arguments.kvc, "compile", spec, "--target", target,
                    "-o", library], check=True)
    listed = subprocess.run(
        [arguments.nm, "-D", "--undefined-only", "--format=just-symbols",
         library], check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


wrong = False
for target in targets():
    with open(os.path.join(arguments.lists, f"symbols-{target}.txt")) as file:
        allowed = {line.strip() for line in file if not line.startswith("#")}
    more = [(spec, symbol) for spec in arguments.specs
            for symbol in sorted(undefined(spec, target) - allowed)]
    for spec, symbol in more:
        print(f"{target}: {spec} needs {symbol}")
    if not more:
        print(f"{target}: {len(arguments.specs)} libraries need nothing else")
    wrong |= bool(more)
sys.exit(wrong)
