/* convert_fused.c - what ONNX Runtime's optimiser writes in place of several operators: FusedConv,
 * FusedMatMul, FusedGemm, and operators whose channels are last. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/convert_product.h"

/* --- activations ------------------------------------------------------------------------------ */

/* The activation called `name`, with its numbers; other names are an error. */
static struct value *activated(struct onnx_node *node, struct value *x, const char *name,
                               const double numbers[2])
{
    static const struct {
        const char *name;
        enum op op;
    } simple[] = { { "Relu", OP_RELU }, { "Sigmoid", OP_SIGMOID }, { "Tanh", OP_TANH } };
    const union attrs two = { .alpha_beta = { .alpha = numbers[0], .beta = numbers[1] } };
    const union attrs bounds = { .clip = { .a_min = numbers[0], .a_max = numbers[1] } };

    if (!x)
        return NULL;
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (strcmp(simple[i].name, name) == 0)
            return apply1(node, simple[i].op, "", x);
    if (strcmp(name, "LeakyRelu") == 0)
        return onnx_build1(node, OP_LEAKY_RELU, &two, "", x);
    if (strcmp(name, "HardSigmoid") == 0)
        return onnx_build1(node, OP_HARD_SIGMOID, &two, "", x);
    if (strcmp(name, "Clip") == 0)
        return onnx_build1(node, OP_CLIP, &bounds, "", x);
    onnx_unsupported(
        node, "activation %s is not one of Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid, Clip",
        str_safe(&node->ctx->perm, name, 60));
    return NULL;
}

static int n_numbers(const char *name)
{
    if (strcmp(name, "LeakyRelu") == 0)
        return 1;
    return strcmp(name, "HardSigmoid") == 0 || strcmp(name, "Clip") == 0 ? 2 : 0;
}

/* Conv, plus the tensor of input 3, then an activation. */
bool convert_fused_conv(struct onnx_node *node)
{
    const char *name = onnx_word(node, "activation", "");
    const struct reals params = onnx_reals(node, "activation_params");
    struct value *const operands[] = { onnx_input(node, 0), onnx_input(node, 1),
                                       onnx_input(node, 2) };
    struct value *sum = onnx_input(node, 3), *y;
    double numbers[2] = { 0 };

    if (!onnx_check_inputs(node, 2, 4) || !onnx_ok(node))
        return false;
    if (params.n < n_numbers(name) || params.n > 8)
        return bad_attribute(node, "attribute activation_params has %d numbers, %s takes %d",
                             params.n, str_safe(&node->ctx->perm, name, 60), n_numbers(name));
    for (int i = 0; i < 2 && i < params.n; i++)
        numbers[i] = params.at[i];
    y = onnx_inner(node, convert_conv, 0, 11, 3, operands, sum || *name ? "fused" : "");
    if (sum)
        y = apply2(node, OP_ADD, *name ? "sum" : "", y, sum);
    return onnx_output(node, 0, *name ? activated(node, y, name, numbers) : y);
}

/* Gemm, then an activation. */
bool convert_fused_gemm(struct onnx_node *node)
{
    const char *name = onnx_word(node, "activation", "");
    const bool leaky = strcmp(name, "LeakyRelu") == 0;
    const double numbers[2] = { onnx_real(node, "activation_alpha",
                                          leaky ? (double)0.01F : (double)0.2F),
                                onnx_real(node, "activation_beta", 0.5) };
    struct value *const operands[] = { onnx_input(node, 0), onnx_input(node, 1),
                                       onnx_input(node, 2) };
    struct value *y;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_ok(node))
        return false;
    y = onnx_inner(node, convert_gemm, 0, 13, 3, operands, *name ? "fused" : "");
    return onnx_output(node, 0, *name ? activated(node, y, name, numbers) : y);
}

/* --- FusedMatMul ------------------------------------------------------------------------------ */

/* transBatch: the first dim is that of the rows, and those behind it count matrices. */
static struct value *arranged(struct onnx_node *node, struct value *x, bool batch, bool turns,
                              const char *suffix)
{
    const int rank = x->type.rank;
    struct ints axes = { .n = rank };

    if (rank < 2 || (!batch && !turns))
        return x;
    for (int i = 0; i < rank; i++)
        axes.at[i] = i;
    if (batch) {
        for (int i = 0; i < rank - 2; i++)
            axes.at[i] = i + 1;
        axes.at[rank - 2] = 0;
    }
    if (turns) {
        const int64_t row = axes.at[rank - 2];

        axes.at[rank - 2] = axes.at[rank - 1];
        axes.at[rank - 1] = row;
    }
    return transpose_to(node, x, &axes, suffix);
}

