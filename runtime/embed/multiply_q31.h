#include <stdint.h>

/* a * b / 2^31, to nearest, ties up. */
static int32_t multiply_q31(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;

    return (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / ((int64_t)1 << 31));
}
