/* exact_norm.c - norms, lp_normalize, lrn and quotients of exact.h. */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/walk.h"

enum { LONGEST = 1 << 27 };

int64_t exact_most_squares(const struct minifloat *format)
{
    const int64_t greatest = exact_greatest(format);
    const int64_t most = greatest ? INT64_MAX / (greatest * greatest) : 0;

    return most < LONGEST ? most : LONGEST;
}

/* 2^31 becomes the number below it. */
static struct exact_inverse inverse(uint64_t significand, int shift)
{
    return (struct exact_inverse){ (int32_t)(significand < INT32_MAX ? significand : INT32_MAX),
                                   shift };
}

struct exact_inverse exact_inverse_of(uint64_t x)
{
    int shift = 62;

    if (x == 0)
        return inverse(0, 0);
    for (; x >> 32 > 0; x >>= 1)
        shift++;
    for (; x >> 31 == 0; x <<= 1)
        shift--;
    return inverse(((uint64_t)1 << 62) / x, shift);
}

struct exact_inverse exact_inverse_root_of(uint64_t x)
{
    const struct inverse_root root = x ? inverse_root_of(x) : (struct inverse_root){ 0, 0 };

    return inverse(root.significand, root.shift);
}

/* --- norms ------------------------------------------------------------------------------------ */

static double least_step(const struct minifloat *format, double scale)
{
    return ldexp(scale, exact_unit(format));
}

int32_t exact_norm_steps(const struct minifloat *to, double number, double out_scale, int shift)
{
    return qnn_norm_steps(number, least_step(to, out_scale), shift);
}

/* Of the least power of two that is n at least. */
static int bits_of(int64_t n)
{
    int bits = 0;

    while (((int64_t)1 << bits) < n)
        bits++;
    return bits;
}

/* Beyond 2^200 it makes all of z 0, below 2^-62 it changes nothing. */
static void set_epsilon(struct exact_norm *norm, double epsilon)
{
    int exponent;
    const double significand = frexp(fmin(epsilon, 0x1p200), &exponent);

    if (!(epsilon >= 0x1p-62))
        return;
    norm->exponent = exponent - 61 - (exponent % 2 == 0);
    norm->epsilon = (uint64_t)ldexp(significand, exponent - norm->exponent);
}

struct exact_norm exact_norm_of(const struct minifloat *from, double in_scale,
                                const struct minifloat *to, double out_scale, double epsilon,
                                int64_t n, const struct tensor *scale, const struct tensor *bias)
{
    const double steps = qnn_norm_greatest(scale, bias) / least_step(to, out_scale);
    const double per_step = (double)n / least_step(from, in_scale);
    const int fraction = 31 - (bits_of(n) + 1) / 2;
    struct exact_norm norm = { .fraction = fraction < 30 ? fraction : 30, .shift = 30 };

    set_epsilon(&norm, epsilon * per_step * per_step);
    while (norm.shift > 0 && !(ldexp(steps, norm.shift) <= 0x1p30))
        norm.shift--;
    return norm;
}

/* x / 2^n of what has less than 64 bits. */
static uint64_t cut(uint64_t x, int n)
{
    return n < 64 ? x >> n : 0;
}

struct exact_inverse exact_inverse_deviation(const struct exact_norm *norm, int64_t n, int64_t sum,
                                             uint64_t squares)
{
    wide spread = (wide)squares * n - (wide)sum * sum;
    struct exact_inverse inverse;
    int exponent = 0, above;
    uint64_t w;

    for (; spread >> 62 > 0; spread >>= 2)
        exponent += 2;
    for (; spread > 0 && spread >> 60 == 0; spread *= 4)
        exponent -= 2;
    if (spread == 0)
        exponent = norm->exponent;
    above = norm->epsilon ? exponent - norm->exponent : 0;
    if (above >= 0)
        w = (uint64_t)spread + cut(norm->epsilon, above);
    else
        w = cut((uint64_t)spread, -above) + norm->epsilon;
    inverse = exact_inverse_root_of(w);
    inverse.shift += (above < 0 ? norm->exponent : exponent) / 2;
    return inverse;
}

/* --- lp_normalize, lrn ------------------------------------------------------------------------ */

struct exact_factor exact_share_of(const struct minifloat *to, double out_scale)
{
    return exact_factor_of(1 / least_step(to, out_scale));
}

struct exact_factor exact_share_factor(struct exact_inverse inverse, struct exact_factor share)
{
    const int64_t product = (int64_t)inverse.significand * share.multiplier;

    return (struct exact_factor){ (int32_t)(product >> 31), share.shift - inverse.shift + 31 };
}

struct qnn_lrn_powers exact_lrn_of(const struct lrn_attrs *attrs, const struct minifloat *from,
                                   double in_scale)
{
    return qnn_lrn_powers_of(attrs, least_step(from, in_scale), (double)exact_greatest(from));
}

struct exact_factor exact_lrn_factor(const struct lrn_attrs *attrs, const struct minifloat *from,
                                     double in_scale, const struct minifloat *to, double out_scale)
{
    return exact_factor_of(ldexp(least_step(from, in_scale) / least_step(to, out_scale) *
                                     pow(attrs->bias, -attrs->beta),
                                 -31));
}

/* --- quotients -------------------------------------------------------------------------------- */

void exact_div_of(const struct exact_formats *formats, double a_scale, double b_scale,
                  double out_scale, struct exact_div *div)
{
    const struct minifloat *format = formats->b;
    const double factor =
        ldexp(a_scale / b_scale / out_scale,
              exact_unit(formats->a) - exact_unit(formats->b) - exact_unit(formats->out));

    for (unsigned code = 0; code < 256; code++) {
        const bool negative = code & minifloat_sign(format);
        const double number = abs(exact_steps(format, code));
        const struct exact_factor of = exact_factor_of(number > 0 ? factor / number : INFINITY);

        div->multiplier[code] = negative ? -of.multiplier : of.multiplier;
        div->shift[code] = (int8_t)of.shift;
    }
}
