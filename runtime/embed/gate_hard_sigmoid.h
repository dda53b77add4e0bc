#include "runtime/embed/saturate_int.h"
#include "runtime/embed/shift_to_nearest.h"

/* alpha * x + beta, clamped to 0 .. 1. Fixed point: x in 2^-20, the result in 2^-15, alpha and beta in 2^-16. */
static int32_t gate_hard_sigmoid(int32_t x, int32_t alpha, int32_t beta)
{
    return saturate_int(shift_to_nearest((int64_t)alpha * x, 21) + shift_to_nearest(beta, 1), 0, 32768);
}
