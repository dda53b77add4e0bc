#ifndef EMBED_FIRST_LINE_H
#define EMBED_FIRST_LINE_H

#include <stdint.h>

/* The first cache line boundary in memory for floats: vectors that cross a line take two accesses. */
static inline float *first_line(void *memory)
{
    return (float *)(void *)((char *)memory + (-(uintptr_t)memory & 63));
}

#endif
