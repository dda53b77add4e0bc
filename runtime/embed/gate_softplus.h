#include "runtime/embed/gate_limited.h"
#include "runtime/embed/gate_magnitude.h"
#include "runtime/embed/gate_table.h"
#include "runtime/embed/shift_to_nearest.h"

/* log(1 + exp(x)), which is max(x, 0) + log(1 + exp(-|x|)), of x in 2^-20, in 2^-15. The table is that of how
 * far the latter has come down from log(2). */
static int32_t gate_softplus(int32_t x, const uint16_t *table)
{
    const int64_t line = x < 0 ? 0 : shift_to_nearest(x, 5);

    return gate_limited(line + 22713 - gate_table(gate_magnitude(x), table, 768));
}
