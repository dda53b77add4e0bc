#include "runtime/embed/gate_magnitude.h"

/* x / (1 + |x|) = 1 - 1 / (1 + |x|) with the sign of x. Fixed point: x in 2^-20, the result in 2^-15. */
static int32_t gate_softsign(int32_t x)
{
    const uint32_t by = (1048576U + gate_magnitude(x) + 8) >> 4;
    const int32_t y = 32768 - (int32_t)((2147483648U + by / 2) / by);

    return x < 0 ? -y : y;
}
