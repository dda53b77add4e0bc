#ifndef EMBED_I32_OF_BITS_H
#define EMBED_I32_OF_BITS_H

#include <stdint.h>

/* The signed number with these bits: sums and products wrap around as unsigned numbers, which C defines. */
static inline int32_t i32_of_bits(uint32_t bits)
{
    return (int32_t)bits;
}

#endif
