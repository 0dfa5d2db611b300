"""windows.py JSON: of windows that kvc eval printed as JSON, what docs/fidelity.md
says of them."""
import json
import re
import sys

reports = json.load(open(sys.argv[1], encoding="utf-8"))
error = {
    re.sub(r".*/|\.yaml", "", report["spec"]): report["error"] for report in reports
}
# Four sinks are worth more than four times the window.
assert error["w256_s4"] < 0.3 * error["w256"], error
assert error["w256_s4"] < error["w1024"], error
# A longer window helps more where there are sinks.
assert error["w1024_s4"] < 0.3 * error["w256_s4"], error
assert error["w1024"] > 0.6 * error["w256"], error
# Positions in the cache and codes cost little beside what is gone.
assert error["w256_s4"] < error["w256_s4_cache"] < 1.1 * error["w256_s4"], error
assert abs(error["w256_s4_cache_int4"] / error["w256_s4_cache"] - 1) < 0.1, error
print("windows are as they are said to be")
