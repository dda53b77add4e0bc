#ifndef EMBED_ORDER_OF_F32_H
#define EMBED_ORDER_OF_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"

/* An integer whose order is that of v (-0 below 0, NaN above all): compilers know that integer comparisons have
 * no side effects, and emit no branch. */
static inline int32_t order_of_f32(float v)
{
    const uint32_t bits = f32_bits(v), magnitude = bits & 0x7fffffffu;
    const int32_t order = (int32_t)(bits == magnitude ? bits : ~magnitude);

    return magnitude > 0x7f800000u ? (int32_t)magnitude : order;
}

#endif
