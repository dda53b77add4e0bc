#include <stdint.h>

/* v where it is a float, else the odd one of the two floats next to it: rounded to fewer digits, that gives
 * what v rounded once gives. */
static float f64_to_odd_f32(double v)
{
    union {
        float number;
        uint32_t bits;
    } near;

    near.number = (float)v;
    if ((double)near.number == v || v != v)
        return near.number;
    /* Away from zero: one back. Infinity becomes the greatest float, which is odd. */
    if (v > 0 ? (double)near.number > v : (double)near.number < v)
        near.bits--;
    near.bits |= 1u;
    return near.number;
}
