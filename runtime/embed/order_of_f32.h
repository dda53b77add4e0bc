#ifndef EMBED_ORDER_OF_F32_H
#define EMBED_ORDER_OF_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"

/* A whole number that is greater where v is (0 than -0, and NaN than all), because compilers know that the order
 * in which whole numbers are compared is all the same, and need no branch for it. */
static inline int32_t order_of_f32(float v)
{
    const uint32_t bits = f32_bits(v), magnitude = bits & 0x7fffffffu;
    const int32_t order = (int32_t)(bits == magnitude ? bits : ~magnitude);

    return magnitude > 0x7f800000u ? (int32_t)magnitude : order;
}

#endif
