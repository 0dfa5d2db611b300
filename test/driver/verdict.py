"""verdict.py RIGHT WRONG: what kvc verify --json printed of a library that is what
it is held against, and of one that is not."""
import json
import sys

KEYS = ["input", "tokens", "rows", "stored", "out", "lse", "error", "misses"]
right, wrong = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
for result in (right, wrong):
    assert list(result) == ["name", "target", "layers", "kernels", "right", "inputs"]
    assert len(result["inputs"]) == 15, result
    for row in result["inputs"]:
        assert list(row) == KEYS, row
        assert row["tokens"] > 0 and row["rows"] >= 0, row
assert right["right"] and not any(row["misses"] for row in right["inputs"])
assert all(0 <= row["out"] <= 1 and row["rows"] > 0 for row in right["inputs"])
assert wrong["right"] is False
assert any("bound" in miss for row in wrong["inputs"] for miss in row["misses"])
