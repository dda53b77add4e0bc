#include <stdint.h>

/* A product of numbers in 2^-31 as one, to nearest, ties up. */
static inline int32_t round_q31(int64_t product)
{
    const int64_t sum = product + (1 << 30);

    return (int32_t)(sum < 0 ? ~(~sum >> 31) : sum >> 31);
}
