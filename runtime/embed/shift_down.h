#ifndef EMBED_SHIFT_DOWN_H
#define EMBED_SHIFT_DOWN_H

#include <stdint.h>

/* v / 2^n, rounded down. C leaves >> of negative numbers to the implementation; compilers see that this is one
 * instruction. */
static inline int32_t shift_down(int32_t v, int n)
{
    return v < 0 ? ~(~v >> n) : v >> n;
}

#endif
