#!/usr/bin/env python3
"""fidelity.py FOLDER [NAME...]: specs whose fidelity docs/fidelity.md compares.

Writes the sweep's specs (or those of the names given) for the model of
test/data/smollm2-135m-2x2048.safetensors to FOLDER and prints their paths, best
precision first:

    kvc eval $(python3 test/harness/fidelity.py sweep) --trace TRACE

A name says what is kept how: int4_channel_g32_r128_s4 has keys in 4 bits per
channel and values in 4 bits per token, in groups of 32, the newest 128 tokens
unquantised, and 4 sinks; where no r says how many, it is the default, one token.
Others are written where they are named: int4_channel_g32_r0 and int4_kivi_r0 have
no token unquantised, keys4_token_g32 and values4_g32 have the other plane in f16,
of w256_s4_cache the newest 256 tokens stay besides 4 sinks, in f16, and positions
are in the cache; w256_s4_cache_int4 has them in 4 bits.
"""
import itertools
import os
import sys

SPEC = """\
kvc: 1
name: {name}
model: {{layers: 2, heads: 9, kv_heads: 3, head_dim: 64, rope: {{theta: 100000}}}}
cache:
  keys: {keys}
  values: {values}
"""


def coded(bits, per, group, residual=None, flush=None):
    text = f"{{bits: {bits}, per: {per}, group: {group}"
    text += f", residual: {residual}" if residual is not None else ""
    text += f", flush: {flush}" if flush else ""
    return text + "}"


def spec(name, keys, values, sink=0, window=None, positions=None):
    text = SPEC.format(name=name, keys=keys, values=values)
    text += f"  window: {window}\n" if window else "  context: 2048\n"
    if "bits" in keys + values:
        text += "  residual_type: f16\n"
    if sink:
        text += f"  sink: {sink}\n"
    if positions:
        text += f"  positions: {positions}\n"
    return text


def waiting(residual):
    """The part of a name that says how many tokens wait."""
    return "" if residual is None else f"_r{residual}"


def kivi(bits, residual=None):
    """KIVI's schedule: keys are coded 128 at a time, 128 values wait."""
    keys = coded(bits, "channel", 32, residual, flush=128)
    return spec(
        f"int{bits}_kivi" + waiting(residual), keys, coded(bits, "token", 32, 128)
    )


def sweep():
    """name -> text."""
    specs = {"f16": spec("f16", "f16", "f16"), "bf16": spec("bf16", "bf16", "bf16")}
    for bits, per, group, residual, sink in itertools.product(
        (8, 4, 2), ("channel", "token"), (32, 64, 128), (None, 128), (0, 4)
    ):
        name = f"int{bits}_{per}_g{group}" + waiting(residual)
        name += f"_s{sink}" if sink else ""
        keys = coded(bits, per, group, residual)
        values = coded(bits, "token", group, residual)
        specs[name] = spec(name, keys, values, sink)
    for bits in 4, 2:
        specs[f"int{bits}_kivi"] = kivi(bits)
    # One scale a channel over all tokens.
    for bits in 8, 4:
        name = f"int{bits}_all"
        keys = f"{{bits: {bits}, per: channel, group: all}}"
        specs[name] = spec(name, keys, coded(bits, "token", 32))
    # Keys and values in different bits.
    for sink in 0, 4:
        name = "int4_int2_g32_r128" + (f"_s{sink}" if sink else "")
        keys, values = coded(4, "channel", 32, 128), coded(2, "token", 32, 128)
        specs[name] = spec(name, keys, values, sink)
    return specs


def parts():
    """The same of one plane alone, the other in f16: whose error it is."""
    specs = {}
    for bits, per, residual, sink in itertools.product(
        (8, 4, 2), ("channel", "token"), (None, 0, 128), (0, 4)
    ):
        name = "g32" + waiting(residual)
        name += f"_s{sink}" if sink else ""
        plane = coded(bits, per, 32, residual)
        specs[f"keys{bits}_{per}_{name}"] = plane, "f16", sink
        if per == "token":
            specs[f"values{bits}_{name}"] = "f16", plane, sink
    return {name: spec(name, *planes) for name, planes in specs.items()}


def without_residual():
    """No token waits: a step that codes attends to codes alone."""
    specs = {f"int{bits}_kivi_r0": kivi(bits, 0) for bits in (4, 2)}
    for bits, per in itertools.product((8, 4, 2), ("channel", "token")):
        name = f"int{bits}_{per}_g32_r0"
        planes = coded(bits, per, 32, 0), coded(bits, "token", 32, 0)
        specs[name] = spec(name, *planes)
    return specs


def windows():
    """The newest tokens alone, with sinks or without."""
    specs = {}
    planes = {
        "": ("f16", "f16"),
        "_int4": (coded(4, "channel", 32, 128), coded(4, "token", 32, 128)),
    }
    kinds = {"": (0, None), "_s4": (4, None), "_s4_cache": (4, "cache")}
    for (code, kept), window, (kind, (sink, positions)) in itertools.product(
        planes.items(), (256, 512, 1024), kinds.items()
    ):
        name = f"w{window}{kind}{code}"
        specs[name] = spec(name, *kept, sink, window, positions)
    return specs


def main():
    folder, *names = sys.argv[1:]
    known = sweep()
    names = names or list(known)
    known.update(parts())
    known.update(without_residual())
    known.update(windows())
    os.makedirs(folder, exist_ok=True)
    for name in names:
        path = os.path.join(folder, name + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(known[name])
        print(path)


if __name__ == "__main__":
    main()
