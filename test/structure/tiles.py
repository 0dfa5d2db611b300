"""One tile program serves all targets: tiles.py KVC_OPT CPU.mlir GPU.mlir...

Each file is a spec's tile level for one target. Printed generically, all must
be the same but for attributes: names of operations, their operands, results
and regions, in order. Types lose their parameters, which are layouts and
extents. Constants are attributes by another name, and like ones are one
operation: they are left out, and an operand that is one is "constant".
"""
import re
import subprocess
import sys


def without_brackets(text, opening, closing):
    """`text` without what lies between a bracket and its other half."""
    depth, kept = 0, []
    for position, character in enumerate(text):
        # An arrow closes nothing.
        arrow = character == ">" and text[position - 1 : position] == "-"
        if character == opening:
            depth += 1
        elif character == closing and not arrow and depth:
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def structure(kvc_opt, path):
    """Lines of operations, without attributes and types' parameters."""
    text = subprocess.run(
        [kvc_opt, "--mlir-print-op-generic", path],
        check=True, capture_output=True, text=True,
    ).stdout
    lines = []
    for line in text.splitlines():
        if re.match(r"[#!]\w+ = ", line):  # aliases of attributes and types
            continue
        line = without_brackets(line, "<", ">")
        # Discardable attributes stand in braces behind the operation.
        line = re.sub(r" \{[^{}]*\} :", " :", line)
        line = re.sub(r"^\}\) \{.*\}", "})", line.strip())
        lines.append(line)
    return renumbered(lines)


def renumbered(lines):
    """`lines` without constants, with values numbered in the order they come."""
    constants, numbers, kept = set(), {}, []

    def name(value):
        value = value.group()
        if value in constants:
            return "constant"
        return numbers.setdefault(value, f"%{len(numbers)}")

    for line in lines:
        constant = re.match(r'(%\w+) = "arith.constant"', line)
        if constant:
            constants.add(constant.group(1))
        else:
            kept.append(line)
    return [re.sub(r"%\w+", name, line) for line in kept]


def main():
    kvc_opt, first, *others = sys.argv[1:]
    want = structure(kvc_opt, first)
    operations = [line for line in want if re.search(r'"kv\.', line)]
    # What is compared is there at all.
    assert len(operations) > 20, f"{first} has no tile program"
    for other in others:
        got = structure(kvc_opt, other)
        for number, (a, b) in enumerate(zip(want, got), 1):
            if a != b:
                sys.exit(f"line {number} differs:\n{first}: {a}\n{other}: {b}")
        if len(want) != len(got):
            sys.exit(f"{first} has {len(want)} lines, {other} has {len(got)}")
    print(f"{len(want)} lines are alike in {1 + len(others)} files,", end=" ")
    print(f"{len(operations)} of them operations of kv")


if __name__ == "__main__":
    main()
