/* hooks.c - what the templates of dnnl need besides captures: activations as oneDNN's algorithms,
 * weights with their group dim, paddings and dilations as oneDNN counts them. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "partition/target.h"
#include "partition/targets/quantized.h"

/* dst = algorithm(src, alpha, beta); alpha and beta as in oneDNN's eltwise primitive. */
struct activation {
    const char *algorithm;
    double alpha, beta;
};

static struct activation activation_of(const struct node *node)
{
    static const struct {
        enum op op;
        struct activation activation;
    } plain[] = {
        { OP_ABS, { "dnnl_eltwise_abs", 0, 0 } },
        { OP_EXP, { "dnnl_eltwise_exp", 0, 0 } },
        { OP_HARD_SWISH, { "dnnl_eltwise_hardswish", 0, 0 } },
        { OP_LOG, { "dnnl_eltwise_log", 0, 0 } },
        { OP_MISH, { "dnnl_eltwise_mish", 0, 0 } },
        { OP_RELU, { "dnnl_eltwise_relu", 0, 0 } },
        { OP_ROUND, { "dnnl_eltwise_round", 0, 0 } },
        { OP_SIGMOID, { "dnnl_eltwise_logistic", 0, 0 } },
        { OP_SILU, { "dnnl_eltwise_swish", 1, 0 } },
        { OP_SOFTPLUS, { "dnnl_eltwise_soft_relu", 0, 0 } },
        { OP_SQRT, { "dnnl_eltwise_sqrt", 0, 0 } },
        { OP_TANH, { "dnnl_eltwise_tanh", 0, 0 } },
    };
    const struct alpha_beta_attrs *ab = &node->attrs.alpha_beta;

    switch (node->op) {
    case OP_CLIP:
        return (struct activation){ "dnnl_eltwise_clip", node->attrs.clip.a_min,
                                    node->attrs.clip.a_max };
    case OP_ELU: return (struct activation){ "dnnl_eltwise_elu", ab->alpha, 0 };
    case OP_LEAKY_RELU: return (struct activation){ "dnnl_eltwise_relu", ab->alpha, 0 };
    case OP_GELU:
        return (struct activation){ strcmp(node->attrs.gelu.approximate, "tanh") == 0
                                        ? "dnnl_eltwise_gelu_tanh"
                                        : "dnnl_eltwise_gelu_erf",
                                    0, 0 };
    default: break;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].op == node->op)
            return plain[i].activation;
    return (struct activation){ NULL, 0, 0 };
}

static const char *float_literal(struct arena *arena, double number)
{
    if (isinf(number))
        return number < 0 ? "-INFINITY" : "INFINITY";
    return arena_printf(arena, "%aF", (double)(float)number);
}

/* Keys act_algorithm, act_alpha, act_beta; act_first where the residual is added behind it. */
static void lower_activation(const struct match *match, struct lowering *lowering)
{
    bool after = false; /* behind the sum */

    lowering_text(lowering, "act_first", "%s", "");
    lowering_text(lowering, "act_last", "%s", "");
    for (int i = 0; i < match->n_nodes; i++) {
        const struct activation activation = activation_of(match->nodes[i]);

        after = after || match->nodes[i]->op == OP_ADD;
        if (!activation.algorithm)
            continue;
        lowering_text(lowering, "act_algorithm", "%s", activation.algorithm);
        lowering_text(lowering, "act_alpha", "%s",
                      float_literal(lowering->arena, activation.alpha));
        lowering_text(lowering, "act_beta", "%s", float_literal(lowering->arena, activation.beta));
        lowering_text(lowering,
                      match_capture(match, "residual") && !after ? "act_first" : "act_last", "1");
    }
}

static const char *list(struct arena *arena, const int64_t *numbers, int n)
{
    struct str out = { .arena = arena };

    for (int i = 0; i < n; i++)
        str_printf(&out, "%s%lld", i ? ", " : "", (long long)numbers[i]);
    return str_text(&out);
}

/* oneDNN counts the gaps of a dilation. */
static void lower_dilation(struct lowering *lowering, const struct ints *dilation)
{
    int64_t gaps[MAX_INTS];

    for (int i = 0; i < dilation->n; i++)
        gaps[i] = dilation->at[i] - 1;
    lowering_text(lowering, "dilation", "%s", list(lowering->arena, gaps, dilation->n));
}

static void lower_padding(struct lowering *lowering, const int64_t *begin, const int64_t *end,
                          int n)
{
    lowering_text(lowering, "padding_begin", "%s", list(lowering->arena, begin, n));
    lowering_text(lowering, "padding_end", "%s", list(lowering->arena, end, n));
}

/* Weights as [groups,] outer, inner, spatial, in the order in which they lie. */
static void lower_weights(struct lowering *lowering, const struct type *w, int64_t groups)
{
    int64_t dims[MAX_RANK + 1] = { groups, w->dim[0] / groups };

    for (int i = 1; i < w->rank; i++)
        dims[1 + i] = w->dim[i];
    lowering_text(lowering, "w_dims", "%s",
                  groups > 1 ? list(lowering->arena, dims, w->rank + 1)
                             : list(lowering->arena, w->dim, w->rank));
}

static void lower_conv(const struct match *match, const struct node *conv,
                       struct lowering *lowering)
{
    const struct type *w = &match_capture(match, "w")->value->type;
    const int n = w->rank - 2;
    const struct conv_attrs *a = &conv->attrs.conv;

