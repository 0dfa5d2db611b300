"""order.py JSON: the order of specs that kvc eval printed as JSON, against what
the same codes cost the model."""
import json
import re
import sys

# What the simulated codes cost in perplexity over the trace's 2,048 tokens, in
# percent (docs/fidelity.md).
PERPLEXITY = {
    "int8_channel_g32_r0": 0.02,
    "int4_channel_g32_r128": 0.1,
    "int4_channel_g32_r0": 0.4,
    "int4_int2_g32_r128": 2.7,
    "int2_channel_g32_r128_s4": 9,
    "int4_token_g32_r0": 14,
    "int2_channel_g32_r128": 20,
    "int2_channel_g32_r0": 49,
}
# 2-bit values cost the outputs much and the model little.
NOISY_VALUES = {"int4_int2_g32_r128"}
# Keys alone, values in f16: what the same in both planes costs the model.
KEYS = {
    "keys4_channel_g32_r128": "int4_channel_g32_r128",
    "keys2_channel_g32_r128_s4": "int2_channel_g32_r128_s4",
    "keys4_token_g32_r0": "int4_token_g32_r0",
    "keys2_channel_g32_r128": "int2_channel_g32_r128",
}
PERPLEXITY.update({name: PERPLEXITY[both] for name, both in KEYS.items()})

reports = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {re.sub(r".*/|\.yaml", "", report["spec"]): report for report in reports}
assert set(rows) == set(PERPLEXITY), rows.keys()


def in_order(names, error):
    names = sorted(names, key=PERPLEXITY.get)
    errors = [error(rows[name]) for name in names]
    print(", ".join(f"{name} {value:.2e}" for name, value in zip(names, errors)))
    return errors == sorted(errors)


# The deeper layer has the model's order.
alike = set(rows) - NOISY_VALUES - set(KEYS)
assert in_order(alike, lambda report: report["layers"][1]["error"])
# So have both together, but for keys per token, which are no worse than others
# in layer 0, where no channel stands out yet.
assert in_order(alike - {"int4_token_g32_r0"}, lambda report: report["error"])
# The errors of keys have it in both.
assert in_order(KEYS, lambda report: report["error"])
by_channel, by_token = rows["int4_channel_g32_r0"], rows["int4_token_g32_r0"]
assert by_token["error"] > 1.5 * by_channel["error"]
# 2-bit values beside 4-bit keys lie between both in one precision.
mixed = rows["int4_int2_g32_r128"]["error"]
assert rows["int4_channel_g32_r128"]["error"] < mixed
assert mixed < rows["int2_channel_g32_r128"]["error"]
