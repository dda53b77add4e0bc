#include "runtime/embed/gate_limited.h"
#include "runtime/embed/gate_magnitude.h"
#include "runtime/embed/gate_table.h"
#include "runtime/embed/shift_to_nearest.h"

/* log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)). Fixed point: x in 2^-20, the result in 2^-15; the table is
 * log(2) - log(1 + exp(-|x|)). */
static int32_t gate_softplus(int32_t x, const uint16_t *table)
{
    const int64_t line = x < 0 ? 0 : shift_to_nearest(x, 5);

    return gate_limited(line + 22713 - gate_table(gate_magnitude(x), table, 768));
}
