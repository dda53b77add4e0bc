#!/usr/bin/env python3
"""random_npy.py NAME.json FILE.npy: random numbers in [-1, 1) of the shape of the first input, in f32.
random_npy.py NAME.json FILE.npz: one sample of all inputs; integers from 0 to 9.

For calibrating where the numbers do not matter."""

import json
import math
import pathlib
import random
import struct
import sys
import zipfile

INTEGERS = {"i8": "b", "u8": "B", "bool": "?", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}


def npy(shape, dtype):
    code = INTEGERS.get(dtype, "f")
    n = math.prod(shape)
    kind = {"f": "<f4", "?": "|b1"}.get(code) or f"<{'i' if code.islower() else 'u'}{struct.calcsize(code)}"
    header = {"descr": kind, "fortran_order": False, "shape": tuple(shape)}
    text = (repr(header).ljust(117) + "\n").encode()
    numbers = (random.uniform(-1, 1) if code == "f" else random.randrange(2 if code == "?" else 10) for _ in range(n))
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + struct.pack(f"<{n}{code}", *numbers)


def main():
    inputs = json.loads(pathlib.Path(sys.argv[1]).read_text())["inputs"]
    random.seed(1)
    if sys.argv[2].endswith(".npz"):
        with zipfile.ZipFile(sys.argv[2], "w") as file:
            for tensor in inputs:
                file.writestr(f"{tensor['name']}.npy", npy([1, *tensor["shape"]], tensor["dtype"]))
    else:
        pathlib.Path(sys.argv[2]).write_bytes(npy(inputs[0]["shape"], "f32"))


main()
