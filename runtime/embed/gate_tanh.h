#ifndef EMBED_GATE_TANH_H
#define EMBED_GATE_TANH_H

#include "runtime/embed/gate_magnitude.h"
#include "runtime/embed/gate_table.h"

/* tanh(x). Fixed point: x in 2^-20, the result in 2^-15. */
static int32_t gate_tanh(int32_t x, const uint16_t *table)
{
    const int32_t y = gate_table(gate_magnitude(x), table, 512);

    return x < 0 ? -y : y;
}

#endif
