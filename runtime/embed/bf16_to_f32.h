#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"

/* bfloat16 to f32: its bits are the upper half of a float's. */
static float bf16_to_f32(uint16_t code)
{
    return f32_of_bits((uint32_t)code << 16);
}
