#ifndef EMBED_SHIFT_DOWN_H
#define EMBED_SHIFT_DOWN_H

#include <stdint.h>

/* v / 2^n, rounded down: what compilers make of >> for negative numbers is theirs to say in C; all see that
 * this is one instruction. */
static inline int32_t shift_down(int32_t v, int n)
{
    return v < 0 ? ~(~v >> n) : v >> n;
}

#endif
