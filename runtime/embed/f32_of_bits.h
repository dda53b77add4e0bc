#ifndef EMBED_F32_OF_BITS_H
#define EMBED_F32_OF_BITS_H

#include <stdint.h>
#include <string.h>

/* The float with these bits. */
static inline float f32_of_bits(uint32_t bits)
{
    float v;

    (void)memcpy((void *)&v, (const void *)&bits, 4);
    return v;
}

#endif
