/* object_size.h - section sizes of object files. */
#ifndef MEASURE_OBJECT_SIZE_H
#define MEASURE_OBJECT_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"

/* Some values of object_size.machine. */
enum {
    OBJECT_386 = 3,
    OBJECT_ARM = 40,
    OBJECT_X86_64 = 62,
    OBJECT_AARCH64 = 183,
    OBJECT_RISCV = 243
};

struct object_size {
    uint64_t text;   /* code */
    uint64_t rodata; /* constants */
    uint64_t data;   /* initialised data */
    uint64_t bss;    /* zero-initialised data */
    int machine;     /* e_machine of the last file */
};

/* Adds the loaded sections of an ELF object (32 or 64 bits, either byte order), without unwind
 * tables and notes, which firmware drops. False after an error. */
bool object_size_add(struct ctx *ctx, const char *path, struct object_size *size);

#endif
