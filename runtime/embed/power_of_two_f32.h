#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"

/* 2^(n - 127), for n from 0 to 254 (E8M0). */
static float power_of_two_f32(uint32_t n)
{
    return f32_of_bits(n ? n << 23 : 0x400000u);
}
