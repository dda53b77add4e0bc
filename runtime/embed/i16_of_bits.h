#ifndef EMBED_I16_OF_BITS_H
#define EMBED_I16_OF_BITS_H

#include <stdint.h>

/* The signed number with the lower 16 bits: sums and products wrap around as unsigned numbers, which C defines. */
static inline int16_t i16_of_bits(uint32_t bits)
{
    return (int16_t)(uint16_t)bits;
}

#endif
