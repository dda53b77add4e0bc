#!/usr/bin/env python3
"""memory_driver.py NAME.json > driver.c: a program that runs the network three times on numbers of a fixed
sequence and prints the FNV-1a hash of all outputs. Each pool of the arena is a block of the heap, of exactly
the bytes that NAME.h says, filled with another byte each time, as its initial contents must not matter."""
import json
import math
import sys

TYPES = {"f32": "float", "f64": "double", "bool": "uint8_t", "i8": "int8_t", "u8": "uint8_t",
         "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
         "i64": "int64_t", "u64": "uint64_t"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    pools = [f"ARENA_{pool['name'].upper()}_BYTES" for pool in model["arena"].get("pools", [])
             if pool["has_arena"]] or ["ARENA_BYTES"]
    tensors = model["inputs"] + model["outputs"]
    print('#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include "net.h"\n')
    print("static void *pool(size_t bytes, int fill)\n{\n    void *at = aligned_alloc(NET_ARENA_ALIGN, bytes);\n\n"
          "    if (at)\n        memset(at, fill, bytes);\n    return at;\n}\n")
    for i, tensor in enumerate(tensors):
        print(f"static {TYPES.get(tensor['dtype'], 'uint8_t')} t{i}[{max(1, math.prod(tensor['shape']))}];")
    print("\nint main(void)\n{\n    static const int fills[] = { 0, 0xFF, 0x5A };\n"
          "    uint64_t hash = UINT64_C(14695981039346656037);\n    uint32_t state = 12345;\n")
    for i, tensor in enumerate(model["inputs"]):
        real = tensor["dtype"] in ("f32", "f64")
        print(f"    for (size_t i = 0; i < sizeof t{i} / sizeof *t{i}; i++) {{\n"
              f"        state = state * 1664525u + 1013904223u;\n"
              f"        t{i}[i] = ({TYPES.get(tensor['dtype'], 'uint8_t')})("
              + ("(double)(state >> 8) / 8388608.0 - 1" if real else "state >> 28") + ");\n    }")
    print("    for (int round = 0; round < 3; round++) {\n        int code;\n")
    for p, name in enumerate(pools):
        print(f"        void *const arena{p} = pool(NET_{name}, fills[round]);")
    inside = "--io-in-arena" in model["options"]
    arguments = [f"t{i}" for i in range(len(tensors)) if not inside] + [f"arena{p}" for p in range(len(pools))]
    arenas = ["arena_" + pool["name"] for pool in model["arena"].get("pools", []) if pool["has_arena"]] or ["arena"]
    at = [f"{t['function']}(arena{arenas.index(t['arena'])})" for t in tensors] if inside else []
    if inside:
        for i in range(len(model["inputs"])):
            print(f"        memcpy({at[i]}, t{i}, sizeof t{i});")
    print(f"        code = net_run({', '.join(arguments)});\n")
    print("        if (code) {\n            printf(\"code %d\\n\", code);")
    if "--guard" in model["options"]:
        print("            printf(\"%s wrote behind '%s' or in front of '%s'\\n\", net_overrun.region,\n"
              "                   net_overrun.tensor, net_overrun.next);")
    print("            return 1;\n        }")
    for i in range(len(model["inputs"]), len(tensors)):
        if inside:
            print(f"        memcpy(t{i}, {at[i]}, sizeof t{i});")
        print(f"        for (size_t i = 0; i < sizeof t{i}; i++)\n"
              f"            hash = (hash ^ ((const unsigned char *)t{i})[i]) * UINT64_C(1099511628211);\n"
              f"        memset(t{i}, 0, sizeof t{i});")
    for p in range(len(pools)):
        print(f"        free(arena{p});")
    print("        printf(\"%016llx\\n\", (unsigned long long)hash);\n"
          "        hash = UINT64_C(14695981039346656037);\n    }\n    return 0;\n}")


main()
