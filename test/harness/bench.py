"""bench.py JSON --rounds N [--interleave] NAME:TOKENS:BYTES:ATTENDS...

What kvc bench --json writes has all fields, its numbers are positive and fit
together, and bytes and tokens attended to are those that are given. With one
round medians are that round's numbers, so they follow from each other."""
import json
import math
import sys

FIELDS = {
    "": "rounds walk cache libraries rows bandwidth",
    "libraries": "subject name target layers kernels",
    "rows": "library threads tokens caches walked seconds low high bytes"
    " attends bytes_per_second share ratio",
    "bandwidth": "tokens threads one_stream four_streams",
}
MOST_CACHES = 1024


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9)


interleave = "--interleave" in sys.argv
path, _, rounds, *expected = (arg for arg in sys.argv[1:] if arg != "--interleave")
rounds = int(rounds)
expected = dict(
    ((name, int(tokens)), (int(size), int(attends)))
    for name, tokens, size, attends in (one.split(":") for one in expected)
)
report = json.load(open(path, encoding="utf-8"))
assert set(report) == set(FIELDS[""].split()), report.keys()
for table in ("libraries", "rows", "bandwidth"):
    assert report[table], table
    for row in report[table]:
        assert set(row) == set(FIELDS[table].split()), row
        for name, value in row.items():
            if isinstance(value, str) or name == "library":
                continue
            assert math.isfinite(value) and value > 0, (name, row)
assert report["rounds"] == rounds and report["cache"] > 0

read = {
    (row["tokens"], row["threads"]): max(row["one_stream"], row["four_streams"])
    for row in report["bandwidth"]
}
met, first = set(), {}
for row in report["rows"]:
    name = report["libraries"][row["library"]]["name"]
    met.add((name, row["tokens"]))
    size, attends = expected[name, row["tokens"]]
    assert row["bytes"] == size and row["attends"] == attends, row
    assert row["low"] <= row["seconds"] <= row["high"], row
    # As many sequences as hold what is to be walked, and no more.
    each = row["walked"] // row["caches"]
    assert each * row["caches"] == row["walked"] and each <= size, row
    assert row["walked"] >= report["walk"] or row["caches"] == MOST_CACHES, row
    assert row["caches"] == 1 or row["walked"] - each < report["walk"], row
    # What its ratio is to.
    base = (row["library"], row["threads"]) if interleave else row["tokens"]
    begin = first.setdefault(base, row)
    if begin is row:
        assert row["ratio"] == 1, row
    if rounds > 1:
        continue
    assert near(row["bytes_per_second"], size / row["seconds"]), row
    assert near(row["ratio"], row["seconds"] / begin["seconds"]), row
    best = read[row["tokens"], row["threads"]]
    assert near(row["share"], row["bytes_per_second"] / best), row
assert met == set(expected), met
assert [row["tokens"] for row in report["rows"]] == sorted(
    row["tokens"] for row in report["rows"]
)
