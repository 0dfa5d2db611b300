"""Specs that differ in one axis have tile programs that differ in that axis.

For each pair of specs the tile functions of one layer's step are compared line
by line, without the names of values. Where they differ may be limited to some
functions, some operations and some attributes; everything else must be equal.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

MODEL = {"layers": 1, "heads": 4, "kv_heads": 2, "head_dim": 16, "scale": 0.25}
CACHE = {"keys": "f32", "values": "f32", "window": 60}

INDEX = {
    "arith.constant", "arith.subi", "arith.addi", "arith.muli", "arith.divui",
    "arith.remui", "arith.minsi", "arith.maxsi", "arith.cmpi", "arith.select",
    "return",
}
# What a stream and a segment more bring with them; how keys and queries come to
# be is no part.
SEGMENT = INDEX | {
    "func.func",
    "scf.while", "scf.condition", "scf.yield", "do", "^bb0", "}",
    "kv.page", "kv.contract", "kv.mask", "kv.softmax_update", "kv.accumulate",
    "kv.yield", "arith.andi",
}
# Codes are multiplied as integers where these fit.
CODES = SEGMENT | {
    "kv.arrange", "kv.fold", "kv.fits", "kv.quantize", "kv.decode", "scf.for",
    "scf.if",
}
# Operations on as many rows as ask together.
ROWS = {"kv.rows", "kv.scale", "kv.init_state", "kv.finish"}
# What is said of one function goes for those that are made like it.
ALIKE = {"attend": {"attend_rows"}, "ranges": {"held"}}


def pair(axis, name, a, b, *, model=None, cache=None, layers=("", ""), layer=0,
         functions=None, ops=(), attributes=(), absent=(), same=False):
    if functions:
        functions = functions.union(*(ALIKE.get(f, ()) for f in functions))
    return dict(axis=axis, name=name, a=a, b=b, model=model or {},
                cache=cache or {}, layers=layers, layer=layer,
                functions=functions, ops=set(ops), attributes=set(attributes),
                absent=set(absent), same=same)


RESIDUAL = {"residual_type": "f32"}
INT8 = "{bits: 8, per: token, group: 8}"
INT4 = "{bits: 4, per: token, group: 8}"
ROPE = {"rope": "{theta: 10000.0}"}
# The model's keys about logits.
SCORE = {"scale", "softcap", "alibi", "learned_sinks"}

PAIRS = [
    # Precision: the bits of a code are in its encoding, and in the byte plan.
    pair("precision", "bits of values", {"values": INT8}, {"values": INT4},
         cache=RESIDUAL, functions={"plan"}, ops={"arith.constant"},
         attributes={"affine_token"}),
    pair("precision", "bits of keys",
         {"keys": "{bits: 8, per: channel, group: 16}"},
         {"keys": "{bits: 4, per: channel, group: 16}"},
         cache=RESIDUAL, functions={"plan"}, ops={"arith.constant"},
         attributes={"affine_channel"}),
    # The type of floats: their encoding, and the byte plan.
    pair("precision", "types of floats", {"keys": "f16", "values": "f32"},
         {"keys": "f32", "values": "bf16"}, functions={"plan"},
         ops={"arith.constant"}, attributes={"float"}),
    # Another group: run borders and numbers of scales.
    pair("precision", "group of keys",
         {"keys": "{bits: 4, per: channel, group: 8, flush: 16}"},
         {"keys": "{bits: 4, per: channel, group: 16, flush: 16}"},
         cache=RESIDUAL, ops=INDEX, attributes={"affine_channel"},
         functions={"plan", "code", "read_keys", "attend"}),
    # Codes at all: how keys, queries and outputs come to be stays, but weights
    # that scales are folded into leave less room for rows.
    pair("precision", "floats and codes", {},
         {"values": INT8, "residual_type": "f32"}, ops=CODES | ROWS,
         functions={"ranges", "plan", "code", "read_values", "attend"},
         attributes={"float", "affine_token", "layout"}),
    # Whether a scale covers a channel or a token: into operand or result, and
    # how many of them a token has.
    pair("precision", "scales per channel and per token",
         {"keys": "{bits: 4, per: channel, group: 16}"},
         {"keys": "{bits: 4, per: token, group: 16, flush: 16}"},
         cache=RESIDUAL, ops=INDEX | {"kv.fold", "kv.fits", "kv.contract", "kv.arrange",
                                      "func.func", "kv.save", "kv.restore"},
         attributes={"affine_channel", "affine_token"},
         functions={"plan", "code", "read_keys", "attend", "save1",
                    "restore1"}),

    # Time: numbers alone.
    pair("time", "windows", {"window": 60}, {"window": 61},
         ops={"arith.constant"}),
    pair("time", "a window and all", {"window": 60},
         # Where tokens leave, a prefill looks for the first row that has any.
         {"window": "all", "context": 60}, ops=INDEX | {
             "scf.while", "scf.condition", "scf.yield", "do", "^bb0", "}",
             "arith.andi"}, attributes={"layout"}),
    # Sinks have streams and a segment of their own.
    pair("time", "sinks", {}, {"sink": 4},
         ops=SEGMENT | {"scf.if", "kv.rows", "kv.encode", "kv.arrange",
                        "kv.decode", "scf.for"},
         functions={"ranges", "indices", "live", "plan", "append", "code",
                    "read_keys", "read_values", "attend"},
         attributes={"layout", "stream"}),

    # Position: no kernel feels frequencies.
    pair("position", "theta", {"rope": "{theta: 10000.0}"},
         {"rope": "{theta: 500000.0}"}, same=True),
    pair("position", "scaling", ROPE,
         {"rope": "{theta: 10000.0, scaling: {type: yarn, factor: 4, "
                  "original_context: 64}}"}, same=True),
    pair("position", "pairing", ROPE,
         {"rope": "{theta: 10000.0, pairing: interleaved}"},
         functions={"append", "attend"}, ops={"kv.rotate"}),
    # What ALiBi counts from: the index among the sinks, where nothing is
    # rotated.
    pair("position", "distances in the cache", {"positions": "absolute"},
         {"positions": "cache"}, model={"alibi": "true"}, cache={"sink": 4},
         functions={"attend"}, ops=INDEX),
    pair("position", "rotated dimensions",
         {"rope": "{theta: 10000.0, dims: 8}"},
         {"rope": "{theta: 10000.0, dims: 16}"},
         functions={"append", "attend"}, ops={"func.func", "kv.rotate"}),
    pair("position", "rotated and not", {}, ROPE,
         functions={"append", "attend", "indices"},
         ops={"func.func", "kv.rotate", "arith.constant", "arith.subi",
              "return"}),
    # A query for sinks too, which leaves less room for rows.
    pair("position", "absolute and in the cache", {"positions": "absolute"},
         {"positions": "cache"}, model=ROPE, cache={"sink": 4},
         functions={"append", "attend", "indices"}, attributes={"absolute",
                                                                "in_cache"},
         ops=SEGMENT | ROWS | {"kv.rotate", "kv.arrange"}),

    # Depth: a reader stores nothing; it attends as an owner does.
    pair("depth", "owner and reader", {}, {}, model={"layers": 2},
         layers=("", "{at: 1, share: 0}"), layer=1,
         absent={"append", "code", "read_keys", "read_values", "save0",
                 "restore0", "save1", "restore1"}),
    pair("depth", "readers of two owners", {}, {}, model={"layers": 3},
         layers=("{at: 2, share: 0}", "{at: 2, share: 1}"), layer=2,
         same=True),

    # Score: a factor.
    pair("score", "scale", {"scale": 0.25}, {"scale": 0.125},
         functions={"attend"}, ops={"kv.scale"}),
    # What happens to a run's dot products, and what the softmax starts with.
    pair("score", "softcap", {}, {"softcap": 50.0}, functions={"attend"},
         ops=INDEX | {"kv.logit", "^bb0", "kv.yield", "}"}),
    # Distances are counted from the nearest token, and come back at the end.
    pair("score", "softcap and ALiBi", {"softcap": 50.0}, {"alibi": "true"},
         functions={"attend"}, ops=INDEX | {"kv.logit", "kv.settle_state",
                                            "^bb0", "kv.yield", "}"}),
    pair("score", "learned sinks", {}, {"learned_sinks": "true"},
         functions={"attend"}, ops={"func.func", "kv.init_state", "arith.muli",
                                    "arith.constant"}),
]


def spec(pair, side):
    model, cache = dict(MODEL), dict(CACHE)
    model.update(pair["model"])
    cache.update(pair["cache"])
    for key, value in pair[side].items():
        (model if key in SCORE | {"rope"} else cache)[key] = value
    lines = ["kvc: 1", "name: axis", "model:"]
    lines += [f"  {key}: {value}" for key, value in model.items()]
    lines += ["cache:"]
    lines += [f"  {key}: {value}" for key, value in cache.items()]
    layers = pair["layers"]["ab".index(side)]
    if layers:
        lines += ["layers:", f"  - {layers}"]
    return "\n".join(lines) + "\n"


def tiles(kvc, folder, text):
    path = os.path.join(folder, "axis.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        [kvc, "compile", path, "--emit", "tiles", "-o", "-"],
        capture_output=True, text=True,
    )
    if done.returncode:
        sys.exit(f"{text}does not compile:\n{done.stderr}")
    return done.stdout


def expand(line, aliases):
    while True:
        wide = re.sub(r"#(\w+)\b(?!\.)",
                      lambda name: aliases.get(name[1], name[0]), line)
        if wide == line:
            return line
        line = wide


def blank(line, mnemonic):
    """An attribute's parameters taken out, where its brackets match."""
    begin = line.find(f"#kv.{mnemonic}")
    while begin >= 0:
        end = begin + len(f"#kv.{mnemonic}")
        depth = 0
        while end < len(line):
            depth += (line[end] == "<") - (line[end] == ">")
            if depth <= 0:
                end += line[end] == ">"
                break
            end += 1
        line = line[:begin] + "#" + line[end:]
        begin = line.find(f"#kv.{mnemonic}", begin + 1)
    return line


