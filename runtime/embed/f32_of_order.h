#ifndef EMBED_F32_OF_ORDER_H
#define EMBED_F32_OF_ORDER_H

#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"

/* The inverse of order_of_f32. */
static inline float f32_of_order(int32_t order)
{
    return f32_of_bits(order < 0 ? ~(uint32_t)order | 0x80000000u : (uint32_t)order);
}

#endif
