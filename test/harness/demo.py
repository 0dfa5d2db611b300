"""demo.py PRINTED README: the first page has the table that the demo printed, in
all columns but those of time."""
import re
import sys

NAMES = ("f16", "int8", "int4", "int2", "stream")


def rows(path):
    """name -> the columns up to the error, of lines that begin with a name."""
    found = {}
    for line in open(path, encoding="utf-8"):
        columns = re.split(r" {2,}", line.strip())
        if columns[0] in NAMES and len(columns) == 7:
            found[columns[0]] = columns[:5]
    return found


printed, shown = map(rows, sys.argv[1:])
assert list(printed) == list(NAMES), printed
assert shown == printed, (shown, printed)
print(f"{len(printed)} rows of the first page are these")
