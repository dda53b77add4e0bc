/* convert_causal_conv.c - CausalConvWithState: a depthwise convolution along time that sees what
 * came before, which the caller keeps from call to call (streaming audio, state space models).
 *
 * x behind the state (zeros where none is given) is convolved as it is; its last numbers are the
 * next state. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

enum { X, WEIGHT, BIAS, PAST }; /* inputs */

static bool check_shapes(struct onnx_node *node)
{
    const struct type *x = &onnx_input(node, X)->type, *w = &onnx_input(node, WEIGHT)->type;
    const struct value *bias = onnx_input(node, BIAS), *past = onnx_input(node, PAST);

    if (w->dim[0] != x->dim[1] || w->dim[1] != 1 || w->dim[2] < 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "weight has shape %s, wanted %lldx1 and a kernel",
                          shape_text(&node->ctx->perm, w), (long long)x->dim[1]);
    if (bias && bias->type.dim[0] != x->dim[1])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "bias has shape %s, wanted %lld",
                          shape_text(&node->ctx->perm, &bias->type), (long long)x->dim[1]);
    if (past && (past->type.dim[0] != x->dim[0] || past->type.dim[1] != x->dim[1] ||
                 past->type.dim[2] != w->dim[2] - 1))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "past_state has shape %s, wanted %lldx%lldx%lld",
                          shape_text(&node->ctx->perm, &past->type), (long long)x->dim[0],
                          (long long)x->dim[1], (long long)(w->dim[2] - 1));
    return true;
}

/* x behind what came before: k - 1 numbers of each channel. */
static struct value *with_past(struct onnx_node *node, int64_t n_past)
{
    struct value *const x = onnx_input(node, X), *past = onnx_input(node, PAST);
    const union attrs zeros = { .pad = { .pad_before = { 3, { 0, 0, n_past } },
                                         .pad_after = ints_fill(3, 0),
                                         .mode = "constant" } };

    if (n_past == 0)
        return x;
    return past ? concat_with(node, 2, past, x, "all")
                : onnx_build1(node, OP_PAD, &zeros, "all", x);
}

static bool output_state(struct onnx_node *node, struct value *all, int64_t n_past)
{
    const union attrs last = {
        .slice = { .begin = { 3, { 0, 0, all->type.dim[2] - n_past } },
                   .strides = ints_fill(3, 1),
                   .size = { 3, { all->type.dim[0], all->type.dim[1], n_past } } }
    };

    return !wants_output(node, 1) ||
           onnx_output(node, 1, onnx_build1(node, OP_STRIDED_SLICE, &last, "state", all));
}

bool convert_causal_conv(struct onnx_node *node)
{
    static const union attrs channel = { .axis = { .axis = 1 } };
    union attrs attrs = { .conv = { .strides = ints_fill(1, 1),
                                    .padding = ints_fill(2, 0),
                                    .dilation = ints_fill(1, 1),
                                    .data_layout = window_layout(1, false, false),
                                    .kernel_layout = window_layout(1, true, false) } };
    const char *activation = onnx_word(node, "activation", "none");
    const bool silu = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    struct value *all, *y;
    int64_t n_past;

    if (!onnx_check_inputs(node, 2, 4) || !onnx_check_kind(node, X, TAKES_FLOAT) ||
        !onnx_check_rank(node, X, 3, 3) || !onnx_check_rank(node, WEIGHT, 3, 3) ||
        !onnx_check_rank(node, BIAS, 1, 1) || !onnx_check_rank(node, PAST, 3, 3) ||
        !onnx_ok(node) || !check_shapes(node))
        return false;
    if (!silu && strcmp(activation, "none") != 0)
        return bad_attribute(node, "attribute activation is none of none, silu and swish");
    n_past = onnx_input(node, WEIGHT)->type.dim[2] - 1;
    attrs.conv.groups = onnx_input(node, X)->type.dim[1];
    all = with_past(node, n_past);
    if (!all || !output_state(node, all, n_past))
        return false;
    y = onnx_build2(node, OP_CONV1D, &attrs, onnx_input(node, BIAS) || silu ? "conv" : "", all,
                    onnx_input(node, WEIGHT));
    if (y && onnx_input(node, BIAS))
        y = onnx_build2(node, OP_BIAS_ADD, &channel, silu ? "biased" : "", y,
                        onnx_input(node, BIAS));
    return onnx_output(node, 0, silu ? apply1(node, OP_SILU, "", y) : y);
}
