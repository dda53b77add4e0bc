#ifndef EMBED_F32_OF_BITS_H
#define EMBED_F32_OF_BITS_H

#include <stdint.h>

/* The float with these bits. */
static inline float f32_of_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float number;
    } both;

    both.bits = bits;
    return both.number;
}

#endif
