#!/usr/bin/env python3
#===- neon-loops.py - instructions and cycles a byte of loops for Arm --------===#
#
# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Counts what kvc's kernels for Arm execute for a byte of cache, beside kernels
written by hand (neon-yardstick.cpp), and lets llvm-mca say in how many cycles.

Both are run under qemu, which writes down each instruction of the kernel that
it executes. From that trace, nothing else, follows what a loop is: a branch
backwards that was taken. The loops over codes are the two innermost ones in
which most instructions are executed, of keys and of values; with what is done
for each block of 16 tokens or channels around them they are the "inner loops".
A "page" is all that lies between one page's first such loop and the next one's:
scales folded into operands, softmax, and the loops. llvm-mca gets the same
instructions in the order of the trace.
"""
import argparse
import collections
import itertools
import os
import re
import shutil
import subprocess
import sys

KINDS = {  # name: bits, arithmetic
    "f16": (16, None),
    "int8": (8, "i16"),
    "int4": (4, "i8"),
    "int2": (2, "i8"),
}
HEADS, KV_HEADS, DIM, TOKENS = 32, 8, 128, 64
# Three pages that are read whole, and a token.
STEP = 3 * TOKENS + 1
LINUX = "aarch64-linux"
CPUS = ["apple-m1", "neoverse-v1"]


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def tool(name):
    return shutil.which(f"{name}-22") or name


def spec(kind):
    bits, arithmetic = KINDS[kind]
    planes = "keys: f16, values: f16"
    if arithmetic:
        planes = (
            f"keys: {{bits: {bits}, per: channel, group: {TOKENS}}}, "
            f"values: {{bits: {bits}, per: token}}, arithmetic: {arithmetic}"
        )
    return (
        f"kvc: 1\nname: neon_{kind}\n"
        f"model: {{layers: 1, heads: {HEADS}, kv_heads: {KV_HEADS}, "
        f"head_dim: {DIM}, rope: {{theta: 500000.0}}}}\n"
        f"cache: {{{planes}, window: all, context: 16384}}\n"
    )


def bytes_of_page(kind):
    """Of one head of keys and values; scales and zeros in f16 are 4 a pair."""
    bits, arithmetic = KINDS[kind]
    pairs = (DIM + TOKENS) * 4 if arithmetic else 0
    return 2 * TOKENS * DIM * bits // 8 + pairs


class Tools:
    def __init__(self, arguments):
        self.kvc, self.clang = arguments.kvc, arguments.clang
        self.target, self.work = arguments.target, arguments.work
        self.source = os.path.dirname(os.path.abspath(__file__))
        self.root = os.path.dirname(os.path.dirname(self.source))

    def link(self, output, inputs, *flags):
        run(
            [self.clang, "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static"]
            + ["-std=c++20", "-O2", "-march=armv8.2-a+fp16+dotprod", "-nostdinc++"]
            + ["-fno-exceptions", "-fno-rtti", "-nostdlib++", "-I", self.root]
            + ["-I", os.path.join(self.root, "runtime/include"), *flags]
            + ["-o", output, *inputs, "-lm"]
        )

    def assembly(self, kind, target):
        spec_of_kind = os.path.join(self.work, kind + ".yaml")
        with open(spec_of_kind, "w") as file:
            file.write(spec(kind))
        return run(
            [self.kvc, "compile", spec_of_kind, "--target", target]
            + ["--emit", "asm", "-o", "-"]
        )

    def generated(self, kind):
        name = f"neon_{kind}_step0_attend"
        text = self.assembly(kind, LINUX)
        if self.target != LINUX:
            text = graft(name, self.assembly(kind, self.target), text)
        path = os.path.join(self.work, kind)
        with open(path + ".s", "w") as file:
            file.write(text)
        self.link(
            path + "-step",
            [os.path.join(self.source, "neon-step.cpp"), path + ".s"],
            f"-DKVC_NEON_LIBRARY=neon_{kind}_library",
        )
        return Function(path + "-step", name, [str(STEP)], self.work)


def graft(name, apple, linux):
    """The assembly of a library for Linux with one function from that for macOS.

    Its arguments are of 8 bytes each, which both pass alike; it calls nothing.
    Only names and directives differ.
    """
    body = re.search(rf"^_{name}:.*?$(.*?)^\s*\.cfi_endproc", apple, re.M | re.S)[1]
    body = re.sub(r";.*", "", body)
    body = re.sub(r"^\s*\.(cfi|loh)\w*.*|^Lloh\d+:", "", body, flags=re.M)
    constants = re.findall(
        r"^(lCPI\w+):(.*?)(?=^\s*\.section|^\w+:|\Z)", apple, re.M | re.S
    )
    text = body + "\n".join(
        [".section .rodata"]
        + [f".p2align 4\n{label}:{re.sub(';.*', '', data)}" for label, data in constants]
        + [".text"]
    )
    text = re.sub(r"(\w+)@PAGEOFF", r":lo12:\1", text).replace("@PAGE", "")
    text = re.sub(r"\b([lL])(CPI|BB)(\d+_\d+)", r".\1apple\2\3", text)
    text = re.sub(r"(?<![\w.])_(\w+)", r"\1", text)
    head, rest = re.split(rf"^{name}:.*$", linux, maxsplit=1, flags=re.M)
    end = rest.index(".Lfunc_end")
    return f"{head}{name}:\n.cfi_startproc\n{text}\n{rest[end:]}"


class Function:
    """A function of a program: its instructions, and a run of it."""

    def __init__(self, program, name, arguments, work):
        symbols = run([tool("llvm-nm"), "-S", program])
        found = re.search(rf"^(\w+) (\w+) \w {name}$", symbols, re.M)
        if not found:
            sys.exit(f"{program} has no function {name}")
        self.begin, size = int(found[1], 16), int(found[2], 16)
        self.text = {}
        for line in run(
            [tool("llvm-objdump"), "-d", "--no-show-raw-insn", program]
            + [f"--start-address={self.begin}", f"--stop-address={self.begin + size}"]
        ).splitlines():
            match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
            if match:
                # Where a branch goes, llvm-mca does not ask.
                text = re.sub(r"0x[0-9a-f]+ <.*>", ".", match[2])
                self.text[int(match[1], 16)] = text.split("//")[0].strip()
        log = os.path.join(work, "trace")
        run(
            ["qemu-aarch64", "-cpu", "neoverse-n1", "-singlestep", "-D", log]
            + ["-d", "exec,nochain", "-dfilter", f"{self.begin:#x}+{size:#x}"]
            + [program, *arguments]
        )
        # Trace 0: HOST [FLAGS/ADDRESS/...
        with open(log) as file:
            self.trace = [int(line.split("/", 2)[1], 16) for line in file]
        os.remove(log)

    def find_loops(self):
        """The loops over codes with what is around each, as visits: ranges of
        the trace."""
        loops = self.all_loops()
        counts = collections.Counter(self.trace)
        inner = [body for body in loops if not any(other < body for other in loops)]
        inner.sort(key=lambda body: sum(counts[address] for address in body))
        self.hot = sorted(inner[-2:], key=min)
        nests = [
            self.nest(body, other, loops)
            for body, other in zip(self.hot, reversed(self.hot))
        ]
        self.visits = []
        last = None
        for place, address in enumerate(self.trace):
            now = None
            for number, nest in enumerate(nests):
                if address in nest:
                    now = number
            if now != last and now is not None:
                self.visits.append([now, place, place])
            if now is not None:
                self.visits[-1][2] = place + 1
            last = now

    def all_loops(self):
        """The natural loops of the steps that the trace takes, each as its
        addresses: an edge to a head that dominates it, and what reaches that
        edge from the head. How a loop lies in memory says nothing."""
        before = collections.defaultdict(set)
        for here, there in zip(self.trace, self.trace[1:]):
            if there != self.begin:
                before[there].add(here)
        places = list(dict.fromkeys(self.trace))
        dominators = {place: set(places) for place in places}
        dominators[self.begin] = {self.begin}
        changes = True
        while changes:
            changes = False
            for place in places:
                if place == self.begin:
                    continue
                now = set.intersection(*(dominators[b] for b in before[place]))
                now.add(place)
                changes = changes or now != dominators[place]
                dominators[place] = now
        loops = collections.defaultdict(set)  # by head
        for head in places:
            for end in before[head]:
                if head not in dominators[end]:
                    continue
                body, todo = {head}, [end]
                while todo:
                    place = todo.pop()
                    if place not in body:
                        body.add(place)
                        todo.extend(before[place])
                loops[head] |= body
        return list(loops.values())

    def nest(self, hot, other, loops):
        """The innermost loop around a hot one that is entered once a page: one
        over stretches of channels is entered for each block."""
        begin = next(i for i, address in enumerate(self.trace) if address in hot)
        page = itertools.takewhile(
            lambda address: address not in other, self.trace[begin:]
        )
        page = list(page)
        for loop in sorted((body for body in loops if hot < body), key=len):
            inside = [address in loop for address in page]
            if not any(b and not a for a, b in zip(inside, inside[1:])):
                return loop
        sys.exit("a loop over codes is in no loop over blocks")

    def page(self):
        """Ranges of the trace: keys' loop, values' loop, the whole page."""
        keys = [i for i, visit in enumerate(self.visits) if visit[0] == 0]
        first, following = keys[0], keys[1]
        return (
            self.visits[first][1:],
            self.visits[first + 1][1:],
            [self.visits[first][1], self.visits[following][1]],
        )

    def instructions(self, ranges):
        return [self.text[a] for begin, end in ranges for a in self.trace[begin:end]]


def cycles(instructions, cpu):
    text = run(
        [tool("llvm-mca"), "-mtriple=aarch64", f"-mcpu={cpu}", "-iterations=1"]
        + ["-instruction-info=false", "-resource-pressure=false", "-"],
        input="\n".join(instructions) + "\n",
    )
    return int(re.search(r"Total Cycles:\s+(\d+)", text)[1])


def measure(function, kind, shows):
    function.find_loops()
    keys, values, whole = function.page()
    if shows:
        for begin, end in function.hot:
            print(f"  {end - begin >> 2} instructions:")
            for address in range(begin, end + 4, 4):
                print("   ", function.text[address])
    loops = function.instructions([keys, values])
    numbers = [len(loops), whole[1] - whole[0]]
    numbers += [cycles(loops, cpu) for cpu in CPUS]
    size = bytes_of_page(kind)
    return [number / size for number in numbers]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kvc", default="kvc")
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--by-hand", required=True, help="neon-yardstick")
    parser.add_argument("--target", default="aarch64-linux")
    parser.add_argument("--work", required=True, help="a folder for what is made")
    parser.add_argument("--show", action="store_true", help="print the loops")
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    tools = Tools(arguments)
    hand = arguments.by_hand
    run(["qemu-aarch64", "-cpu", "neoverse-n1", hand, "check"])
    rows = {}
    for kind in arguments.kinds:
        sides = [
            tools.generated(kind),
            Function(hand, f"by_hand_{kind}", [kind, "3"], arguments.work),
        ]
        rows[kind] = [measure(side, kind, arguments.show) for side in sides]
    heads = ["instructions", "of a whole page"]
    heads += [f"cycles, {cpu}" for cpu in CPUS]
    print(f"{arguments.target}: inner loops, a byte of cache")
    print(" " * 6 + "".join(head.rjust(25) for head in heads))
    print(" " * 6 + "kvc  by hand  ratio".rjust(25) * len(heads))
    for kind, (ours, theirs) in rows.items():
        cells = (f"{a:10.3f}{b:9.3f}{a / b:6.2f}" for a, b in zip(ours, theirs))
        print(kind.ljust(6) + "".join(cells))


main()
