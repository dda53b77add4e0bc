#ifndef EMBED_F32_BITS_H
#define EMBED_F32_BITS_H

#include <stdint.h>
#include <string.h>

/* The bits of a float: sign, 8 bits of exponent, 23 of fraction. */
static inline uint32_t f32_bits(float v)
{
    uint32_t bits;

    (void)memcpy((void *)&bits, (const void *)&v, 4);
    return bits;
}

#endif
