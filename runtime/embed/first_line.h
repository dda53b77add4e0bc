#ifndef EMBED_FIRST_LINE_H
#define EMBED_FIRST_LINE_H

#include <stdint.h>

/* Where the first line of the cache begins, of memory for floats: vectors that lie across two take twice as
 * long to read. */
static inline float *first_line(void *memory)
{
    return (float *)(void *)((char *)memory + (-(uintptr_t)memory & 63));
}

#endif
