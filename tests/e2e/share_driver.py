#!/usr/bin/env python3
"""share_driver.py A.json B.json > driver.c: a program that runs two networks that share an arena in turn, A, B and A,
on numbers of a fixed sequence, and then each with an arena of its own. Prints "same" and a hash of A's outputs if all
outputs have the same bits, else what differs. Shared pools are as large as shared_arena.h says."""
import json
import math
import sys

TYPES = {"f32": "float", "f64": "double", "bool": "uint8_t", "i8": "int8_t", "u8": "uint8_t",
         "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
         "i64": "int64_t", "u64": "uint64_t"}


def network(model):
    """A function NAME(arenas, result): writes inputs, runs, and copies the outputs to the result."""
    name, tensors = model["name"], model["inputs"] + model["outputs"]
    pools = [pool for pool in model["arena"].get("pools", []) if pool["has_arena"]]
    arenas = ["arena_" + pool["name"] for pool in pools] or ["arena"]
    inside = "--io-in-arena" in model["options"]
    kinds = [TYPES.get(t["dtype"], "uint8_t") for t in tensors]
    lengths = [max(1, math.prod(t["shape"])) for t in tensors]
    print(f"enum {{ {name.upper()}_OUT = " + " + ".join(
        f"{lengths[i]} * sizeof({kinds[i]})" for i in range(len(model["inputs"]), len(tensors))) + " };\n")
    print(f"static int use_{name}(void *const *arenas, unsigned char *result)\n{{")
    for i, kind in enumerate(kinds):
        print(f"    static {kind} t{i}[{lengths[i]}];")
    print("    uint32_t state = 12345;\n    int code;\n")
    for i, tensor in enumerate(model["inputs"]):
        real = tensor["dtype"] in ("f32", "f64")
        print(f"    for (size_t i = 0; i < sizeof t{i} / sizeof *t{i}; i++) {{\n"
              f"        state = state * 1664525u + 1013904223u;\n        t{i}[i] = ({kinds[i]})("
              + ("(double)(state >> 8) / 8388608.0 - 1" if real else "state >> 28") + ");\n    }")
        if inside:
            print(f"    memcpy({tensor['function']}(arenas[{arenas.index(tensor['arena'])}]), t{i}, sizeof t{i});")
    arguments = [] if inside else [f"t{i}" for i in range(len(tensors))]
    print(f"    code = {name}_run({', '.join(arguments + [f'arenas[{p}]' for p in range(len(arenas))])});")
    for i in range(len(model["inputs"]), len(tensors)):
        if inside:
            print(f"    memcpy(t{i}, {tensors[i]['function']}(arenas[{arenas.index(tensors[i]['arena'])}]), sizeof t{i});")
        print(f"    memcpy(result, t{i}, sizeof t{i});\n    result += sizeof t{i};")
    print("    return code;\n}\n")
    return [f"ARENA_{pool['name'].upper()}_BYTES" for pool in pools] or ["ARENA_BYTES"]


def main():
    models = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            models.append(json.load(file))
    print('#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n'
          '#include "shared_arena.h"\n#ifdef FIRMWARE\n#include "startup.h"\n#endif\n')
    for model in models:
        pools = network(model)
    a, b = (model["name"] for model in models)
    # SHARED_ARENA_ALIGN is 16; malloc's blocks need not be.
    print("static void *block(size_t bytes)\n{\n    unsigned char *at = malloc(bytes + SHARED_ARENA_ALIGN);\n\n"
          "    if (!at)\n        return NULL;\n    memset(at, 0xFF, bytes + SHARED_ARENA_ALIGN);\n"
          "    return at + (SHARED_ARENA_ALIGN - (uintptr_t)at % SHARED_ARENA_ALIGN) % SHARED_ARENA_ALIGN;\n}\n")
    print(f"int main(void)\n{{\n    static unsigned char a1[{a.upper()}_OUT], a2[{a.upper()}_OUT], a3[{a.upper()}_OUT];\n"
          f"    static unsigned char b1[{b.upper()}_OUT], b2[{b.upper()}_OUT];\n    uint32_t hash = 2166136261u;")
    for kind in ("shared", a, b):
        print(f"    void *const of_{kind}[] = {{ "
              + ", ".join(f"block({kind.upper()}_{pool})" for pool in pools) + " };")
    print(f"    int code = use_{a}(of_shared, a1);\n\n    code += use_{b}(of_shared, b1);\n"
          f"    code += use_{a}(of_shared, a2);\n    code += use_{a}(of_{a}, a3);\n    code += use_{b}(of_{b}, b2);\n"
          "    for (size_t i = 0; i < sizeof a1; i++)\n        hash = (hash ^ a1[i]) * 16777619u;\n"
          "    if (code || memcmp(a1, a2, sizeof a1) || memcmp(a1, a3, sizeof a1) || memcmp(b1, b2, sizeof b1)) {\n"
          "        printf(\"different, code %d\\n\", code);\n        return 1;\n    }\n"
          "    printf(\"same %08lx\\n\", (unsigned long)hash);\n    return 0;\n}")


if __name__ == "__main__":
    main()
