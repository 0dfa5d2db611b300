"""What a page of docs/ quotes is what the tool prints and the files say.

    check_quotes.py KVC ROOT PAGE...

Fenced blocks are checked whose first line says where they come from:

    ```mlir stage=tiles        `kvc compile docs/examples/tiny.yaml --emit tiles`
    ```yaml file=specs/x.yaml  a file of the repository
    ```text sh=verify          not checked: an example of what a run prints

Each line of a block must be a line there, in this order. A line `...` stands
for any lines, and `...` within a line for any text. Numbers of SSA values do
not count, nor does space at a line's ends.
"""

import re
import subprocess
import sys

SPEC = "docs/examples/tiny.yaml"


def normalize(line):
    """The line without what a renumbering changes."""
    return re.sub(r"%(\w+_)?\d+\b", "%N", line.strip())


def blocks(text):
    """(line number, where from, lines) of each block that says where from."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = re.match(r"```\w+ (stage|file)=(\S+)$", lines[at])
        if not opening:
            at += 1
            continue
        end = lines.index("```", at)
        yield at + 1, opening.groups(), lines[at + 1 : end]
        at = end + 1


def matches(pattern, line):
    parts = [re.escape(part) for part in pattern.split("...")]
    return re.fullmatch(".*?".join(parts), line) is not None


class Sources:
    """Texts that pages quote, each read or made once."""

    def __init__(self, kvc, root):
        self.kvc, self.root, self.known = kvc, root, {}

    def lines(self, kind, name):
        if (kind, name) not in self.known:
            text = self.emit(name) if kind == "stage" else self.read(name)
            self.known[kind, name] = [normalize(l) for l in text.split("\n")]
        return self.known[kind, name]

    def emit(self, stage):
        command = [self.kvc, "compile", f"{self.root}/{SPEC}"]
        command += ["--emit", stage, "-o", "-"]
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def read(self, path):
        with open(f"{self.root}/{path}", encoding="utf-8") as file:
            return file.read()


def check(page, sources):
    """The lines of `page` that are not where they are said to be from."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    wrong, count = 0, 0
    for number, (kind, name), quoted in blocks(text):
        lines = sources.lines(kind, name)
        at = 0
        for offset, line in enumerate(quoted, start=1):
            pattern = normalize(line)
            if pattern in ("", "..."):
                continue
            count += 1
            found = at
            while found < len(lines) and not matches(pattern, lines[found]):
                found += 1
            if found == len(lines):
                print(f"{page}:{number + offset}: not in {kind} {name} "
                      f"behind the line before: {line.strip()}")
                wrong += 1
            else:
                at = found + 1
    print(f"{page}: {count} lines quoted, {wrong} wrong")
    return wrong


def main():
    kvc, root, *pages = sys.argv[1:]
    sources = Sources(kvc, root)
    return 1 if sum([check(page, sources) for page in pages]) else 0


if __name__ == "__main__":
    sys.exit(main())
