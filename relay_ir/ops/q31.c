#include "relay_ir/ops/q31.h"

int32_t q31_multiply(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;

    if (a == INT32_MIN && b == INT32_MIN)
        return INT32_MAX;
    return (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / ((int64_t)1 << 31));
}

int32_t q31_shift_down(int32_t x, int n)
{
    const int64_t half = n > 0 ? (int64_t)1 << (n - 1) : 0;
    const int64_t magnitude = ((x < 0 ? -(int64_t)x : x) + half) >> n;

    return (int32_t)(x < 0 ? -magnitude : magnitude);
}

static int32_t wrapped(int64_t x)
{
    const uint32_t bits = (uint32_t)x;

    return (int32_t)(bits & INT32_MAX) - (bits >> 31 ? INT32_MAX : 0) - (bits >> 31 ? 1 : 0);
}

/* x * 2^n, saturated. */
static int32_t shifted_up(int32_t x, int n)
{
    const int32_t most = (int32_t)((INT64_C(1) << (31 - n)) - 1);

    return x > most ? INT32_MAX : x < -most ? INT32_MIN : x * (1 << n);
}

/* exp(a) for a of -1/4 .. 0: the Taylor polynomial of degree 4 at -1/8. */
static int32_t exp_of_a_quarter(int32_t a)
{
    const int32_t at = 1895147668, third = 715827883; /* exp(-1/8), 1/3 */
    const int32_t x = a + (1 << 28), x2 = q31_multiply(x, x), x3 = q31_multiply(x2, x);
    const int32_t x4_over_4 = q31_shift_down(q31_multiply(x2, x2), 2);
    const int32_t rest = q31_shift_down(q31_multiply(x4_over_4 + x3, third) + x2, 1);

    return at + q31_multiply(at, x + rest);
}

int32_t q31_exp(int32_t a, int integer_bits)
{
    /* exp(-2^k), k from -2 */
    static const int32_t powers[] = { 1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242 };
    const int fraction = 31 - integer_bits;
    const int32_t quarter = 1 << (fraction - 2);
    const int32_t rest = (a & (quarter - 1)) - quarter;
    const uint32_t quarters = (uint32_t)rest - (uint32_t)a;
    int32_t y = exp_of_a_quarter(shifted_up(rest, integer_bits));

    for (int k = -2; k < integer_bits; k++)
        if (quarters >> (fraction + k) & 1)
            y = q31_multiply(y, powers[k + 2]);
    return a == 0 ? INT32_MAX : y;
}

/* 2 / (1 + x), in units of 2^-29. */
static int32_t twice_inverse(int32_t x)
{
    const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);           /* of 1 + x */
    int32_t y = wrapped((int64_t)1515870810 + q31_multiply(half, -1010580540)); /* 48/17, -32/17 */

    for (int i = 0; i < 3; i++)
        y = wrapped((int64_t)y + shifted_up(q31_multiply(y, (1 << 29) - q31_multiply(half, y)), 2));
    return y;
}

int32_t q31_inverse(int32_t x)
{
    return shifted_up(twice_inverse(x), 1);
}

int32_t q31_difference(int32_t x)
{
    return shifted_up(twice_inverse(x) - (1 << 29), 2);
}

int32_t q31_logistic(int32_t a)
{
    const int32_t y = q31_inverse(q31_exp(a > 0 ? -a : a, 4));

    return a == 0 ? 1 << 30 : a > 0 ? y : INT32_MAX - y;
}

int32_t q31_tanh(int32_t a)
{
    const int32_t y = q31_difference(q31_exp(a > 0 ? -a : a, 5)); /* of 2 a: one bit less */

    return a == 0 ? 0 : a > 0 ? y : -y;
}

/* Bits above the highest 1 of x > 0. */
static int zeros_of(int32_t x)
{
    int zeros = 0;

    while (!((uint32_t)x << zeros >> 31))
        zeros++;
    return zeros;
}

int32_t q31_log(int32_t x)
{
    const int32_t ln_2 = 1488522236, root_half = 1518500250, fourth_root_half = 1805811301;
    const int32_t in_cube = 117049297, in_square = 127690142;   /* 11/240 and 1/20 times 2^(1/4) */
    const int32_t constant = 1057819769, in_linear = 638450708; /* 2^(3/4) - 2^(1/4), 2^(1/4) / 4 */
    const int32_t quarter = 1 << 23;                            /* in units of 2^-25 */
    const int a_zeros = zeros_of(x), b_zeros = zeros_of(q31_multiply(x, root_half));
    /* x by a power of 2, and that times the root of 1/2: the lesser lies about the fourth root */
    const int32_t a = shifted_up(q31_multiply(shifted_up(x, a_zeros - 1), root_half), 1);
    const int32_t b = shifted_up(x, b_zeros - 1), r = a < b ? a : b;
    const int32_t a_power = (12 - a_zeros) * (1 << 25) + quarter;
    const int32_t b_power = (13 - b_zeros) * (1 << 25) - quarter;
    const int32_t power = a_power > b_power ? a_power : b_power;
    const int64_t both = (int64_t)r + fourth_root_half;
    const int32_t p = (int32_t)((both + (both >= 0 ? 1 : -1)) / 2);
    const int32_t q = wrapped(2 * ((int64_t)r - fourth_root_half)), square = q31_multiply(q, q);
    const int32_t above =
        wrapped((int64_t)q31_multiply(q, r) + q31_multiply(q31_multiply(q, square), in_cube));
    const int32_t below = wrapped(
        (int64_t)q31_multiply(p, wrapped((int64_t)constant + q + q31_multiply(in_square, square))) +
        q31_multiply(in_linear, q));

    return shifted_up(wrapped((int64_t)q31_multiply(power, ln_2) +
                              q31_multiply(q31_shift_down(above, 6), q31_inverse(below))),
                      1);
}

int32_t q31_reciprocal(uint32_t x, int *shift)
{
    int zeros = 0;

    while (!(x >> (31 - zeros)))
        zeros++;
    *shift = 12 - zeros;
    return q31_inverse((int32_t)((x << zeros) - ((uint32_t)1 << 31)));
}

int32_t q31_inverse_root(int32_t x, int *shift)
{
    const int32_t half_root_2 = 1518500250, three_halves = (1 << 28) + (1 << 27);
    int32_t root = 1 << 28; /* in units of 2^-28, as what follows */
    int pairs = 0;

    *shift = 0;
    if (x <= 1)
        return INT32_MAX;
    for (*shift = -11; x >= 1 << 29; x /= 4)
        --*shift;
    while (x >> (27 - 2 * pairs) == 0)
        pairs++;
    *shift += pairs;
    x = (int32_t)((uint32_t)x << 2 * pairs) >> 1;
    for (int i = 0; i < 5; i++) {
        /* products of two have 6 integer bits, of three 9 */
        const int32_t cube = shifted_up(q31_multiply(q31_multiply(root, root), root), 6);
        const int32_t x_cube = q31_multiply(q31_shift_down(x, 1), cube);

        root = shifted_up(q31_multiply(three_halves, root) - x_cube, 3);
    }
    root = q31_multiply(root, half_root_2);
    if (*shift > 0) {
        root *= 1 << *shift;
        *shift = 0;
    }
    return root;
}
