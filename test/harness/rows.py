"""rows.py JSON DOC: docs/fidelity.md has a row for each spec that kvc eval printed
as JSON, and these numbers in it."""
import json
import re
import sys

reports = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {re.sub(r".*/|\.yaml", "", report["spec"]): report for report in reports}
lines = open(sys.argv[2], encoding="utf-8").read().split("\n")
lines = [line.split() for line in lines if re.match(r"\w+ +\d+ ", line)]
for name, report in rows.items():
    for line in [line for line in lines if line[0] == name]:
        assert int(line[1]) == report["bytes"], (line, report)
        assert float(line[3]) == round(report["bits"], 2), (line, report)
        layers = [layer["error"] for layer in report["layers"]]
        for said, value in zip([line[4]] + line[7:], [report["error"]] + layers):
            assert abs(float(said) - value) <= 0.02 * value, (line, report)
    assert any(line[0] == name for line in lines), name
print(f"{len(rows)} rows of the document are these")
