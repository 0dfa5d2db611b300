"""compare.py GOT EXPECT: the last rows of GOT's outputs against EXPECT's.

Each row (one head of one token) may differ by 2e-5 of its largest magnitude,
which is less than docs/semantics.md allows (Tolerances)."""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
            tensors[name] = (entry["shape"], values)
    return tensors


def main():
    got, expect = read(sys.argv[1]), read(sys.argv[2])
    worst, rows = 0.0, 0
    for name, (shape, want) in expect.items():
        have = got[name][1][-len(want):]
        dim = shape[-1]
        assert got[name][0][1:] == shape[1:], (name, got[name][0], shape)
        for row in range(0, len(want), dim):
            largest = max(abs(x) for x in want[row:row + dim])
            for a, b in zip(have[row:row + dim], want[row:row + dim]):
                worst = max(worst, abs(a - b) / largest)
            rows += 1
    print(f"{rows} rows, largest error {worst:.2e} of the row's magnitude")
    return 0 if rows > 0 and worst <= 2e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
