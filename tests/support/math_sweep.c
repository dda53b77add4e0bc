/* math_sweep.c - see math_sweep.h. */
#include "tests/support/math_sweep.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/embed/acos_f32.h"
#include "runtime/embed/asin_f32.h"
#include "runtime/embed/atan_f32.h"
#include "runtime/embed/cos_f32.h"
#include "runtime/embed/erf_f32.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/expm1_f32.h"
#include "runtime/embed/gelu_f32.h"
#include "runtime/embed/gelu_tanh_f32.h"
#include "runtime/embed/log_f32.h"
#include "runtime/embed/mish_f32.h"
#include "runtime/embed/sigmoid_f32.h"
#include "runtime/embed/silu_f32.h"
#include "runtime/embed/sin_f32.h"
#include "runtime/embed/softplus_f32.h"
#include "runtime/embed/sqrt_f32.h"
#include "runtime/embed/tanh_f32.h"

/* --- in double, and careful where subtraction would lose everything --------------------------- */

static double exact_sigmoid(double v)
{
    return v < 0 ? exp(v) / (1 + exp(v)) : 1 / (1 + exp(-v));
}

/* v * share, and what it comes to where v is -infinity and the share 0: formulas say NaN. */
static double share_of(double v, double share)
{
    return isinf(v) && share == 0 ? -0.0 : v * share;
}

static double exact_silu(double v)
{
    return share_of(v, exact_sigmoid(v));
}

static double exact_softplus(double v)
{
    return (v > 0 ? v : 0) + log1p(exp(-fabs(v)));
}

static double exact_mish(double v)
{
    return share_of(v, tanh(exact_softplus(v)));
}

static double exact_gelu(double v)
{
    return share_of(v, 0.5 * erfc(-v * 0.70710678118654752440));
}

static double exact_gelu_tanh(double v)
{
    return v * exact_sigmoid(1.59576912160573071176 * (v + 0.044715 * v * v * v));
}

const struct math_function math_functions[] = {
    { "acos_f32", acos_f32, acos, 1.3, 0, 1.5707963267948966, -1, -1, 1 },
    { "asin_f32", asin_f32, asin, 2, 0, 0, 1, -1, 1 },
    { "atan_f32", atan_f32, atan, 1.7, 0, 0, 1, -INFINITY, INFINITY },
    { "cos_f32", cos_f32, cos, 1.7, 0, 1, 0, -INFINITY, INFINITY },
    { "erf_f32", erf_f32, erf, 2, 0, 0, 1.1283791670955126, -INFINITY, INFINITY },
    { "exp_f32", exp_f32, exp, 1.02, 0, 1, 1, -INFINITY, INFINITY },
    { "exp_negative_f32", exp_negative_f32, exp, 1.02, 0, 1, 1, -0x1.5d589ep+6f,
      0 }, /* to 2^-126 */
    { "exp_negative_f32", exp_negative_f32, exp, 1.02, 0x1p-102, 1, 1, -INFINITY, -0x1.5d589ep+6f },
    { "expm1_f32", expm1_f32, expm1, 1.5, 0, 0, 1, -INFINITY, 20 },
    { "gelu_f32", gelu_f32, exact_gelu, 2, 0x1p-96, 0, 0.5, -INFINITY, INFINITY },
    { "gelu_tanh_f32", gelu_tanh_f32, exact_gelu_tanh, 2.1, 0, 0, 0.5, -0.25f, INFINITY },
    { "gelu_tanh_f32", gelu_tanh_f32, exact_gelu_tanh, 3.1, 0, 0, 0.5, -1, -0.25f },
    { "gelu_tanh_f32", gelu_tanh_f32, exact_gelu_tanh, 3.7, 0.125, 0, 0.5, -INFINITY, -1 },
    { "log_f32", log_f32, log, 0.85, 0, 0, NAN, -INFINITY, INFINITY },
    { "mish_f32", mish_f32, exact_mish, 2, 0x1p-96, 0, 0.6, -INFINITY, INFINITY },
    { "sigmoid_f32", sigmoid_f32, exact_sigmoid, 1.9, 0x1p-103, 0.5, 0.25, -INFINITY, INFINITY },
    { "silu_f32", silu_f32, exact_silu, 1.75, 0x1p-96, 0, 0.5, -INFINITY, INFINITY },
    { "sin_f32", sin_f32, sin, 1.7, 0, 0, 1, -INFINITY, INFINITY },
    { "softplus_f32", softplus_f32, exact_softplus, 1.8, 0x1p-103, 0.69314718055994530942, 0.5,
      -INFINITY, INFINITY },
    { "sqrt_f32", sqrt_f32, sqrt, 0.5, 0, 0, NAN, -INFINITY, INFINITY },
    { "tanh_f32", tanh_f32, tanh, 1.5, 0, 0, 1, -INFINITY, INFINITY },
};
const int n_math_functions = sizeof math_functions / sizeof *math_functions;

/* What the last place of an f32 near `number` is worth. */
static double last_place(double number)
{
    int exponent;

    frexp(number, &exponent);
    return ldexp(1, (exponent < FLT_MIN_EXP ? FLT_MIN_EXP : exponent) - FLT_MANT_DIG);
}

static double error_of(const struct math_function *function, double want, float got)
{
    if (isnan(want))
        return isnan(got) ? 0 : INFINITY;
    if (isinf(want))
        return (double)got == want ? 0 : INFINITY;
    if (isinf(got)) /* right where `want` rounds to it */
        return fabs(want) < (double)FLT_MAX
                   ? INFINITY
                   : (fabs(want) < 0x1.ffffffp+127 ? fabs(want - 0x1p128) / last_place(FLT_MAX)
                                                   : 0);
    if (!isfinite((float)want))
        return fabs(want) < 0x1.000001p+128 ? fabs((double)got - want) / last_place(FLT_MAX)
                                            : INFINITY;
    return fabs((double)got - want) / last_place(fmax(fabs(want), function->least));
}

double math_sweep(const struct math_function *function, uint32_t step, int quick, float *at)
{
    const bool linear = quick && !isnan(function->slope);
    double worst = 0;

    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
        const uint32_t pattern = (uint32_t)bits;
        double want, error;
        float v;

        memcpy(&v, &pattern, sizeof v);
        if (v < function->from || v > function->to)
            continue;
        want = linear && fabsf(v) < 0x1p-30f ? function->at_zero + function->slope * (double)v
                                             : function->exact((double)v);
        error = error_of(function, want, function->own(v));
        if (!(error <= worst)) {
            worst = error;
            *at = v;
        }
    }
    return worst;
}
