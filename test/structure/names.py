"""No C++ outside an axis's folder names one of its points.

Points are what the .td files of dialect/{precision,time,position,depth,score}
define: their classes, and their mnemonics as they stand in IR (`#kv.all`). The
spec's own words, which are often the same, belong to specs.
"""

import argparse
import os
import re
import sys
import tempfile

AXES = ("precision", "time", "position", "depth", "score")
SOURCES = ("dialect", "compiler", "runtime")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(root, folder, *suffixes):
    for base, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.join(base, name)


def points(root):
    """(axis, class, mnemonic) of each point."""
    for axis in AXES:
        for path in files(root, f"dialect/{axis}", ".td"):
            for name, body in re.findall(
                r"def KV_\w+\s*:\s*AttrDef<KV_Dialect, \"(\w+)\"(.*?)^}",
                read(path), re.MULTILINE | re.DOTALL,
            ):
                mnemonic = re.search(r'let mnemonic = "(\w+)"', body)[1]
                yield axis, name + "Attr", mnemonic


def without_comments(text):
    """Comments are blank; text stays, and so do lines."""
    def keep(match):
        found = match[0]
        return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)

    return re.sub(r'"(\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', keep, text,
                  flags=re.DOTALL)


def naming(root):
    """Where a point is named that should not be."""
    known = list(points(root))
    patterns = [
        (axis, name,
         re.compile(rf"\b{name}\b|#kv\.{mnemonic}\b"))
        for axis, name, mnemonic in known
    ]
    # The other way to name a point: to include its folder.
    inclusion = {
        axis: re.compile(rf'#include "dialect/{axis}/') for axis in AXES
    }
    for folder in SOURCES:
        for path in files(root, folder, ".cpp", ".h"):
            inside = os.path.relpath(path, root)
            text = without_comments(read(path))
            for number, line in enumerate(text.split("\n"), 1):
                for axis, name, pattern in patterns:
                    if inside.startswith(f"dialect/{axis}{os.sep}"):
                        continue
                    if pattern.search(line):
                        yield f"{inside}:{number}: {name} of axis {axis}"
                for axis, pattern in inclusion.items():
                    if pattern.search(line) and not inside.startswith(
                        f"dialect/{axis}{os.sep}"
                    ):
                        yield f"{inside}:{number}: a header of axis {axis}"


def check_itself(root):
    """Whether each point is found where it is planted, and only there."""
    with tempfile.TemporaryDirectory() as copy:
        for axis in AXES:
            for path in files(root, f"dialect/{axis}", ".td"):
                there = os.path.join(copy, os.path.relpath(path, root))
                os.makedirs(os.path.dirname(there), exist_ok=True)
                with open(there, "w", encoding="utf-8") as file:
                    file.write(read(path))
        planted = list(points(root))
        lines = []
        for axis, name, mnemonic in planted:
            lines += [f"// {name}", f"kv::{name} a;", f'f("#kv.{mnemonic}<");',
                      f"/* {name} */"]
        os.makedirs(os.path.join(copy, "compiler"))
        with open(os.path.join(copy, "compiler", "Planted.cpp"), "w",
                  encoding="utf-8") as file:
            file.write("\n".join(lines))
        return len(list(naming(copy))), 2 * len(planted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", help="the repository")
    options = parser.parse_args()
    found, planted = check_itself(options.root)
    count = len(list(points(options.root)))
    print(f"{found} of {planted} planted names of {count} points found")
    if found != planted or count == 0:
        return 1
    wrong = list(naming(options.root))
    for line in wrong:
        print(line)
    print(f"{len(wrong)} names of points outside their axes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
