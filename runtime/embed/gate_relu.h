#include "runtime/embed/gate_limited.h"
#include "runtime/embed/shift_to_nearest.h"

/* max(x, 0). Fixed point: x in 2^-20, the result in 2^-15. */
static int32_t gate_relu(int32_t x)
{
    return x < 0 ? 0 : gate_limited(shift_to_nearest(x, 5));
}
