#include "runtime/embed/gate_limited.h"
#include "runtime/embed/shift_to_nearest.h"

/* alpha * x + beta. Fixed point: x in 2^-20, the result in 2^-15, alpha and beta in 2^-16. */
static int32_t gate_affine(int32_t x, int32_t alpha, int32_t beta)
{
    return gate_limited(shift_to_nearest((int64_t)alpha * x, 21) + shift_to_nearest(beta, 1));
}
