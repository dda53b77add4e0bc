#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"

/* v rounded to odd: v if it is a float, else the neighbouring float with an odd last bit. Rounding that to fewer
 * bits gives the result of rounding v once. */
static float f64_to_odd_f32(double v)
{
    const float near = (float)v;
    uint32_t bits = f32_bits(near);

    if (!((double)near < v || (double)near > v)) /* equal, or NaN */
        return near;
    /* If rounded away from zero, steps back; infinity becomes the largest float, which is odd. */
    if (v > 0 ? (double)near > v : (double)near < v)
        bits--;
    return f32_of_bits(bits | 1u);
}
