/* fixed_point.c - numbers times a real factor in 32-bit integers: the one definition of how
 * quantised results are rounded. The same on every machine, and that of TensorFlow Lite and of
 * CMSIS-NN in their default builds.
 *
 * The factor is significand * 2^(shift - 31), its significand (31 bits) and shift from frexp.
 *
 * "single": x * significand / 2^(31 - shift), to nearest, ties up, saturated to 32 bits.
 *
 * "double" is the same for shift >= 0. Else it rounds twice: the doubling high multiply x *
 * significand / 2^31, to nearest, ties up, and then the shift right by -shift, to nearest, ties
 * away from zero.
 *
 * runtime/embed/requantize.h, requantize_once.h and shift_to_nearest.h are the same for generated
 * C. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"

struct fixed_point fixed_point_of(double factor)
{
    int exponent;
    double significand;

    if (!(factor > 0))
        return (struct fixed_point){ 0, 0 };
    if (factor >= 0x1p30)
        return (struct fixed_point){ INT32_MAX, 30 };
    significand = round(frexp(factor, &exponent) * 0x1p31);
    if (significand == 0x1p31) { /* 0.999... became 1 */
        significand /= 2;
        exponent++;
    }
    if (exponent < -31)
        return (struct fixed_point){ 0, 0 };
    if (exponent > 30)
        return (struct fixed_point){ INT32_MAX, 30 };
    return (struct fixed_point){ (int32_t)significand, exponent };
}

static int64_t saturated(wide x)
{
    return (int64_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

/* x / 2^n, rounded down. */
static wide shifted_down(wide x, int n)
{
    const wide unit = (wide)1 << n;

    return x / unit - (x % unit < 0);
}

static wide half(int n)
{
    return n > 0 ? (wide)1 << (n - 1) : 0;
}

static wide nearest_half_up(wide x, int n)
{
    return shifted_down(x + half(n), n);
}

int64_t shifted_to_nearest(int64_t x, int n)
{
    return (int64_t)nearest_half_up(x, n);
}

static wide nearest_half_away(wide x, int n)
{
    return x < 0 ? -shifted_down(-x + half(n), n) : shifted_down(x + half(n), n);
}

int32_t fixed_point_apply(struct fixed_point factor, int64_t x, enum fixed_point_rounding rounding)
{
    const int second = rounding == ROUND_DOUBLE && factor.shift < 0 ? -factor.shift : 0;
    const wide product = (wide)saturated(x) * factor.multiplier;

    return (int32_t)nearest_half_away(
        saturated(nearest_half_up(product, 31 - factor.shift - second)), second);
}

enum fixed_point_rounding fixed_point_rounding_of(const char *word)
{
    return strcmp(word, "single") == 0 ? ROUND_SINGLE : ROUND_DOUBLE;
}

struct qnn_add_factors qnn_add_factors_of(enum dtype dtype, double a_scale, double b_scale,
                                          double out_scale)
{
    const double twice = 2 * (a_scale > b_scale ? a_scale : b_scale);
    const int shift = dtype_bytes(dtype) == 1 ? 20 : 15;

    return (struct qnn_add_factors){ .shift = shift,
                                     .a = fixed_point_of(a_scale / twice),
                                     .b = fixed_point_of(b_scale / twice),
                                     .out = fixed_point_of(twice / ldexp(out_scale, shift)) };
}

struct fixed_point qnn_mul_factor_of(double a_scale, double b_scale, double out_scale)
{
    return fixed_point_of(a_scale * b_scale / out_scale);
}
