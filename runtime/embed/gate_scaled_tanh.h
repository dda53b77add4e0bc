#include "runtime/embed/gate_limited.h"
#include "runtime/embed/gate_tanh.h"
#include "runtime/embed/saturate_int.h"
#include "runtime/embed/shift_to_nearest.h"

/* alpha * tanh(beta * x). Fixed point: x in 2^-20, the result in 2^-15, alpha and beta in 2^-16. */
static int32_t gate_scaled_tanh(int32_t x, int32_t alpha, int32_t beta, const uint16_t *table)
{
    const int64_t scaled = shift_to_nearest((int64_t)beta * x, 16);
    const int32_t y = gate_tanh(saturate_int(scaled, -INT32_MAX, INT32_MAX), table);

    return gate_limited(shift_to_nearest((int64_t)alpha * y, 16));
}
