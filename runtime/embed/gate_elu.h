#include "runtime/embed/gate_limited.h"
#include "runtime/embed/gate_magnitude.h"
#include "runtime/embed/gate_table.h"
#include "runtime/embed/shift_to_nearest.h"

/* x, or alpha * (exp(x) - 1) if x < 0. Fixed point: x in 2^-20, the result in 2^-15, alpha in 2^-16; the table is
 * that of 1 - exp(-x). */
static int32_t gate_elu(int32_t x, int32_t alpha, const uint16_t *table)
{
    if (x >= 0)
        return gate_limited(shift_to_nearest(x, 5));
    return gate_limited(-shift_to_nearest((int64_t)alpha * gate_table(gate_magnitude(x), table, 768), 16));
}
