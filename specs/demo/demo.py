#!/usr/bin/env python3
"""demo.py KVC [--reps N] [--plot FILE.svg]: what a compressed cache gains.

Replays 2,048 recorded tokens of two layers of SmolLM2-135M through the library of
each spec beside this file, times decode steps at that length, and prints a table:
bytes, fidelity and time against f16. An error is the outputs' distance to attention
over an unquantised cache that keeps all, as a share of their length: 100 % is what
zeros would have. FILE.svg gets bytes over length.

Numbers come from `kvc eval`, `kvc bench` and `kvc report`, as JSON.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRACE = os.path.join(ROOT, "test", "data", "smollm2-135m-2x2048.safetensors")
WHAT = {
    "f16": "every token in f16",
    "int8": "every token in 8 bits",
    "int4": "every token in 4 bits, 4 sinks",
    "int2": "every token in 2 bits, 4 sinks",
    "stream": "4 sinks and the newest 508, 4 bits",
}
TOKENS, LATER = 2048, 1_000_000
# An error that is no more than this is called close.
CLOSE = 0.05


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def size(number):
    """As a person reads it: three digits."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1000:
            break
        number /= 1024
    return f"{number:.3g} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kvc")
    parser.add_argument("--reps", default="31", help="rounds of kvc bench")
    parser.add_argument("--plot", help="an SVG of bytes over length")
    arguments = parser.parse_args()
    kvc = arguments.kvc
    paths = [os.path.join(HERE, name + ".yaml") for name in WHAT]

    print(f"== {TOKENS} recorded tokens through five caches: fidelity", flush=True)
    fidelity = json.loads(run([kvc, "eval", *paths, "--trace", TRACE, "--json"]))
    print("== decode steps at that length: time", flush=True)
    bench = [kvc, "bench", *paths, "--tokens", str(TOKENS), "--reps", arguments.reps]
    times = json.loads(run([*bench, "--json"]))["rows"]
    print("== a stream of a million tokens: bytes", flush=True)
    plan = [kvc, "report", paths[-1], "--tokens", f"{TOKENS},{LATER}", "--json"]
    held = [report["total"] for report in json.loads(run(plan))]
    if arguments.plot:
        plot = ["--plot", arguments.plot, "--json"]
        run([kvc, "report", *paths, *plot])

    print()
    width = max(map(len, WHAT.values()))
    print(f"{'cache':8}{'what it keeps':{width}}  {'bytes':>8}  of f16    error"
          "  us a token  of f16")
    rows = {}
    for (name, what), told, time in zip(WHAT.items(), fidelity, times):
        # Against a full cache in f32; an output of zeros has an error of 100 %.
        share, error = told["bytes"] / told["f16"], told["error"]
        rows[name] = share, error, time["ratio"]
        print(f"{name:8}{what:{width}}  {size(told['bytes']):>8}  {share:6.1%}"
              f"  {error:7.2%}  {1e6 * time['seconds']:10.1f}  {time['ratio']:5.2f}x")
    print()
    print(f"The stream holds {size(held[0])} at {TOKENS:,} tokens and {size(held[1])}"
          f" at {LATER:,}.")
    close = [name for name in rows if name != "f16" and rows[name][1] <= CLOSE]
    if close:
        best = min(close, key=lambda name: rows[name][0])
        share, error, time = rows[best]
        print(f"Verdict: {best} takes {share:.0%} of f16's bytes and {time:.2f} of its"
              f" time a token, and its outputs are within {error:.1%}.")
    else:
        print(f"Verdict: no compressed cache is within {CLOSE:.0%} here.")
    if arguments.plot:
        print(f"Bytes over length: {arguments.plot}")
    print(f"""
Next, with a spec of your own:
  cp {os.path.relpath(paths[2])} mine.yaml
  {kvc} check mine.yaml
  {kvc} eval mine.yaml --trace {os.path.relpath(TRACE)}
  {kvc} compile mine.yaml -o mine.so""")


if __name__ == "__main__":
    main()
