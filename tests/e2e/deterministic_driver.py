#!/usr/bin/env python3
"""deterministic_driver.py NAME.json > driver.c: a program that runs the network on numbers of a fixed
sequence (zeros of both signs and subnormal numbers among them) and prints the FNV-1a hash of all outputs,
or the code that NAME_run returned. NaN counts as one number. With -DFLUSH on x86-64 the processor is told
to flush subnormal numbers to zero before. Plain C99, for any machine."""
import json
import math
import sys

TYPES = {"f32": "float", "f64": "double", "bool": "uint8_t", "i8": "int8_t", "u8": "uint8_t",
         "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
         "i64": "int64_t", "u64": "uint64_t"}

HEAD = """\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef FLUSH
#include <immintrin.h>
#endif

#include "net.h"

static uint64_t hash = UINT64_C(14695981039346656037);
static uint32_t state = 12345;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8; /* 24 bits */
}

static double real(int i)
{
    const double number = (double)next() / 4194304.0 - 2;

    return i % 64 == 5 ? number * 0x1p-130 : i % 97 == 11 ? -0.0 : number;
}

static void add(uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        hash = (hash ^ (bits >> 8 * i & 255)) * UINT64_C(1099511628211);
}

"""


def c_type(tensor):
    return TYPES.get(tensor["dtype"], "uint8_t")


def main():
    net = json.load(open(sys.argv[1], encoding="utf-8"))
    out = [HEAD]
    for stem, tensors in (("in", net["inputs"]), ("out", net["outputs"])):
        for i, t in enumerate(tensors):
            out.append(f"static {c_type(t)} {stem}{i}[{max(1, math.prod(t['shape']))}];\n")
    out.append("static unsigned char arena[NET_ARENA_BYTES + 1] __attribute__((aligned(NET_ARENA_ALIGN)));\n\n"
               "int main(void)\n{\n    int code;\n\n    (void)real;\n"
               "#ifdef FLUSH\n    _mm_setcsr(_mm_getcsr() | 0x8040);\n#endif\n")
    for i, t in enumerate(net["inputs"]):
        number = "real(i)" if t["dtype"] in ("f32", "f64") else \
            "(next() & 1)" if t["dtype"] == "bool" else \
            "next()" if t["dtype"] in ("i8", "u8") or t["dtype"] not in TYPES else "(next() % 10)"
        out.append(f"    for (int i = 0; i < {math.prod(t['shape'])}; i++)\n"
                   f"        in{i}[i] = ({c_type(t)}){number};\n")
    arguments = [f"in{i}" for i in range(len(net["inputs"]))] + \
                [f"out{i}" for i in range(len(net["outputs"]))] + ["arena"]
    out.append(f"    code = net_run({', '.join(arguments)});\n"
               "    if (code != NET_OK) {\n        printf(\"code %d\\n\", code);\n        return 0;\n    }\n")
    for i, t in enumerate(net["outputs"]):
        bits, nan = {"f32": ("uint32_t", "0x7fc00000u"), "f64": ("uint64_t", "UINT64_C(0x7ff8000000000000)")} \
            .get(t["dtype"], (None, None))
        out.append(f"    for (int i = 0; i < {math.prod(t['shape'])}; i++) {{\n")
        if bits:
            out.append(f"        {bits} bits = {nan};\n\n        if (out{i}[i] == out{i}[i])\n"
                       f"            memcpy(&bits, &out{i}[i], sizeof bits);\n        add(bits, (int)sizeof bits);\n")
        else:
            out.append(f"        add((uint64_t)out{i}[i], (int)sizeof *out{i});\n")
        out.append("    }\n")
    out.append("    printf(\"%08lx%08lx\\n\", (unsigned long)(hash >> 32), "
               "(unsigned long)(hash & 0xffffffff));\n    return 0;\n}\n")
    sys.stdout.write("".join(out))


main()
