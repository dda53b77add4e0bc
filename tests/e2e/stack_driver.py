#!/usr/bin/env python3
"""stack_driver.py NAME.json > driver.c: a program that runs the network on a painted stack and prints how
many bytes of it were used, from NAME_run's caller on, and what NAME.h says. On a host the stack is that of a
thread, on a Cortex-M4 that of the firmware (templates/firmware/cortex-m4-qemu)."""
import json
import math
import sys

TYPES = {"f32": "float", "f64": "double", "bool": "uint8_t", "i8": "int8_t", "u8": "uint8_t",
         "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
         "i64": "int64_t", "u64": "uint64_t"}

HOST = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 1 << 22, PAINT = 0xA5 };

static unsigned char *stack;

static void *on_thread(void *result)
{
    *(int *)result = run();
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t lowest = 0;
    int result = -1;

    if (posix_memalign((void **)&stack, 4096, STACK))
        return 1;
    memset(stack, PAINT, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    if (pthread_create(&thread, &attributes, on_thread, &result) || pthread_join(thread, NULL))
        return 1;
    while (stack[lowest] == PAINT)
        lowest++;
    printf("%d %ld %d\\n", result, (long)(top - (stack + lowest)), NET_STACK_BYTES);
    return 0;
}
"""

FIRMWARE = """
#include "startup.h"

extern unsigned char stack_top[];

int main(void)
{
    const int result = run();
    const long used = (long)stack_bytes_used() - (long)(stack_top - top);

    printf("%d %ld %d\\n", result, used, NET_STACK_BYTES);
    return 0;
}
"""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    tensors = model["inputs"] + model["outputs"]
    print('#include <stdint.h>\n#include <stdio.h>\n\n#include "net.h"\n')
    for i, tensor in enumerate(tensors):
        print(f"static {TYPES.get(tensor['dtype'], 'uint8_t')} t{i}[{max(1, math.prod(tensor['shape']))}];")
    print("static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES + 1];\n")
    print("""static unsigned char *top; /* where the stack ends before the call */

__attribute__((noinline)) static int run(void)
{
#ifdef FIRMWARE
    __asm volatile("mov %0, sp" : "=r"(top));
#else
    __asm volatile("mov %%rsp, %0" : "=r"(top));
#endif
    return net_run("""
          + ", ".join([f"t{i}" for i in range(len(tensors))] + ["arena"]) + ");\n}\n")
    print(f"#ifdef FIRMWARE\n{FIRMWARE}#else\n{HOST}#endif")


main()
