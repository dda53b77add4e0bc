#include <stdint.h>

/* The number of a bfloat16: the upper half of a float. */
static float bf16_to_f32(uint16_t code)
{
    union {
        uint32_t bits;
        float number;
    } v;

    v.bits = (uint32_t)code << 16;
    return v.number;
}
