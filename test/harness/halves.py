"""halves.py FILE...: for each F32 tensor but lse, the narrowest type that holds
all its numbers: f16, bf16 or f32."""
import struct
import sys

from compare import read


def is_half(values):
    packed = struct.pack(f"<{len(values)}e", *values)
    return struct.unpack(f"<{len(values)}e", packed) == values


def is_upper_half(values):
    packed = struct.pack(f"<{len(values)}f", *values)
    return not any(packed[0::4]) and not any(packed[1::4])


def main():
    for path in sys.argv[1:]:
        for name, (_, values) in sorted(read(path).items()):
            if name.endswith(".lse"):
                continue
            bf16, f16 = is_upper_half(values), is_half(values)
            print(f"{name}: {'bf16' if bf16 else 'f16' if f16 else 'f32'}")


if __name__ == "__main__":
    main()
