#include <stdint.h>

/* sum / n to nearest, halves away from zero; n > 0, sum of less than 31 bits. */
static int32_t average(int32_t sum, int32_t n)
{
    return (sum < 0 ? sum - n / 2 : sum + n / 2) / n;
}
