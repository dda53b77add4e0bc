/* unary.c - operators that compute each output element from the input element at the same place.
 *
 * A row per operator: what it does to a floating-point number, and to an integer where it takes
 * some. Floats are computed in double and rounded once. NaN goes through everything that selects
 * (relu, clip, abs ...), as in NumPy, except where the definition is a comparison that NaN fails
 * (shrink, thresholded_relu: 0). */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/walk.h"

#define REAL(name, expression) \
    static double name##_real(double x, const union attrs *a) \
    { \
        (void)a; \
        return expression; \
    }
#define WHOLE(name, expression) \
    static wide name##_whole(wide x, const union attrs *a) \
    { \
        (void)a; \
        return expression; \
    }

static const double pi = 3.14159265358979323846;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* log(1 + e^x) without overflow. */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* min(max(x, low), high): the upper bound wins when they cross. */
static double clamp(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static double gelu(double x, const union attrs *a)
{
    if (strcmp(a->gelu.approximate, "tanh") == 0)
        return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
    return 0.5 * x * erfc(-x / sqrt(2)); /* 1 + erf(x) would cancel for x << 0 */
}

/* An integer bound from the attribute's double; beyond 64 bits there is no difference. */
static wide whole_bound(double bound, bool up)
{
    const double rounded = up ? ceil(bound) : floor(bound);

    return (wide)clamp(isnan(rounded) ? (up ? -INFINITY : INFINITY) : rounded, -0x1p70, 0x1p70);
}

static wide clip_whole(wide x, const union attrs *a)
{
    const wide low = whole_bound(a->clip.a_min, true), high = whole_bound(a->clip.a_max, false);

    x = x < low ? low : x;
    return x > high ? high : x;
}

REAL(abs, fabs(x))
WHOLE(abs, x < 0 ? -x : x)
REAL(acos, acos(x))
REAL(acosh, acosh(x))
REAL(asin, asin(x))
REAL(asinh, asinh(x))
REAL(atan, atan(x))
REAL(atanh, atanh(x))
WHOLE(bitwise_not, ~x)
REAL(ceil, ceil(x))
REAL(celu, x > 0 ? x : a->alpha_beta.alpha * expm1(x / a->alpha_beta.alpha))
REAL(clip, clamp(x, a->clip.a_min, a->clip.a_max))
REAL(cos, cos(x))
REAL(cosh, cosh(x))
REAL(elu, x < 0 ? a->alpha_beta.alpha * expm1(x) : x)
REAL(erf, erf(x))
REAL(exp, exp(x))
REAL(floor, floor(x))
REAL(gelu, gelu(x, a))
REAL(hard_sigmoid, clamp(a->alpha_beta.alpha * x + a->alpha_beta.beta, 0, 1))
REAL(hard_swish, x * clamp(x / 6 + 0.5, 0, 1))
REAL(leaky_relu, x < 0 ? a->alpha_beta.alpha * x : x)
REAL(log, log(x))
WHOLE(logical_not, !x)
REAL(mish, x * tanh(softplus(x)))
REAL(negative, -x)
WHOLE(negative, -x)
REAL(reciprocal, 1 / x)
REAL(relu, x < 0 ? 0 : x)
WHOLE(relu, x < 0 ? 0 : x)
REAL(round, nearbyint(x)) /* half to even */
REAL(rsqrt, 1 / sqrt(x))
REAL(selu, a->alpha_beta.beta * (x > 0 ? x : a->alpha_beta.alpha * expm1(x)))
REAL(shrink, x < -a->alpha_beta.alpha  ? x + a->alpha_beta.beta
             : x > a->alpha_beta.alpha ? x - a->alpha_beta.beta
                                       : 0)
REAL(sigmoid, sigmoid(x))
REAL(sign, x > 0 ? 1 : x < 0 ? -1 : x)
WHOLE(sign, (x > 0) - (x < 0))
REAL(silu, x * sigmoid(x))
REAL(sin, sin(x))
REAL(sinh, sinh(x))
REAL(softplus, softplus(x))
REAL(softsign, x / (1 + fabs(x)))
REAL(sqrt, sqrt(x))
REAL(tan, tan(x))
REAL(tanh, tanh(x))
REAL(thresholded_relu, x > a->alpha_beta.alpha ? x : 0)
#undef REAL
#undef WHOLE

static const struct {
    unsigned kinds; /* of element types that the operator takes */
    double (*real)(double x, const union attrs *attrs);
    wide (*whole)(wide x, const union attrs *attrs);
} rows[OP_COUNT] = {
    [OP_ABS] = { KINDS_NUMBER, abs_real, abs_whole },
    [OP_ACOS] = { KINDS_FLOAT, acos_real, NULL },
    [OP_ACOSH] = { KINDS_FLOAT, acosh_real, NULL },
    [OP_ASIN] = { KINDS_FLOAT, asin_real, NULL },
    [OP_ASINH] = { KINDS_FLOAT, asinh_real, NULL },
    [OP_ATAN] = { KINDS_FLOAT, atan_real, NULL },
    [OP_ATANH] = { KINDS_FLOAT, atanh_real, NULL },
    [OP_BITWISE_NOT] = { KINDS_INTEGER, NULL, bitwise_not_whole },
    [OP_CEIL] = { KINDS_FLOAT, ceil_real, NULL },
    [OP_CELU] = { KINDS_FLOAT, celu_real, NULL },
    [OP_CLIP] = { KINDS_NUMBER, clip_real, clip_whole },
    [OP_COPY] = { KINDS_ANY, NULL, NULL },
    [OP_COS] = { KINDS_FLOAT, cos_real, NULL },
    [OP_COSH] = { KINDS_FLOAT, cosh_real, NULL },
    [OP_ELU] = { KINDS_FLOAT, elu_real, NULL },
    [OP_ERF] = { KINDS_FLOAT, erf_real, NULL },
    [OP_EXP] = { KINDS_FLOAT, exp_real, NULL },
    [OP_FLOOR] = { KINDS_FLOAT, floor_real, NULL },
    [OP_GELU] = { KINDS_FLOAT, gelu_real, NULL },
    [OP_HARD_SIGMOID] = { KINDS_FLOAT, hard_sigmoid_real, NULL },
    [OP_HARD_SWISH] = { KINDS_FLOAT, hard_swish_real, NULL },
    [OP_LEAKY_RELU] = { KINDS_FLOAT, leaky_relu_real, NULL },
    [OP_LOG] = { KINDS_FLOAT, log_real, NULL },
    [OP_LOGICAL_NOT] = { KINDS_BOOL, NULL, logical_not_whole },
    [OP_LRN] = { KINDS_FLOAT, NULL, NULL }, /* evaluated elsewhere, typed here */
    [OP_MISH] = { KINDS_FLOAT, mish_real, NULL },
    [OP_NEGATIVE] = { KINDS_SIGNED, negative_real, negative_whole },
    [OP_RECIPROCAL] = { KINDS_FLOAT, reciprocal_real, NULL },
    [OP_RELU] = { KINDS_NUMBER, relu_real, relu_whole },
    [OP_ROUND] = { KINDS_FLOAT, round_real, NULL },
    [OP_RSQRT] = { KINDS_FLOAT, rsqrt_real, NULL },
    [OP_SELU] = { KINDS_FLOAT, selu_real, NULL },
    [OP_SHRINK] = { KINDS_FLOAT, shrink_real, NULL },
    [OP_SIGMOID] = { KINDS_FLOAT, sigmoid_real, NULL },
    [OP_SIGN] = { KINDS_NUMBER, sign_real, sign_whole },
    [OP_SILU] = { KINDS_FLOAT, silu_real, NULL },
    [OP_SIN] = { KINDS_FLOAT, sin_real, NULL },
    [OP_SINH] = { KINDS_FLOAT, sinh_real, NULL },
    [OP_SOFTPLUS] = { KINDS_FLOAT, softplus_real, NULL },
    [OP_SOFTSIGN] = { KINDS_FLOAT, softsign_real, NULL },
    [OP_SQRT] = { KINDS_FLOAT, sqrt_real, NULL },
    [OP_TAN] = { KINDS_FLOAT, tan_real, NULL },
    [OP_TANH] = { KINDS_FLOAT, tanh_real, NULL },
    [OP_THRESHOLDED_RELU] = { KINDS_FLOAT, thresholded_relu_real, NULL },
};

bool infer_same(struct ctx *ctx, struct node *node)
{
    static const char *const approximations[] = { "none", "tanh" };
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0, rows[node->op].kinds))
        return false;
    if (node->op == OP_GELU &&
        !check_word(ctx, node, "approximate", &node->attrs.gelu.approximate, approximations, 2))
        return false;
    set_output(node, 0, x->dtype, x);
    return true;
}

bool eval_unary(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const bool is_float = dtype_is_float(in[0]->type.dtype);

    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        if (is_float)
            tensor_put(out, i, rows[node->op].real(tensor_at(in[0], i), &node->attrs));
        else
            tensor_put_wide(out, i, rows[node->op].whole(tensor_wide_at(in[0], i), &node->attrs));
    return true;
}

bool eval_copy(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    (void)ctx;
    (void)node;
    memcpy(out->data, in[0]->data, type_bytes(&out->type));
    return true;
}

bool infer_predicate(struct ctx *ctx, struct node *node)
{
    if (!check_kinds(ctx, node, 0, KINDS_FLOAT))
        return false;
    set_output(node, 0, DTYPE_BOOL, input_type(node, 0));
    return true;
}

static bool predicate(const struct node *node, double x)
{
    switch (node->op) {
    case OP_ISNAN: return isnan(x);
    case OP_ISFINITE: return isfinite(x);
    default:
        return isinf(x) &&
               (x < 0 ? node->attrs.isinf.detect_negative : node->attrs.isinf.detect_positive);
    }
}

bool eval_predicate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const int64_t n = type_elements(&out->type);

    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        tensor_put_wide(out, i, predicate(node, tensor_at(in[0], i)));
    return true;
}
