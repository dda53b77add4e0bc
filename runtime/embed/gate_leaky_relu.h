#include "runtime/embed/gate_limited.h"
#include "runtime/embed/shift_to_nearest.h"

/* x, or alpha * x if x < 0. Fixed point: x in 2^-20, the result in 2^-15, alpha in 2^-16. */
static int32_t gate_leaky_relu(int32_t x, int32_t alpha)
{
    return gate_limited(x < 0 ? shift_to_nearest((int64_t)alpha * x, 21) : shift_to_nearest(x, 5));
}
