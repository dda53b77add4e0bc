/* norm.c - nn.batch_norm, and the norms that take mean and variance from x itself:
 * instance_norm over the spatial dimensions, group_norm over them and the channels of a group,
 * layer_norm over all dimensions from `axis` on. y = (x - mean) / sqrt(variance + epsilon) * scale
 * + bias, with the variance of the whole population (divided by n). */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

static bool is_layer_norm(const struct node *node)
{
    return node->op == OP_LAYER_NORM || node->op == OP_QNN_LAYER_NORM;
}

static bool is_group_norm(const struct node *node)
{
    return node->op == OP_GROUP_NORM || node->op == OP_QNN_GROUP_NORM;
}

/* Scales and biases are of x's type, or of f32 where x is quantised values. */
static bool check_norm_dtype(struct ctx *ctx, const struct node *node, int input)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (dtype_is_float(input_type(node, 0)->dtype))
        return check_same_dtype(ctx, node, 0, input);
    if (dtype == DTYPE_F32)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node), "input %d of %s is %s, expected f32",
                      input, op_name(node->op), dtype_name(dtype));
}

/* Input i is a vector of n elements. */
static bool check_vector(struct ctx *ctx, const struct node *node, int i, const char *what,
                         int64_t n)
{
    if (!check_norm_dtype(ctx, node, i) || !check_rank(ctx, node, i, 1, 1))
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

static bool check_channel_norm(struct ctx *ctx, struct node *node, int scale)
{
    const struct type *x = input_type(node, 0);
    const int64_t groups = node->attrs.norm.groups;
    int64_t channels;

    if (!check_rank(ctx, node, 0, 2, MAX_RANK) || !check_axis(ctx, node, x, &node->attrs.norm.axis))
        return false;
    if (node->attrs.norm.axis != 1 && node->attrs.norm.axis != x->rank - 1)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: the channels are axis %lld, expected axis 1 or the last",
                          op_name(node->op), (long long)node->attrs.norm.axis);
    channels = x->dim[node->attrs.norm.axis];
    if (is_group_norm(node) && (groups < 1 || channels % groups))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld groups do not divide %lld channels", op_name(node->op),
                          (long long)groups, (long long)channels);
    return check_vector(ctx, node, scale, "scale", channels) &&
           check_vector(ctx, node, scale + 1, "bias", channels);
}

/* Scale and bias have the shape of what is normalised. */
static bool check_layer_norm(struct ctx *ctx, struct node *node, int scale)
{
    const struct type *x = input_type(node, 0);
    struct type wanted;

    if (!check_axis(ctx, node, x, &node->attrs.norm.axis))
        return false;
    wanted =
        type_make(x->dtype, x->rank - (int)node->attrs.norm.axis, x->dim + node->attrs.norm.axis);
    for (int i = scale; i < node->n_inputs; i++) {
        if (!node->inputs[i])
            continue;
        if (!check_norm_dtype(ctx, node, i))
            return false;
        wanted.dtype = input_type(node, i)->dtype;
        if (!type_same_shape(input_type(node, i), &wanted))
            return diag_error(
                ctx, DIAG_SHAPE, node_origin(node),
                "%s: %s has shape %s, expected %s, the dimensions of x from axis %lld on",
                op_name(node->op), i == scale ? "scale" : "bias",
                shape_text(&ctx->perm, input_type(node, i)), shape_text(&ctx->perm, &wanted),
                (long long)node->attrs.norm.axis);
    }
    return true;
}

bool norm_check(struct ctx *ctx, struct node *node, int scale)
{
    return is_layer_norm(node) ? check_layer_norm(ctx, node, scale)
                               : check_channel_norm(ctx, node, scale);
}

bool infer_norm(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT))
        return false;
    set_output(node, 0, x->dtype, x);
    return norm_check(ctx, node, 1);
}

bool norm_is_last(const struct node *node)
{
    return !is_layer_norm(node) && node->attrs.norm.axis != 1;
}

struct type norm_first(const struct node *node, const struct type *x)
{
    struct type first = *x;

    if (!norm_is_last(node))
        return first;
    first.dim[1] = x->dim[x->rank - 1];
    for (int i = 2; i < x->rank; i++)
        first.dim[i] = x->dim[i - 1];
    return first;
}

struct norm_blocks norm_blocks_of(const struct node *node, const struct type *x)
{
    const int axis = (int)node->attrs.norm.axis;
    const int64_t spatial = x->rank > 2 ? type_span(x, 2, x->rank) : 1;
    const int64_t size = type_span(x, axis, x->rank);

    if (is_layer_norm(node))
        return (struct norm_blocks){ size, 1, size };
    if (!is_group_norm(node))
        return (struct norm_blocks){ spatial, spatial, x->dim[1] };
    return (struct norm_blocks){ x->dim[1] / node->attrs.norm.groups * spatial, spatial,
                                 x->dim[1] };
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
    const char *layout = norm_is_last(node) ? "NHWC" : "NCHW";
    const struct tensor *bias = node->n_inputs > 2 ? in[2] : NULL;
    struct bulk bulk = { NULL, 0 };
    const struct tensor data = tensor_channels_first(&bulk, in[0], layout);
    struct tensor result = tensor_first_for(&bulk, out, layout);
    const struct norm_blocks blocks = norm_blocks_of(node, &data.type);
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
