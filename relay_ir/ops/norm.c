/* norm.c - nn.batch_norm, and the norms that take mean and variance from x itself:
 * instance_norm over the spatial dimensions, group_norm over them and the channels of a group,
 * layer_norm over all dimensions from `axis` on. y = (x - mean) / sqrt(variance + epsilon) * scale
 * + bias, with the variance of the whole population (divided by n). */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

/* Input i is a vector of n elements of x's type. */
static bool check_vector(struct ctx *ctx, const struct node *node, int i, const char *what,
                         int64_t n)
{
    if (!check_same_dtype(ctx, node, 0, i) || !check_rank(ctx, node, i, 1, 1))
        return false;
    if (input_type(node, i)->dim[0] == n)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: %s has %lld elements, x has %lld channels", op_name(node->op), what,
                      (long long)input_type(node, i)->dim[0], (long long)n);
}

bool infer_batch_norm(struct ctx *ctx, struct node *node)
{
    static const char *const names[] = { "x", "scale", "bias", "mean", "variance" };
    const struct type *x = input_type(node, 0);
    bool ok = true;

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT) ||
        !check_axis(ctx, node, x, &node->attrs.batch_norm.axis))
        return false;
    for (int i = 1; i < 5; i++)
        ok = check_vector(ctx, node, i, names[i], x->dim[node->attrs.batch_norm.axis]) && ok;
    set_output(node, 0, x->dtype, x);
    return ok;
}

bool eval_batch_norm(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const struct type *type = &out->type;
    const int axis = (int)node->attrs.batch_norm.axis;
    const int64_t channels = type->dim[axis], size = type_span(type, axis + 1, type->rank);
    const int64_t n = type_elements(type);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / size % channels;
        const double deviation = sqrt(tensor_at(in[4], c) + node->attrs.batch_norm.epsilon);

        dtype_store(type->dtype, out->data, i,
                    (tensor_at(in[0], i) - tensor_at(in[3], c)) / deviation * tensor_at(in[1], c) +
                        tensor_at(in[2], c));
    }
    return true;
}

static bool check_channel_norm(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const int64_t groups = node->attrs.norm.groups;
    int64_t channels;

    if (!check_rank(ctx, node, 0, 2, MAX_RANK) || !check_axis(ctx, node, x, &node->attrs.norm.axis))
        return false;
    if (node->attrs.norm.axis != 1 && node->attrs.norm.axis != x->rank - 1)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: the channels are axis %lld, wanted is axis 1 or the last",
                          op_name(node->op), (long long)node->attrs.norm.axis);
    channels = x->dim[node->attrs.norm.axis];
    if (node->op == OP_GROUP_NORM && (groups < 1 || channels % groups))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld groups do not divide %lld channels", op_name(node->op),
                          (long long)groups, (long long)channels);
    return check_vector(ctx, node, 1, "scale", channels) &&
           check_vector(ctx, node, 2, "bias", channels);
}

/* Scale and bias have the shape of what is normalised. */
static bool check_layer_norm(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct type wanted;

    if (!check_axis(ctx, node, x, &node->attrs.norm.axis))
        return false;
    wanted =
        type_make(x->dtype, x->rank - (int)node->attrs.norm.axis, x->dim + node->attrs.norm.axis);
    for (int i = 1; i < node->n_inputs; i++) {
        if (!node->inputs[i])
            continue;
        if (!check_same_dtype(ctx, node, 0, i))
            return false;
        if (!type_same_shape(input_type(node, i), &wanted))
            return diag_error(
                ctx, DIAG_SHAPE, node_origin(node),
                "%s: %s has shape %s, wanted is %s, the dimensions of x from axis %lld "
                "on",
                op_name(node->op), i == 1 ? "scale" : "bias",
                shape_text(&ctx->perm, input_type(node, i)), shape_text(&ctx->perm, &wanted),
                (long long)node->attrs.norm.axis);
    }
    return true;
}

bool infer_norm(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT))
        return false;
    set_output(node, 0, x->dtype, x);
    return node->op == OP_LAYER_NORM ? check_layer_norm(ctx, node) : check_channel_norm(ctx, node);
}

/* Of a tensor with the channels first: elements that share a mean lie together; so do those that
 * share a scale. */
struct blocks {
    int64_t size;       /* of a block with one mean */
    int64_t scale_size; /* elements in a row with the same scale … */
    int64_t n_scales;   /* … before the scales start again */
};

static struct blocks blocks_of(const struct node *node, const struct type *x)
{
    const int axis = (int)node->attrs.norm.axis;
    const int64_t spatial = x->rank > 2 ? type_span(x, 2, x->rank) : 1;
    const int64_t size = type_span(x, axis, x->rank);

    if (node->op == OP_LAYER_NORM)
        return (struct blocks){ size, 1, size };
    if (node->op == OP_INSTANCE_NORM)
        return (struct blocks){ spatial, spatial, x->dim[1] };
    return (struct blocks){ x->dim[1] / node->attrs.norm.groups * spatial, spatial, x->dim[1] };
}

static void mean_and_variance(const double *x, int64_t n, double *mean, double *variance)
{
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *variance = squares / (double)n;
}

bool eval_norm(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const char *layout = node->op != OP_LAYER_NORM && node->attrs.norm.axis != 1 ? "NHWC" : "NCHW";
    const struct tensor *bias = node->n_inputs > 2 ? in[2] : NULL;
    struct bulk bulk = { NULL, 0 };
    const struct tensor data = tensor_channels_first(&bulk, in[0], layout);
    struct tensor result = tensor_first_for(&bulk, out, layout);
    const struct blocks blocks = blocks_of(node, &data.type);
    const int64_t n = type_elements(&data.type);
    double *x = doubles_of(&bulk, &data);

    (void)ctx;
    for (int64_t start = 0; start < n; start += blocks.size) {
        double mean, variance;

        mean_and_variance(x + start, blocks.size, &mean, &variance);
        for (int64_t i = start; i < start + blocks.size; i++) {
            const int64_t c = i / blocks.scale_size % blocks.n_scales;

            x[i] = (x[i] - mean) / sqrt(variance + node->attrs.norm.epsilon) * tensor_at(in[1], c) +
                   (bias ? tensor_at(bias, c) : 0);
        }
    }
    doubles_store(&result, 0, x, n);
    tensor_store_first(&result, layout, out);
    bulk_release(&bulk);
    return true;
}
