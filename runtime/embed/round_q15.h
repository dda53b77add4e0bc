#include <stdint.h>

#include "runtime/embed/shift_down.h"

/* A product of numbers in 2^-15 as one, to nearest, ties up. */
static inline int16_t round_q15(int32_t product)
{
    return (int16_t)shift_down(product + (1 << 14), 15);
}
