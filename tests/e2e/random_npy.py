#!/usr/bin/env python3
"""random_npy.py NAME.json FILE.npy: random numbers in [-1, 1) of the shape of the first input, in f32.

For calibrating where the numbers do not matter."""

import json
import math
import pathlib
import random
import struct
import sys

shape = json.loads(pathlib.Path(sys.argv[1]).read_text())["inputs"][0]["shape"]
header = {"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}
text = (repr(header).ljust(117) + "\n").encode()
random.seed(1)
n = math.prod(shape)
numbers = struct.pack(f"<{n}f", *(random.uniform(-1, 1) for _ in range(n)))
pathlib.Path(sys.argv[2]).write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + numbers)
