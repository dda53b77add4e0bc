/* convert_loss.c - NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, as a selection along the
 * classes, weights and a reduction. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

struct loss {
    struct onnx_node *node;
    struct value *scores, *labels, *weights; /* scores [N, C, ...], labels [N, ...], weights [C] */
    struct value *ignored;                   /* where labels do not count; NULL = nowhere */
};

static bool check_shapes(struct loss *loss)
{
    const struct type *x = &loss->scores->type, *y = &loss->labels->type;
    bool fits = x->rank >= 2 && y->rank == x->rank - 1 && x->dim[0] == y->dim[0];

    for (int i = 1; fits && i < y->rank; i++)
        fits = x->dim[i + 1] == y->dim[i];
    if (fits && (!loss->weights ||
                 (loss->weights->type.rank == 1 && loss->weights->type.dim[0] == x->dim[1])))
        return true;
    return diag_error(
        loss->node->ctx, DIAG_SHAPE, loss->node->origin,
        "scores %s, labels %s%s%s do not fit together", shape_text(&loss->node->ctx->perm, x),
        shape_text(&loss->node->ctx->perm, y), loss->weights ? ", weights " : "",
        loss->weights ? shape_text(&loss->node->ctx->perm, &loss->weights->type) : "");
}

/* Labels that are ignored name class 0, and are masked later. */
static bool find_ignored(struct loss *loss)
{
    struct onnx_node *node = loss->node;
    struct value *inputs[3];

    loss->labels = cast_to(node, loss->labels, DTYPE_I64, "labels");
    if (!loss->labels || !onnx_has(node, "ignore_index"))
        return loss->labels != NULL;
    loss->ignored =
        apply2(node, OP_EQUAL, "ignored", loss->labels,
               onnx_scalar(node, DTYPE_I64, (double)onnx_int(node, "ignore_index", 0), "index"));
    inputs[0] = loss->ignored;
    inputs[1] = onnx_scalar(node, DTYPE_I64, 0, "first");
    inputs[2] = loss->labels;
    if (!inputs[0] || !inputs[1])
        return false;
    loss->labels = onnx_build(node, OP_WHERE, NULL, "counted", 3, inputs);
    return loss->labels != NULL;
}

static struct value *unless_ignored(struct loss *loss, struct value *x, const char *suffix)
{
    struct value *inputs[] = { loss->ignored, scalar_like(loss->node, x, 0, "nothing"), x };

    if (!x || !loss->ignored)
        return x;
    return inputs[1] ? onnx_build(loss->node, OP_WHERE, NULL, suffix, 3, inputs) : NULL;
}

/* The weight of each label; NULL without weights where none is ignored. *ok: no error. */
static struct value *weights_of(struct loss *loss, bool *ok)
{
    static const union attrs rows = { .axis = { .axis = 0 } };
    struct onnx_node *node = loss->node;
    const struct ints shape = ints_of_shape(&loss->labels->type);
    struct value *w = NULL;

    *ok = true;
    if (!loss->weights && !loss->ignored)
        return NULL;
    w = loss->weights ? onnx_build2(node, OP_TAKE, &rows, "weight", loss->weights, loss->labels)
                      : full_of(node, loss->scores->type.dtype, 1, &shape, "ones");
    w = unless_ignored(loss, w, "weights");
    *ok = w != NULL;
    return w;
}

/* Minus the score of each label, [N, ...]. */
static struct value *selected(struct loss *loss)
{
    static const union attrs classes = { .axis = { .axis = 1 } };
    struct onnx_node *node = loss->node;
    struct ints shape = ints_of_shape(&loss->scores->type);
    const struct ints flat = ints_of_shape(&loss->labels->type);
    struct value *y;

    shape.at[1] = 1;
    y = reshape_to(node, loss->labels, &shape, "index");
    y = y ? onnx_build2(node, OP_GATHER, &classes, "chosen", loss->scores, y) : NULL;
    y = reshape_to(node, y, &flat, "of_label");
    return apply1(node, OP_NEGATIVE, "negative", y);
}

static struct value *reduced(struct loss *loss, struct value *y, struct value *weights)
{
    const char *how = onnx_word(loss->node, "reduction", "mean");
    struct onnx_node *node = loss->node;
    struct ints all = { .n = loss->labels->type.rank };

    for (int i = 0; i < all.n; i++)
        all.at[i] = i;
    if (strcmp(how, "none") == 0)
        return y;
    if (strcmp(how, "sum") == 0 || (strcmp(how, "mean") == 0 && weights))
        y = reduce_with(node, OP_SUM, y, &all, false, "sum");
    else if (strcmp(how, "mean") == 0)
        return reduce_with(node, OP_MEAN, y, &all, false, "");
    else
        return (void)bad_attribute(node, "attribute reduction is none of none, sum, mean"), NULL;
    if (strcmp(how, "sum") == 0)
        return y;
    return apply2(node, OP_DIVIDE, "", y, reduce_with(node, OP_SUM, weights, &all, false, "total"));
}

/* SoftmaxCrossEntropyLoss (arg 1) takes scores before the softmax, and has log(softmax) as output 1. */
bool convert_loss(struct onnx_node *node)
{
    static const union attrs classes = { .axis = { .axis = 1 } };
    struct loss loss = { .node = node,
                         .scores = onnx_input(node, 0),
                         .labels = onnx_input(node, 1),
                         .weights = onnx_input(node, 2) };
    struct value *weights, *y;
    bool ok;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_kind(node, 1, TAKES_INTEGER) || !check_shapes(&loss) || !find_ignored(&loss))
        return false;
    if (node->arg)
        loss.scores = onnx_build1(node, OP_LOG_SOFTMAX, &classes, "log_prob", loss.scores);
    if (!loss.scores || (wants_output(node, 1) && !onnx_output(node, 1, loss.scores)))
        return false;
    weights = weights_of(&loss, &ok);
    y = ok ? selected(&loss) : NULL;
    if (y && weights)
        y = unless_ignored(&loss, apply2(node, OP_MULTIPLY, "weighted", y, weights),
                           "counted_only");
    return y && onnx_output(node, 0, reduced(&loss, y, weights));
}