/* alpha * A * B, with either transposed (also called TransposeMatMul). */
bool convert_fused_matmul(struct onnx_node *node)
{
    const double alpha = onnx_real(node, "alpha", 1);
    struct value *operands[] = { onnx_input(node, 0), onnx_input(node, 1) }, *y;
    bool scales; /* the product, where no constant can take alpha */

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    operands[0] = arranged(node, operands[0], onnx_int(node, "transBatchA", 0) != 0,
                           onnx_int(node, "transA", 0) != 0, "a");
    operands[1] = arranged(node, operands[1], onnx_int(node, "transBatchB", 0) != 0,
                           onnx_int(node, "transB", 0) != 0, "b");
    if (!operands[0] || !operands[1] || !onnx_ok(node))
        return false;
    scales = alpha != 1 && !is_static(operands[1]);
    if (alpha != 1 && !scales)
        operands[1] = apply2(node, OP_MULTIPLY, "scaled", operands[1],
                             scalar_like(node, operands[1], alpha, "alpha"));
    if (!operands[0] || !operands[1])
        return false;
    y = onnx_inner(node, convert_matmul, 0, 13, 2, operands, scales ? "product" : "");
    if (scales)
        y = apply2(node, OP_MULTIPLY, "", y, scalar_like(node, y, alpha, "alpha"));
    return onnx_output(node, 0, y);
}

/* --- channels last ---------------------------------------------------------------------------- */

struct value *channels_first(struct onnx_node *node, struct value *x)
{
    struct ints axes = { .n = x->type.rank };

    axes.at[1] = x->type.rank - 1;
    for (int i = 2; i < x->type.rank; i++)
        axes.at[i] = i - 1;
    return x->type.rank < 3 ? x : transpose_to(node, x, &axes, "first");
}

struct value *channels_last(struct onnx_node *node, struct value *x, const char *suffix)
{
    struct ints axes = { .n = x ? x->type.rank : 0 };

    if (!x)
        return NULL;
    for (int i = 1; i < x->type.rank - 1; i++)
        axes.at[i] = i + 1;
    axes.at[x->type.rank - 1] = 1;
    return x->type.rank < 3 ? x : transpose_to(node, x, &axes, suffix);
}

bool convert_nhwc_max_pool(struct onnx_node *node)
{
    struct value *x;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 3, MAX_RANK))
        return false;
    x = channels_first(node, onnx_input(node, 0));
    return x &&
           onnx_output(
               node, 0,
               channels_last(node, onnx_inner(node, convert_max_pool, 0, 12, 1, &x, "pool"), ""));
}

/* Conv, or FusedConv (`arg`), of data that have their channels last; weights do not. */
bool convert_nhwc_conv(struct onnx_node *node)
{
    struct value *inputs[4], *y;

    if (!onnx_check_inputs(node, 2, node->arg ? 4 : 3) || !onnx_check_rank(node, 0, 3, MAX_RANK))
        return false;
    for (int i = 0; i < 4; i++)
        inputs[i] = onnx_input(node, i);
    inputs[0] = channels_first(node, inputs[0]);
    if (inputs[3])
        inputs[3] = channels_first(node, inputs[3]);
    if (!inputs[0] || !onnx_ok(node))
        return false;
    y = onnx_inner(node, node->arg ? convert_fused_conv : convert_conv, 0, 11, 4, inputs, "conv");
    return onnx_output(node, 0, channels_last(node, y, ""));
}

/* An extent of 1, where input 1 says. */
bool convert_expand_dims(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    struct ints at, shape = { 0 };
    int axis;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_rank(node, 0, 0, MAX_RANK - 1) ||
        !onnx_constant_ints(node, 1, &at))
        return false;
    if (at.n != 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "%d axes are given, wanted 1", at.n);
    axis = normal_axis(node, at.at[0], x->type.rank + 1);
    for (int d = 0; d <= x->type.rank && axis >= 0; d++)
        shape.at[shape.n++] = d == axis ? 1 : x->type.dim[d < axis ? d : d - 1];
    return axis >= 0 && onnx_output(node, 0, reshape_to(node, node->inputs[0], &shape, ""));
}

/* As that of ai.onnx; with channels_last=1 data, not weights, have their channels last. */
bool convert_qlinear_conv_any(struct onnx_node *node)
{
    struct value *inputs[9];

    if (onnx_int(node, "channels_last", 0) == 0)
        return convert_qlinear_conv(node);
    if (!onnx_check_inputs(node, 8, 9) || !onnx_check_rank(node, 0, 3, MAX_RANK))
        return false;
    for (int i = 0; i < 9; i++)
        inputs[i] = onnx_input(node, i);
    inputs[0] = channels_first(node, inputs[0]);
    return inputs[0] &&
           onnx_output(
               node, 0,
               channels_last(node, onnx_inner(node, convert_qlinear_conv, 0, 10, 9, inputs, "conv"),
                             ""));
}
