#include "runtime/embed/gate_limited.h"
#include "runtime/embed/shift_to_nearest.h"

/* x, or 0 if x < alpha. Fixed point: x and alpha in 2^-20, the result in 2^-15. */
static int32_t gate_thresholded_relu(int32_t x, int32_t alpha)
{
    return x < alpha ? 0 : gate_limited(shift_to_nearest(x, 5));
}
