#!/usr/bin/env python3
"""kernels_driver.py A.json B.json ... > driver.c: a program that runs each network once, on numbers of a fixed sequence,
in an arena of its own, and prints all bytes of its outputs, and on a board the instructions that it took."""
import json
import sys

from share_driver import network


def main():
    models = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            models.append(json.load(file))
    print("#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n")
    for model in models:
        print(f'#include "{model["name"]}.h"')
    print('#ifdef FIRMWARE\n#include "startup.h"\n#include "systick.h"\n#endif\n')
    for model in models:
        network(model)
    print("int main(void)\n{\n    int code = 0;\n")
    for model in models:
        name, upper = model["name"], model["name"].upper()
        print(f"    {{\n        static unsigned char result[{upper}_OUT];\n"
              f"        static unsigned char arena[{upper}_ARENA_BYTES + 1] __attribute__((aligned({upper}_ARENA_ALIGN)));\n"
              "        void *const arenas[] = { arena };\n\n"
              "#ifdef FIRMWARE\n        systick_start();\n#endif\n"
              f"        code += use_{name}(arenas, result);\n"
              "#ifdef FIRMWARE\n"
              f"        fprintf(stderr, \"{name} %lu\\n\", (unsigned long)systick_instructions());\n#endif\n"
              f"        printf(\"{name} %d \", code);\n"
              "        for (size_t i = 0; i < sizeof result; i++)\n            printf(\"%02x\", result[i]);\n"
              "        printf(\"\\n\");\n    }")
    print("    return code;\n}")


if __name__ == "__main__":
    main()
