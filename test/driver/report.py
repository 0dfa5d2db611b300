"""report.py FILE: what the reports in a file of kvc report --json say of
themselves: keys and their order, sums, full caches; then a line each."""
import json
import sys

LINES = ["codes", "scales", "residual", "sinks", "originals", "rollback", "padding"]

text = open(sys.argv[1], encoding="utf-8").read()
for report in json.loads(text):
    assert list(report) == ["spec", "tokens", "layers", "total", "f16", "f32"], report
    for layer in report["layers"]:
        assert list(layer) == LINES + ["total"], layer
        assert layer["total"] == sum(layer[line] for line in LINES), layer
    assert report["total"] == sum(layer["total"] for layer in report["layers"])
    assert report["f32"] == 2 * report["f16"]
    sums = {line: sum(layer[line] for layer in report["layers"]) for line in LINES}
    bits = (sums["codes"] + sums["scales"]) * 16 / report["f16"] if report["f16"] else 0
    name = report["spec"].split("/")[-1]
    print(f"{name} {report['tokens']}: f16 {report['f16']},",
          ", ".join(f"{line} {sums[line]}" for line in LINES if sums[line]),
          f"coded bits {bits:g}")