def functions(text, layer, attributes):
    """The tile functions of the layer's step, by what follows its name: lines
    without values' names, without what `attributes` say."""
    aliases = dict(re.findall(r"^#(\w+) = (.*)$", text, re.MULTILINE))
    step = re.search(rf"kv\.layer @layer{layer} .* step @(\w+)", text)[1]
    found = {}
    for name, body in re.findall(
        rf"^  func\.func private @{step}_(\w+)(\(.*?)^  }}$", text,
        re.MULTILINE | re.DOTALL,
    ):
        lines = []
        for line in ("func.func " + body).strip().split("\n"):
            line = expand(line.strip(), aliases)
            for mnemonic in attributes:
                line = blank(line, mnemonic)
            line = re.sub(r"%[\w#]+(:\d+)?", "%", line)
            line = re.sub(r"^(%(, %)* = )", "", line)
            lines.append(line)
        # The order of constants is the order of their first use.
        head = [line for line in lines if line.startswith("arith.constant")]
        rest = [line for line in lines if not line.startswith("arith.constant")]
        found[name] = sorted(head) + rest
    return found


def op_of(line):
    return re.match(r"[\w.^]+|}|\S+", line)[0]


def compare(kvc, folder, pair):
    """What differs and may not; and how many lines differ."""
    sides = [
        functions(tiles(kvc, folder, spec(pair, side)), pair["layer"],
                  pair["attributes"])
        for side in "ab"
    ]
    faults, count = [], 0
    if not sides[0] or set(sides[0]) - set(sides[1]) != pair["absent"]:
        faults.append(f"functions {sorted(sides[0])} and {sorted(sides[1])}")
    count += len(pair["absent"])
    for name in sorted(set(sides[0]) & set(sides[1])):
        a, b = sides[0][name], sides[1][name]
        changed = [
            line for line in difflib.ndiff(a, b) if line[0] in "+-"
        ]
        count += len(changed)
        for line in changed:
            allowed = pair["functions"] is None or name in pair["functions"]
            if not allowed or op_of(line[2:]) not in pair["ops"]:
                faults.append(f"@{name}: {line}")
    # Without what may differ, these must: nothing is proved otherwise.
    whole = [
        functions(tiles(kvc, folder, spec(pair, side)), pair["layer"], ())
        for side in "ab"
    ]
    if pair["same"] != (whole[0] == whole[1]):
        faults.append("they are " + ("not " if pair["same"] else "") + "equal")
    return faults, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kvc", default="kvc")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in PAIRS:
            faults, count = compare(options.kvc, folder, one)
            title = f"{one['axis']}: {one['name']}"
            print(f"{title}: {count} lines differ")
            for fault in faults:
                print(f"  {fault}")
            wrong += bool(faults)
    axes = {one["axis"] for one in PAIRS}
    print(f"{len(PAIRS) - wrong} of {len(PAIRS)} pairs of {len(axes)} axes "
          "differ in their axis alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
