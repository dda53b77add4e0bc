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
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

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

static wide whole_clip(wide x, const union attrs *a)
{
    const wide low = whole_bound(a->clip.a_min, true), high = whole_bound(a->clip.a_max, false);

    x = x < low ? low : x;
    return x > high ? high : x;
}

static double hard_swish(double x)
{
    return x * clamp(x / 6 + 0.5, 0, 1);
}

static double mish(double x)
{
    return x * tanh(softplus(x));
}

static double negative(double x)
{
    return -x;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double relu(double x)
{
    return x < 0 ? 0 : x;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static double silu(double x)
{
    return x * sigmoid(x);
}

static double softsign(double x)
{
    return x / (1 + fabs(x));
}

static double celu(double x, const union attrs *a)
{
    return x > 0 ? x : a->alpha_beta.alpha * expm1(x / a->alpha_beta.alpha);
}

static double clip(double x, const union attrs *a)
{
    return clamp(x, a->clip.a_min, a->clip.a_max);
}

static double elu(double x, const union attrs *a)
{
    return x < 0 ? a->alpha_beta.alpha * expm1(x) : x;
}

static double hard_sigmoid(double x, const union attrs *a)
{
    return clamp(a->alpha_beta.alpha * x + a->alpha_beta.beta, 0, 1);
}

static double leaky_relu(double x, const union attrs *a)
{
    return x < 0 ? a->alpha_beta.alpha * x : x;
}

static double selu(double x, const union attrs *a)
{
    return a->alpha_beta.beta * (x > 0 ? x : a->alpha_beta.alpha * expm1(x));
}

static double shrink(double x, const union attrs *a)
{
    return x < -a->alpha_beta.alpha  ? x + a->alpha_beta.beta
           : x > a->alpha_beta.alpha ? x - a->alpha_beta.beta
                                     : 0;
}

static double thresholded_relu(double x, const union attrs *a)
{
    return x > a->alpha_beta.alpha ? x : 0;
}

/* In double: lambd and bias need not be whole; the result is truncated. */
static wide whole_shrink(wide x, const union attrs *a)
{
    return (wide)clamp(shrink((double)x, a), -0x1p70, 0x1p70);
}

static wide whole_abs(wide x)
{
    return x < 0 ? -x : x;
}

static wide whole_negative(wide x)
{
    return -x;
}

static wide whole_not(wide x)
{
    return ~x;
}

static wide whole_relu(wide x)
{
    return x < 0 ? 0 : x;
}

static wide whole_sign(wide x)
{
    return (x > 0) - (x < 0);
}

static wide logical_not(wide x)
{
    return !x;
}

/* One of real and real_with evaluates floats, one of whole and whole_with integers and bool. */
static const struct unary_row {
    unsigned kinds; /* of element types that the operator takes */
    double (*real)(double x);
    wide (*whole)(wide x);
    double (*real_with)(double x, const union attrs *attrs);
    wide (*whole_with)(wide x, const union attrs *attrs);
} rows[OP_COUNT] = {
    [OP_ABS] = { KINDS_NUMBER, .real = fabs, .whole = whole_abs },
    [OP_ACOS] = { KINDS_FLOAT, .real = acos },
    [OP_ACOSH] = { KINDS_FLOAT, .real = acosh },
    [OP_ASIN] = { KINDS_FLOAT, .real = asin },
    [OP_ASINH] = { KINDS_FLOAT, .real = asinh },
    [OP_ATAN] = { KINDS_FLOAT, .real = atan },
    [OP_ATANH] = { KINDS_FLOAT, .real = atanh },
    [OP_BITWISE_NOT] = { KINDS_INTEGER, .whole = whole_not },
    [OP_CEIL] = { KINDS_FLOAT, .real = ceil },
    [OP_CELU] = { KINDS_FLOAT, .real_with = celu },
    [OP_CLIP] = { KINDS_NUMBER, .real_with = clip, .whole_with = whole_clip },
    [OP_COPY] = { .kinds = KINDS_STORED }, /* bits: eval_copy */
    [OP_COS] = { KINDS_FLOAT, .real = cos },
    [OP_COSH] = { KINDS_FLOAT, .real = cosh },
    [OP_ELU] = { KINDS_FLOAT, .real_with = elu },
    [OP_ERF] = { KINDS_FLOAT, .real = erf },
    [OP_EXP] = { KINDS_FLOAT, .real = exp },
    [OP_FLOOR] = { KINDS_FLOAT, .real = floor },
    [OP_GELU] = { KINDS_FLOAT, .real_with = gelu },
    [OP_HARD_SIGMOID] = { KINDS_FLOAT, .real_with = hard_sigmoid },
    [OP_HARD_SWISH] = { KINDS_FLOAT, .real = hard_swish },
    [OP_LEAKY_RELU] = { KINDS_FLOAT, .real_with = leaky_relu },
    [OP_LOG] = { KINDS_FLOAT, .real = log },
    [OP_LOGICAL_NOT] = { KINDS_BOOL, .whole = logical_not },
    [OP_LRN] = { .kinds = KINDS_FLOAT }, /* typed here, evaluated elsewhere */
    [OP_MISH] = { KINDS_FLOAT, .real = mish },
    [OP_NEGATIVE] = { KINDS_SIGNED, .real = negative, .whole = whole_negative },
    [OP_RECIPROCAL] = { KINDS_FLOAT, .real = reciprocal },
    [OP_RELU] = { KINDS_NUMBER, .real = relu, .whole = whole_relu },
    [OP_ROUND] = { KINDS_FLOAT, .real = nearbyint }, /* half to even */
    [OP_RSQRT] = { KINDS_FLOAT, .real = rsqrt },
    [OP_SELU] = { KINDS_FLOAT, .real_with = selu },
    [OP_SHRINK] = { KINDS_NUMBER, .real_with = shrink, .whole_with = whole_shrink },
    [OP_SIGMOID] = { KINDS_FLOAT, .real = sigmoid },
    [OP_SIGN] = { KINDS_NUMBER, .real = sign, .whole = whole_sign },
    [OP_SILU] = { KINDS_FLOAT, .real = silu },
    [OP_SIN] = { KINDS_FLOAT, .real = sin },
    [OP_SINH] = { KINDS_FLOAT, .real = sinh },
    [OP_SOFTPLUS] = { KINDS_FLOAT, .real = softplus },
    [OP_SOFTSIGN] = { KINDS_FLOAT, .real = softsign },
    [OP_SQRT] = { KINDS_FLOAT, .real = sqrt },
    [OP_TAN] = { KINDS_FLOAT, .real = tan },
    [OP_TANH] = { KINDS_FLOAT, .real = tanh },
    [OP_THRESHOLDED_RELU] = { KINDS_FLOAT, .real_with = thresholded_relu },
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
    if (node->op == OP_COPY || node->op == OP_RELU || node->op == OP_CLIP)
        pass_scales_in_place(node, 0, 0);
    return true;
}

bool eval_unary(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const union attrs *attrs = &node->attrs;
    const struct unary_row *row = &rows[node->op];

    (void)ctx;
    if (dtype_is_float(out->type.dtype))
        for (int64_t i = 0; i < n; i++) {
            const double x = tensor_at(in[0], i);

            tensor_put(out, i, row->real ? row->real(x) : row->real_with(x, attrs));
        }
    else
        for (int64_t i = 0; i < n; i++) {
            const wide x = tensor_wide_at(in[0], i);

            tensor_put_wide(out, i, row->whole ? row->whole(x) : row->whole_with(x, attrs));
        }
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
