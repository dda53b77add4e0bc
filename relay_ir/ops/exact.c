/* exact.c - see exact.h. */
#include "relay_ir/ops/exact.h"

#include <math.h>

#include "relay_ir/walk.h"

int exact_unit(const struct minifloat *format)
{
    return 1 - format->bias - format->mantissa_bits;
}

int64_t exact_greatest(const struct minifloat *format)
{
    const double steps =
        format ? ldexp((double)minifloat_max(format), -exact_unit(format)) : (double)INFINITY;

    return steps <= 0x1p30 ? (int64_t)steps : 0;
}

int32_t exact_steps(const struct minifloat *format, unsigned code)
{
    const double number = (double)minifloat_decode(format, code);

    return isnan(number) ? 0 : (int32_t)ldexp(number, -exact_unit(format));
}

struct exact_factor exact_factor_of(double factor)
{
    int exponent;
    double significand;

    if (!(factor > 0))
        return (struct exact_factor){ 0, 0 };
    if (factor >= 0x1p62)
        return (struct exact_factor){ INT32_MAX, 31 };
    significand = rint(frexp(factor, &exponent) * 0x1p31);
    if (significand == 0x1p31) { /* 0.999... became 1 */
        significand /= 2;
        exponent++;
    }
    if (exponent < -96)
        return (struct exact_factor){ 0, 0 };
    return (struct exact_factor){ (int32_t)significand, exponent - 31 };
}

/* How many bits x has. */
static int length(wide x)
{
    int n = 0;

    for (; x > 0; x /= 2)
        n++;
    return n;
}

/* x / 2^n (x * 2^-n for n < 0), to nearest, ties to even. */
static wide nearest(wide x, int n)
{
    wide unit, quotient, rest;

    if (n <= 0)
        return x * ((wide)1 << -n);
    if (n > 125)
        return 0;
    unit = (wide)1 << n;
    quotient = x / unit;
    rest = x % unit;
    return quotient + (rest > unit / 2 || (rest == unit / 2 && quotient % 2 == 1));
}

/* The number of codes up to x * 2^exponent steps. Where numbers have `mantissa` bits behind their
 * leading one, they are 2^k steps apart, k = bits in front of the binary point - 1 - mantissa; each
 * k above 0 brings 2^mantissa codes. */
static unsigned round_wide(const struct minifloat *format, wide x, int exponent, bool negative)
{
    const int mantissa = format->mantissa_bits;
    const unsigned greatest = minifloat_encode(format, INFINITY, true);
    const int top = length(x) + exponent - 1, k = top > mantissa ? top - mantissa : 0;
    unsigned code = greatest;

    if (k <= 31)
        code = (unsigned)nearest(x, k - exponent) + ((unsigned)k << mantissa);
    if (code > greatest)
        code = greatest;
    if (negative && format->sign == MINIFLOAT_UNSIGNED)
        return 0;
    return code && negative ? code | minifloat_sign(format) : code;
}

unsigned exact_round(const struct minifloat *format, uint64_t magnitude, int exponent,
                     bool negative)
{
    return magnitude ? round_wide(format, magnitude, exponent, negative) : 0;
}

unsigned exact_scale(const struct minifloat *format, int64_t x, struct exact_factor factor)
{
    const wide product = (wide)x * factor.multiplier;

    if (product == 0)
        return 0;
    return round_wide(format, product < 0 ? -product : product, factor.shift, product < 0);
}

int64_t exact_scale_whole(int64_t x, struct exact_factor factor)
{
    const wide product = (wide)x * factor.multiplier, most = (wide)1 << 62;
    const wide whole = nearest(product < 0 ? -product : product, -factor.shift);

    return (int64_t)(whole < most ? whole : most) * (x < 0 ? -1 : 1);
}

static int32_t multiplier_at(double factor, int shift)
{
    return factor > 0 ? (int32_t)fmin(rint(ldexp(factor, -shift)), INT32_MAX) : 0;
}

struct exact_formats exact_formats_of(const struct node *node)
{
    return (struct exact_formats){ type_minifloat(&node->inputs[0]->type),
                                   type_minifloat(&node->inputs[1]->type),
                                   type_minifloat(&node->outputs[0]->type) };
}

struct exact_add exact_add_of(enum op op, const struct exact_formats *formats, double a_scale,
                              double b_scale, double out_scale)
{
    const int unit = exact_unit(formats->out);
    const double a = ldexp(a_scale / out_scale, exact_unit(formats->a) - unit);
    const double b = ldexp(b_scale / out_scale, exact_unit(formats->b) - unit);
    const int shift = exact_factor_of(a > b ? a : b).shift;

    return (struct exact_add){ multiplier_at(a, shift),
                               op == OP_QNN_SUBTRACT ? -multiplier_at(b, shift)
                                                     : multiplier_at(b, shift),
                               shift };
}

struct exact_factor exact_mul_of(const struct exact_formats *formats, double a_scale,
                                 double b_scale, double out_scale)
{
    const int unit = exact_unit(formats->a) + exact_unit(formats->b) - exact_unit(formats->out);

    return exact_factor_of(ldexp(a_scale * b_scale / out_scale, unit));
}

struct exact_factor exact_requantize_of(const struct minifloat *to, double in_scale,
                                        double out_scale)
{
    return exact_factor_of(ldexp(in_scale / out_scale, to ? -exact_unit(to) : 0));
}

struct exact_factor exact_average_of(const struct minifloat *from, double in_scale,
                                     const struct minifloat *to, double out_scale, int64_t n)
{
    const double steps = ldexp(in_scale / out_scale, exact_unit(from) - exact_unit(to));

    return exact_factor_of(n > 0 ? steps / (double)n : 0);
}

void exact_powers_of(const struct minifloat *format, double scale, struct exact_powers *powers)
{
    static const double log2_e = 1.44269504088896340736, most = 16000;

    for (unsigned code = 0; code < 256; code++) {
        const double number = ldexp(exact_steps(format, code), exact_unit(format)) * scale;
        const double power = fmax(fmin(number * log2_e, most), -most), whole = floor(power);

        powers->mantissa[code] = (uint32_t)rint(ldexp(exp2(power - whole), 30));
        powers->exponent[code] = (int16_t)whole;
    }
}

struct exact_factor exact_softmax_of(const struct minifloat *to, double out_scale)
{
    return exact_factor_of(ldexp(1 / out_scale, -32 - exact_unit(to)));
}

void exact_log_softmax_of(const struct minifloat *from, double in_scale, const struct minifloat *to,
                          double out_scale, struct exact_log_softmax *of)
{
    const double unit = ldexp(out_scale, exact_unit(to) - EXACT_LOG_BITS);

    exact_powers_of(from, in_scale, &of->powers);
    for (int k = 0; k <= 256; k++)
        of->logs[k] = (uint32_t)fmin(rint(log1p(k / 256.0) / unit), (double)UINT32_MAX);
    of->step = (uint64_t)fmin(rint(ldexp(in_scale, exact_unit(from)) / unit), 0x1p43);
}
