#include <stdint.h>

#include "runtime/embed/inverse_q31.h"
#include "runtime/embed/multiply_q31.h"

/* ln(x) in units of 2^-26, for x of 2^19 .. 2^31 - 1 in units of 2^-19. r is x, or x times the root of 1/2, by a power of
 * 2: what lies about the fourth root of 1/2, where a quotient of polynomials is the logarithm. */
static int32_t log_q31(int32_t x)
{
    const int32_t root_half = 1518500250, fourth_root_half = 1805811301;
    const int32_t scaled = multiply_q31(x, root_half);
    int a_zeros = 1, b_zeros = 1;
    int32_t a, b, r, power, p, q, square, above, below;

    while (x >> (31 - a_zeros) == 0)
        a_zeros++;
    while (scaled >> (31 - b_zeros) == 0)
        b_zeros++;
    a = multiply_q31(x << (a_zeros - 1), root_half);
    a = a > INT32_MAX / 2 ? INT32_MAX : a * 2;
    b = x > INT32_MAX >> (b_zeros - 1) ? INT32_MAX : x << (b_zeros - 1);
    r = a < b ? a : b;
    power = (12 - a_zeros) * (1 << 25) + (1 << 23);
    if (power < (13 - b_zeros) * (1 << 25) - (1 << 23))
        power = (13 - b_zeros) * (1 << 25) - (1 << 23);
    p = (int32_t)(((int64_t)r + fourth_root_half + 1) / 2);
    q = (r - fourth_root_half) * 2;
    square = multiply_q31(q, q);
    above = multiply_q31(q, r) + multiply_q31(multiply_q31(q, square), 117049297);
    below = multiply_q31(p, 1057819769 + q + multiply_q31(127690142, square)) + multiply_q31(638450708, q);
    above = above < 0 ? -((32 - above) / 64) : (above + 32) / 64;
    return (multiply_q31(power, 1488522236) + multiply_q31(above, inverse_q31(below))) * 2;
}
