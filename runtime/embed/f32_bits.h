#ifndef EMBED_F32_BITS_H
#define EMBED_F32_BITS_H

#include <stdint.h>

/* The bits of a float: sign, 8 bits of exponent, 23 of fraction. */
static inline uint32_t f32_bits(float v)
{
    union {
        float number;
        uint32_t bits;
    } both;

    both.number = v;
    return both.bits;
}

#endif
