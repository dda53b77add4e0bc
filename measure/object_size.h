/* object_size.h - how much of each kind of memory an object file takes. */
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
    uint64_t text;   /* what is executed */
    uint64_t rodata; /* constants */
    uint64_t data;   /* what is written, with a content at the start */
    uint64_t bss;    /* the same without */
    int machine;     /* e_machine of the last one */
};

/* Adds the sections of an ELF object (32 or 64 bits, either order of bytes) that are loaded; tables
 * for unwinding the stack and notes, which no firmware keeps, are left out. False after an error.
 */
bool object_size_add(struct ctx *ctx, const char *path, struct object_size *size);

#endif
