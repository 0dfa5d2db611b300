"""Compiles a spec twice, for each target, into two folders, and compares.

    again.py --kvc KVC --folder FOLDER SPEC
"""

import argparse
import filecmp
import os
import subprocess
import sys

from targets import targets

parser = argparse.ArgumentParser()
parser.add_argument("--kvc", required=True)
parser.add_argument("--folder", required=True)
parser.add_argument("spec")
arguments = parser.parse_args()

wrong = False
for target in targets(arguments.kvc, arguments.spec):
    shared = "dylib" if target.endswith("-macos") else "so"
    kinds = [shared, "h", "a", "ll"]
    folders = [os.path.join(arguments.folder, target, turn) for turn in "ab"]
    for folder in folders:
        os.makedirs(folder)
        for kind in kinds:
            if kind != "h":  # comes with the library
                subprocess.run(
                    [arguments.kvc, "compile", arguments.spec, "--target",
                     target, "-o", os.path.join(folder, "library." + kind)],
                    check=True)
    names = ["library." + kind for kind in kinds]
    same = [name for name in names
            if filecmp.cmp(*(os.path.join(folder, name) for folder in folders),
                           shallow=False)]
    for name in sorted(set(names) - set(same)):
        print(f"{target}: {name} differs")
        wrong = True
    print(f"{target}: {' '.join(same)} are the same")
sys.exit(wrong)
