"""One tile program serves all targets: tiles.py KVC KVC_OPT SPEC...

The tile level of each spec is made for every target: CPUs, and subgroups of a
GPU from 4 to 32 invocations wide. Printed generically, all of one spec must be
the same but for attributes: names of operations, their operands, results
and regions, in order. Types lose their parameters, which are layouts and
extents. Constants are attributes by another name, and like ones are one
operation: they are left out, and an operand that is one is "constant". Codes are
multiplied in f32, which all targets have.
"""
import os
import re
import subprocess
import sys
import tempfile

TARGETS = (
    ["--target", "x86-64-v3"], ["--target", "x86-64-v4"],
    ["--target", "aarch64-linux"],
) + tuple(
    ["--gpu", "vulkan", "--subgroup", str(lanes)] for lanes in (4, 8, 16, 32)
)


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


def in_f32(spec, folder):
    """A copy of the spec; the default differs between CPUs and GPUs."""
    with open(spec, encoding="utf-8") as file:
        text = file.read()
    if "bits:" in text and "arithmetic:" not in text:
        text = re.sub(r"^cache:$", "cache:\n  arithmetic: f32", text, flags=re.M)
        assert "arithmetic:" in text, spec
    path = os.path.join(folder, os.path.basename(spec))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def compare(kvc, kvc_opt, spec, folder):
    want = None
    source = in_f32(spec, folder)
    for target in TARGETS:
        path = os.path.join(folder, "tiles.mlir")
        subprocess.run(
            [kvc, "compile", source, *target, "--emit", "tiles", "-o", path],
            check=True,
        )
        got = structure(kvc_opt, path)
        if want is None:
            want = got
            # What is compared is there at all.
            for name in ("kv.page", "kv.contract", "kv.accumulate", "kv.encode"):
                assert any(f'"{name}"(' in line for line in want), name
            continue
        for number, (a, b) in enumerate(zip(want, got), 1):
            if a != b:
                sys.exit(f"{spec}: operation {number} differs:\n"
                         f"{TARGETS[0]}: {a}\n{target}: {b}")
        if len(want) != len(got):
            sys.exit(f"{spec}: {len(want)} lines for {TARGETS[0]}, "
                     f"{len(got)} for {target}")
    print(f"{spec}: {len(want)} lines are alike for {len(TARGETS)} targets")


def main():
    kvc, kvc_opt, *specs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for spec in specs:
            compare(kvc, kvc_opt, spec, folder)


if __name__ == "__main__":
    main()
