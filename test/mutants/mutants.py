"""Break a tile program in one line, and see whether `kvc verify` notices.

Each section of mutants.ini is a mutant: a line of the tile program of one of
the specs in Inputs, and what stands there instead. It is caught where the
library then misses. Exit code 1 where one is not, or where the table does not
fit: a line that is not there, IR that does not compile, a crash of kvc itself.
"""

import argparse
import concurrent.futures
import configparser
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120  # seconds for one command


class TableError(Exception):
    """The table does not fit what is compiled."""


def pattern(find):
    """`%*` is any value, `...` any text; both can be put back."""
    parts = re.split(r"(%\*|\.\.\.)", find)
    return re.compile(
        "".join(
            {"%*": r"(%[\w#]+)", "...": "(.*?)"}.get(part, re.escape(part))
            for part in parts
        )
    )


def put_back(put, found):
    """`{2}` is what the second wildcard found. `(%x + 1)` is a sum, which is
    computed at the begin of the line."""
    text = re.sub(r"\{(\d+)\}", lambda number: found[int(number[1])], put)
    before = []

    def compute(match):
        value, sign, number = match.groups()
        name = f"%mutant{len(before)}"
        op = "addi" if sign == "+" else "subi"
        before.append(
            f"{name}_by = arith.constant {number} : index "
            f"{name} = arith.{op} {value}, {name}_by : index "
        )
        return name

    text = re.sub(r"\((%[\w#]+) ([+-]) (\d+)\)", compute, text)
    return "".join(before), text


def function_lines(lines, name):
    """The lines of the function whose name ends so; "": those of none."""
    inside = False
    for number, line in enumerate(lines):
        if line.startswith("  func.func"):
            suffix = re.search(r"@(\w+)", line)[1]
            inside = bool(name) and suffix.endswith("_" + name)
        elif not name and not inside:
            yield number
        if inside:
            yield number
        if line == "  }":
            inside = False


def mutate(text, mutant):
    lines = text.split("\n")
    find = pattern(mutant["find"])
    places = [
        number
        for number in function_lines(lines, mutant["in"])
        if find.search(lines[number])
    ]
    which, count = map(int, mutant.get("which", "1 of 1").split(" of "))
    if len(places) != count:
        raise TableError(
            f"{len(places)} lines of {mutant['in']} are '{mutant['find']}', "
            f"not {count}"
        )
    line = lines[places[which - 1]]
    found = find.search(line)
    before, put = put_back(mutant["put"], found)
    indent = line[: len(line) - len(line.lstrip())]
    changed = line[len(indent) : found.start()] + put + line[found.end() :]
    if not before and indent + changed == line:
        raise TableError("it changes nothing")
    lines[places[which - 1]] = indent + before + changed
    return "\n".join(lines)


def run(*command):
    """The exit code and what was printed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None, f"no answer after {PATIENCE} seconds"
    return done.returncode, done.stdout + done.stderr


class Workshop:
    def __init__(self, kvc, folder):
        self.kvc = kvc
        self.folder = folder
        self.texts = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def spec(self, base):
        return os.path.join(HERE, "Inputs", base + ".yaml")

    def compile(self, name, *arguments):
        code, said = run(self.kvc, "compile", *arguments)
        if code != 0:
            raise TableError(f"{name} does not compile ({code}):\n{said}")

    def verify(self, base, name):
        """Whether the library is right, and what is said of it."""
        library = self.path(name + ".so")
        self.compile(name, self.path(name + ".mlir"), "-o", library)
        code, said = run(
            self.kvc, "verify", "--spec", self.spec(base), library
        )
        misses = re.findall("^  miss: (.*)$", said, re.MULTILINE)
        if code == 0 and not misses:
            return True, ""
        if code == 1 and misses:
            return False, misses[0]
        raise TableError(f"kvc verify of {name} ends with {code}:\n{said}")

    def prepare(self, base):
        self.compile(
            base, self.spec(base), "--emit", "tiles", "-o",
            self.path(base + ".mlir"),
        )
        with open(self.path(base + ".mlir"), encoding="utf-8") as file:
            self.texts[base] = file.read()
        right, miss = self.verify(base, base)
        if not right:
            raise TableError(f"{base} itself misses: {miss}")

    def is_caught(self, name, mutant):
        """By which miss; None: it is not."""
        base = mutant["base"]
        text = mutate(self.texts[base], mutant)
        with open(self.path(name + ".mlir"), "w", encoding="utf-8") as file:
            file.write(text)
        right, miss = self.verify(base, name)
        return None if right else miss


def read_table(path):
    table = configparser.ConfigParser(
        interpolation=None, delimiters=("=",), comment_prefixes=("#",)
    )
    with open(path, encoding="utf-8") as file:
        table.read_file(file)
    return {name: dict(table[name]) for name in table.sections()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kvc", default="kvc", help="the kvc to try")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", help="leave what is compiled there")
    parser.add_argument("-v", action="store_true", help="how each is caught")
    parser.add_argument("name", nargs="*", help="these alone")
    options = parser.parse_args()
    mutants = read_table(os.path.join(HERE, "mutants.ini"))
    for name in options.name or []:
        if name not in mutants:
            parser.error(f"there is no mutant '{name}'")
    if options.name:
        mutants = {name: mutants[name] for name in options.name}

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        os.makedirs(folder, exist_ok=True)
        shop = Workshop(options.kvc, folder)
        failures = []
        caught = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            bases = sorted({mutant["base"] for mutant in mutants.values()})
            try:
                list(pool.map(shop.prepare, bases))
            except TableError as error:
                print(f"error: {error}")
                return 1
            tries = {
                pool.submit(shop.is_caught, name, mutant): name
                for name, mutant in mutants.items()
            }
            for number, done in enumerate(
                concurrent.futures.as_completed(tries), 1
            ):
                name = tries[done]
                if sys.stderr.isatty():
                    print(f"\r{number} of {len(tries)}", end="",
                          file=sys.stderr)
                try:
                    miss = done.result()
                except TableError as error:
                    failures.append(f"{name}: error: {error}")
                    continue
                if miss is None:
                    failures.append(
                        f"{name}: survives: {mutants[name]['put']}"
                    )
                    continue
                caught += 1
                if options.v:
                    print(f"{name}: {miss}")
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    for failure in sorted(failures):
        print(failure)
    print(f"{caught} of {len(mutants)} mutants caught")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
