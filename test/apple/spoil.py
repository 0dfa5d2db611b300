"""spoil.py WHAT FOLDER DYLIB CHECK...: a good dylib, spoilt; the command CHECK
gets many of them, as check-dylib does, and has to refuse each. FOLDER is filled.

  each       in one way each, with the text that says so
  flips      one byte of its header, load commands or __LINKEDIT is another, and
             it is signed anew: nothing but an end by a signal is wrong
  truncated  cut at every 64 bytes of its first pages
"""

import os
import random
import subprocess
import sys

from dylib import HEADER, Dylib
from spoils import SPOILS

what, folder, path, *check = sys.argv[1:]
with open(path, "rb") as file:
    good = Dylib(file.read())


def told(variants):
    """What CHECK says of each."""
    files = []
    for number, data in enumerate(variants):
        files.append(os.path.join(folder, f"{number}.dylib"))
        with open(files[-1], "wb") as file:
            file.write(data)
    run = subprocess.run(check + files, stdout=subprocess.PIPE, timeout=300)
    lines = run.stdout.decode().splitlines()
    for file, line in zip(files, lines):
        assert line.startswith(file + ": "), line
    if run.returncode not in (0, 1) or len(lines) != len(files):
        print(f"CHECK ends with {run.returncode} after {len(lines)} files")
        print("which is left as", files[min(len(lines), len(files) - 1)])
        sys.exit(1)
    for file in files:
        os.remove(file)
    return [line.split(": ", 1)[1] for line in lines]


def each():
    """The first, signed anew without being spoilt, is the same and is good."""
    again = good.copy()
    again.sign()
    assert again.data == good.data, "signing it gives another file"
    variants, wanted = [again.data], ["good"]
    for spoil, text, *how in SPOILS:
        dylib = good.copy()
        spoil(dylib)
        if not how:
            dylib.sign()
        assert dylib.data != good.data, f"nothing spoilt for: {text}"
        variants.append(dylib.data)
        wanted.append(text)
    wrong = 0
    for number, (said, text) in enumerate(zip(told(variants), wanted)):
        if text not in said or (said == "good") != (text == "good"):
            print(f"spoil {number}: said    {said}\n  should say {text}")
            wrong += 1
    print(f"{len(wanted) - 1} spoilt, {wrong} wrong")
    return wrong


def flips(count=2000, batch=250, seed=11):
    pick = random.Random(seed)
    begin = good.at(good.segments["__LINKEDIT"] + 40, "Q")
    commands = HEADER + good.at(20)
    refused = 0
    for _ in range(count // batch):
        variants = []
        for _ in range(batch):
            dylib = good.copy()
            where = (
                pick.randrange(commands)
                if pick.random() < 0.5
                else pick.randrange(begin, len(dylib.data))
            )
            dylib.data[where] ^= pick.choice((1, 2, 16, 128, 255))
            dylib.sign()
            variants.append(dylib.data)
        refused += sum(said != "good" for said in told(variants))
    print(f"{count} with another byte, {refused} refused, no crash")
    # Many bytes mean something to the loader; names and versions may be others.
    return refused < count // 4


def truncated(first=2 * 0x4000, step=64):
    cuts = list(range(0, first, step)) + [len(good.data) - 1]
    said = told(good.data[:cut] for cut in cuts)
    taken = [cut for cut, text in zip(cuts, said) if text == "good"]
    print(f"{len(cuts)} cut short, {len(taken)} taken: {taken}")
    return len(taken)


os.makedirs(folder, exist_ok=True)
sys.exit(bool({"each": each, "flips": flips, "truncated": truncated}[what]()))
