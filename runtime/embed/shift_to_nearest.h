#ifndef EMBED_SHIFT_TO_NEAREST_H
#define EMBED_SHIFT_TO_NEAREST_H

#include <stdint.h>

/* v / 2^n, n > 0, rounded to nearest, ties up. C leaves >> of negative numbers to the implementation; compilers
 * see that this is one instruction. */
static inline int64_t shift_to_nearest(int64_t v, int n)
{
    const int64_t moved = v + ((int64_t)1 << (n - 1));

    return moved < 0 ? ~(~moved >> n) : moved >> n;
}

#endif
