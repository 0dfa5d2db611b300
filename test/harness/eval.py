"""eval.py JSON GOT FULL: the errors that kvc eval printed, computed once more from
what kvc run wrote of the spec's library and of a full cache's."""
import json
import math
import sys

from compare import read

(report,) = json.load(open(sys.argv[1], encoding="utf-8"))
got, full = read(sys.argv[2]), read(sys.argv[3])
keys = ["spec", "tokens", "layers", "error", "bytes", "f16", "bits"]
assert list(report) == keys, report
squares = 0
for number, layer in enumerate(report["layers"]):
    assert list(layer) == ["error", "worst", "worst_position", "bytes"], layer
    shape, a = got[f"layers.{number}.out"]
    b = full[f"layers.{number}.out"][1]
    width = shape[1] * shape[2]
    difference = size = worst = 0
    for row in range(shape[0]):
        cut = slice(row * width, (row + 1) * width)
        d = sum((x - y) ** 2 for x, y in zip(a[cut], b[cut]))
        s = sum(y * y for y in b[cut])
        difference, size = difference + d, size + s
        if d / s > worst:
            worst, position = d / s, row
    # The full cache here is one in f32.
    error = math.sqrt(difference / size)
    assert abs(layer["error"] - error) <= 1e-3 * error + 1e-6, (layer, error)
    assert abs(layer["worst"] - math.sqrt(worst)) <= 1e-3 * layer["worst"], layer
    assert layer["worst_position"] == position, (layer, position)
    squares += error * error
    print(f"layer {number}: {error:.3e}, worst {math.sqrt(worst):.3e} at {position}")
error = math.sqrt(squares / len(report["layers"]))
assert abs(report["error"] - error) <= 1e-3 * error, (report, error)
assert report["bytes"] == sum(layer["bytes"] for layer in report["layers"])