    lowering_text(lowering, "kind", "conv");
    lower_weights(lowering, w, a->groups);
    lower_dilation(lowering, &a->dilation);
    lower_padding(lowering, a->padding.at, &a->padding.at[n], n);
}

/* What output_padding adds, the transposed convolution's end padding loses. */
static void lower_deconv(const struct match *match, const struct node *conv,
                         struct lowering *lowering)
{
    const struct type *w = &match_capture(match, "w")->value->type;
    const int n = w->rank - 2;
    const struct conv_transpose_attrs *a = &conv->attrs.conv_transpose;
    int64_t end[MAX_RANK];

    lowering_text(lowering, "kind", "deconv");
    lower_weights(lowering, w, a->groups);
    lower_dilation(lowering, &a->dilation);
    for (int i = 0; i < n; i++)
        end[i] = a->padding.at[n + i] - (i < a->output_padding.n ? a->output_padding.at[i] : 0);
    lower_padding(lowering, a->padding.at, end, n);
}

/* Where the last window reaches beyond the declared padding (ceil_mode), oneDNN is told so. */
static void lower_pool(const struct node *pool, struct lowering *lowering)
{
    const struct type *x = &pool->inputs[0]->type, *y = &pool->outputs[0]->type;
    const struct pool_attrs *a = &pool->attrs.pool;
    const int n = x->rank - 2;
    int64_t end[MAX_RANK];

    for (int i = 0; i < n; i++) {
        const int64_t reach = (y->dim[2 + i] - 1) * a->strides.at[i] +
                              (a->pool_size.at[i] - 1) * a->dilation.at[i] + 1 - a->padding.at[i] -
                              x->dim[2 + i];

        end[i] = reach > a->padding.at[n + i] ? reach : a->padding.at[n + i];
    }
    lower_dilation(lowering, &a->dilation);
    lower_padding(lowering, a->padding.at, end, n);
}

/* --- int8 ------------------------------------------------------------------------------------- */

/* A dense layer is a convolution of single pixels. */
static void lower_qnn(const struct match *match, struct lowering *lowering)
{
    const struct node *acc = match_capture(match, "acc")->node;
    const struct type *x = &acc->inputs[0]->type, *w = &acc->inputs[1]->type;
    const struct type *y = &acc->outputs[0]->type;
    const bool is_dense = acc->op == OP_QNN_DENSE;
    const int n = is_dense ? 1 : x->rank - 2;
    const struct type *const types[] = { x, w, y };
    static const char *const names[] = { "x_dims", "w_dims", "y_dims" };
    static const int64_t zero[1] = { 0 };

    lower_requantize(match, y->dim[1], lowering);
    lowering_int(lowering, "out_zero", captured_zero(match, "oz"));
    lowering_int(lowering, "x_zero", captured_zero(match, "xz"));
    lowering_int(lowering, "n", n);
    lowering_int(lowering, "outer", y->dim[0]);
    lowering_int(lowering, "channels", y->dim[1]);
    lowering_int(lowering, "inner", type_span(y, 2, y->rank));
    lowering_int(lowering, "is_signed", match->root->outputs[0]->type.dtype == DTYPE_I8);
    lowering_text(lowering, "x_type", x->dtype == DTYPE_I8 ? "dnnl_s8" : "dnnl_u8");
    for (int i = 0; i < 3; i++) {
        int64_t dims[MAX_RANK] = { types[i]->dim[0], types[i]->dim[1], 1 };

        if (!is_dense)
            memcpy(dims, types[i]->dim, sizeof dims);
        lowering_text(lowering, names[i], "%s", list(lowering->arena, dims, n + 2));
    }
    if (is_dense) {
        lowering_int(lowering, "groups", 1);
        lowering_text(lowering, "strides", "1");
        lowering_text(lowering, "dilation", "0");
        lower_padding(lowering, zero, zero, 1);
        return;
    }
    lowering_int(lowering, "groups", acc->attrs.conv.groups);
    lowering_text(lowering, "strides", "%s", list(lowering->arena, acc->attrs.conv.strides.at, n));
    lower_dilation(lowering, &acc->attrs.conv.dilation);
    lower_padding(lowering, acc->attrs.conv.padding.at, &acc->attrs.conv.padding.at[n], n);
    lower_weights(lowering, w, acc->attrs.conv.groups);
}

static bool lower(const struct composite_row *row, const struct match *match,
                  struct lowering *lowering)
{
    const struct node *anchor = match->nodes[0];

    (void)row;
    lower_activation(match, lowering);
    if (anchor->op == OP_RESHAPE) /* of a dense layer's input */
        anchor = match->nodes[1];
    switch (anchor->op) {
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_DENSE: lower_qnn(match, lowering); break;
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D: lower_conv(match, anchor, lowering); break;
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE: lower_deconv(match, anchor, lowering); break;
    case OP_DENSE: {
        const struct type *x = &anchor->inputs[0]->type;

        lowering_int(lowering, "rows", type_span(x, 0, x->rank - 1));
        break;
    }
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_MAX_POOL1D:
    case OP_MAX_POOL2D:
    case OP_MAX_POOL3D: lower_pool(anchor, lowering); break;
    default: break;
    }
    return true;
}

const struct target_hooks dnnl_hooks;
const struct target_hooks dnnl_hooks = { .target = "dnnl", .lower = lower };
