"""What libraries of each target ask of the platform is in the target's list.

    symbols.py --kvc KVC --nm NM --lists FOLDER --system TBD --folder FOLDER
               SPEC...

FOLDER/symbols-TARGET.txt has a symbol a line; `#` begins a comment. There is a
list for each target that the compiler knows; that of macOS is TBD, what libraries
are linked against, of which each line is to be used by one of them.
"""

import argparse
import os
import re
import subprocess
import sys

from targets import targets

parser = argparse.ArgumentParser()
for flag in ("--kvc", "--nm", "--lists", "--system", "--folder"):
    parser.add_argument(flag, required=True)
parser.add_argument("specs", nargs="+")
arguments = parser.parse_args()


def is_macos(target):
    return target.endswith("-macos")


def undefined(spec, target):
    library = os.path.join(
        arguments.folder, target + (".dylib" if is_macos(target) else ".so"))
    subprocess.run([arguments.kvc, "compile", spec, "--target", target,
                    "-o", library], check=True)
    # ELF's table for the loader, which Mach-O has no other than the whole.
    which = [] if is_macos(target) else ["-D"]
    listed = subprocess.run(
        [arguments.nm, *which, "--undefined-only", "--format=just-symbols",
         library], check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


def listed(target):
    if is_macos(target):
        with open(arguments.system) as file:
            return set(re.findall(r"^ +- (_\w+)$", file.read(), re.MULTILINE))
    name = os.path.join(arguments.lists, f"symbols-{target}.txt")
    with open(name) as file:
        return {line.strip() for line in file if not line.startswith("#")}


wrong = False
for target in targets(arguments.kvc, arguments.specs[0]):
    allowed = listed(target)
    used = {spec: undefined(spec, target) for spec in arguments.specs}
    more = [(spec, symbol) for spec, symbols in used.items()
            for symbol in sorted(symbols - allowed)]
    for spec, symbol in more:
        print(f"{target}: {spec} needs {symbol}")
    less = allowed - set().union(*used.values()) if is_macos(target) else set()
    for symbol in sorted(less):
        print(f"{target}: nothing needs {symbol}")
    if not more and not less:
        print(f"{target}: {len(arguments.specs)} libraries need nothing else")
    wrong |= bool(more or less)
sys.exit(wrong)
