#include "runtime/embed/gate_magnitude.h"
#include "runtime/embed/gate_table.h"

/* 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2. Fixed point: x in 2^-20, the result in 2^-15; the table is that of
 * tanh. */
static int32_t gate_sigmoid(int32_t x, const uint16_t *table)
{
    const int32_t y = gate_table(gate_magnitude(x) >> 1, table, 512);

    return (x < 0 ? 32769 - y : 32769 + y) >> 1;
}
