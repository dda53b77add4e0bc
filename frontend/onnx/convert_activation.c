/* convert_activation.c - activation functions with parameters, and the fused ones of com.microsoft.
 */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* The names and defaults of the two numbers of an activation. NULL = it has no such number. The
 * defaults are f32 numbers, as they would be in the file. */
struct parameters {
    const char *alpha, *beta;
    float alpha_missing, beta_missing;
};

static const struct parameters parameters[OP_COUNT] = {
    [OP_CELU] = { "alpha", NULL, 1.0F, 0.0F },
    [OP_ELU] = { "alpha", NULL, 1.0F, 0.0F },
    [OP_HARD_SIGMOID] = { "alpha", "beta", 0.2F, 0.5F },
    [OP_LEAKY_RELU] = { "alpha", NULL, 0.01F, 0.0F },
    [OP_SELU] = { "alpha", "gamma", 1.67326319217681884765625F, 1.05070102214813232421875F },
    [OP_SHRINK] = { "lambd", "bias", 0.5F, 0.0F },
    [OP_THRESHOLDED_RELU] = { "alpha", NULL, 1.0F, 0.0F },
};

bool convert_activation(struct onnx_node *node)
{
    const struct parameters *names = &parameters[node->arg];
    union attrs attrs = { .alpha_beta = { 0 } };

    if (!onnx_check_inputs(node, 1, 1) ||
        !onnx_check_kind(node, 0, node->arg == OP_SHRINK ? TAKES_NUMBER : TAKES_FLOAT))
        return false;
    if (names->alpha)
        attrs.alpha_beta.alpha = onnx_real(node, names->alpha, (double)names->alpha_missing);
    if (names->beta)
        attrs.alpha_beta.beta = onnx_real(node, names->beta, (double)names->beta_missing);
    if (!onnx_ok(node))
        return false;
    if (node->arg == OP_CELU && attrs.alpha_beta.alpha == 0)
        return bad_attribute(node, "attribute alpha is 0, Celu divides by it");
    return onnx_output(node, 0,
                       onnx_build1(node, (enum op)node->arg, &attrs, "", onnx_input(node, 0)));
}

bool convert_is_inf(struct onnx_node *node)
{
    union attrs attrs = { .isinf = { .detect_negative = onnx_int(node, "detect_negative", 1) != 0,
                                     .detect_positive =
                                         onnx_int(node, "detect_positive", 1) != 0 } };

    return onnx_check_inputs(node, 1, 1) && onnx_check_kind(node, 0, TAKES_FLOAT) &&
           onnx_ok(node) &&
           onnx_output(node, 0, onnx_build1(node, OP_ISINF, &attrs, "", onnx_input(node, 0)));
}

bool convert_gelu(struct onnx_node *node)
{
    const char *approximate = onnx_word(node, "approximate", "none");
    union attrs attrs = { .gelu = { "none" } };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_ok(node))
        return false;
    if (strcmp(approximate, "tanh") == 0)
        attrs.gelu.approximate = "tanh";
    else if (strcmp(approximate, "none") != 0)
        return bad_attribute(node, "attribute approximate is neither none nor tanh");
    return onnx_output(node, 0, onnx_build1(node, OP_GELU, &attrs, "", onnx_input(node, 0)));
}

/* com.microsoft BiasGelu (the exact one, arg 0) and FastGelu (by tanh, arg 1; the bias may be
 * absent). */
bool convert_bias_gelu(struct onnx_node *node)
{
    const union attrs attrs = { .gelu = { node->arg ? "tanh" : "none" } };
    struct value *x = onnx_input(node, 0), *bias = onnx_input(node, 1);

    if (!onnx_check_inputs(node, node->arg ? 1 : 2, 2) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    if (bias)
        x = apply2(node, OP_ADD, "biased", x, bias);
    return x && onnx_output(node, 0, onnx_build1(node, OP_GELU, &attrs, "", x));
}

static struct value *swish(struct onnx_node *node, double alpha, const char *suffix)
{
    struct value *x = onnx_input(node, 0), *scaled;

    if (alpha == 1)
        return apply1(node, OP_SILU, suffix, x);
    scaled = apply2(node, OP_MULTIPLY, "scaled", x, scalar_like(node, x, alpha, "alpha"));
    return apply2(node, OP_MULTIPLY, suffix, x, apply1(node, OP_SIGMOID, "gate", scaled));
}

/* x * sigmoid(alpha * x): Swish, and com.microsoft's QuickGelu; times input 1 of SwiGLU (arg 1). */
bool convert_swish(struct onnx_node *node)
{
    const bool quick = strcmp(node->op_type, "QuickGelu") == 0;
    const double alpha = onnx_real(node, "alpha", quick ? (double)1.702F : 1);
    const int n = node->arg ? 2 : 1;

    if (!onnx_check_inputs(node, n, n) || !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_ok(node))
        return false;
    if (n == 1)
        return onnx_output(node, 0, swish(node, alpha, ""));
    return onnx_output(
        node, 0, apply2(node, OP_MULTIPLY, "", swish(node, alpha, "swish"), onnx_input(node, 1)));
}
