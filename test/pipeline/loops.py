"""Prints the loops of a function in assembly: loops.py ASM FUNCTION PATTERN...

Of FUNCTION's innermost loops, those that have an instruction matching a PATTERN,
in their order. A loop is what lies between a label and a branch back to it, and
innermost if there is no other such in between. Its instructions are printed
with single blanks and without comments, labels in between left out: what runs
over and over, and nothing else. It fails where there is none.
"""
import re
import sys


def instructions_of(path, function):
    lines, inside = [], False
    with open(path) as file:
        for line in file:
            line = re.split(r"//|;|\s@\s", line)[0].strip()
            if line == function + ":":
                inside = True
            elif inside and re.match(r"\.?L?func_end|\.Lfunc_end", line):
                return lines
            elif inside and line and not re.match(r"\.(?!L)", line):
                lines.append(" ".join(line.split()))
    sys.exit(f"{path} has no function {function}")


def loops_of(lines):
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    found = []
    for end, line in enumerate(lines):
        target = labels.get(line.split(" ")[-1])
        if re.match(r"(b|cb|tb)[\w.]* ", line) and target is not None and target < end:
            found.append((target, end))
    for begin, end in found:
        if not any(
            (a, b) != (begin, end) and begin <= a and b <= end for a, b in found
        ):
            yield [line for line in lines[begin : end + 1] if not line.endswith(":")]


def main():
    path, function, *patterns = sys.argv[1:]
    printed = 0
    for loop in loops_of(instructions_of(path, function)):
        if any(re.match(p, i) for i in loop for p in patterns):
            print(f"loop of {len(loop)}:")
            print("\n".join("  " + line for line in loop))
            printed += 1
    if not printed:
        sys.exit(f"{function}: no loop has {' or '.join(patterns)}")


main()
