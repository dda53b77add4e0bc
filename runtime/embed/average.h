#include <stdint.h>

/* sum / n, rounded to nearest, ties away from zero; n > 0, |sum| < 2^30. */
static int32_t average(int32_t sum, int32_t n)
{
    return (sum < 0 ? sum - n / 2 : sum + n / 2) / n;
}
