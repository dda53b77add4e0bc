#include <stdint.h>

/* bfloat16 to f32: its bits are the upper half of a float's. */
static float bf16_to_f32(uint16_t code)
{
    union {
        uint32_t bits;
        float number;
    } v;

    v.bits = (uint32_t)code << 16;
    return v.number;
}
