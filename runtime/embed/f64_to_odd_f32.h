#include <stdint.h>

/* v rounded to odd: v if it is a float, else the neighbouring float with an odd last bit. Rounding that to fewer
 * bits gives the result of rounding v once. */
static float f64_to_odd_f32(double v)
{
    union {
        float number;
        uint32_t bits;
    } near;

    near.number = (float)v;
    if ((double)near.number == v || v != v)
        return near.number;
    /* If rounded away from zero, steps back; infinity becomes the largest float, which is odd. */
    if (v > 0 ? (double)near.number > v : (double)near.number < v)
        near.bits--;
    near.bits |= 1u;
    return near.number;
}
