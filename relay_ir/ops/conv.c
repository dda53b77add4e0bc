/* conv.c - nn.conv1d, conv2d, conv3d: cross-correlation, as in machine learning.
 *
 * x (batch, in_c, spatial...), w (out_c, in_c / groups, kernel...), y (batch, out_c, spatial...),
 * or x or y with the channels last: then it is computed on a turned copy. out = (pad_before + in +
 * pad_after - covers) / stride + 1, rounded down.
 *
 * FP8 inputs are decoded, which is exact, and summed as all others, in double: exact for E4M3,
 * whose products are multiples of 2^-18 below 2^18, up to 2^17 terms; E5M2 may round. */
#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

/* x is channels first, here and below. */
static bool check_channels(struct ctx *ctx, const struct node *node, const struct type *x,
                           int64_t groups)
{
    const struct type *w = input_type(node, 1);

    if (groups < 1 || w->dim[0] % groups || x->dim[1] % groups)
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: %lld groups do not divide %lld input channels and %lld output channels",
            op_name(node->op), (long long)groups, (long long)x->dim[1], (long long)w->dim[0]);
    if (w->dim[1] != x->dim[1] / groups)
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: weight of shape %s expects %lld input channels in each of %lld groups, x "
            "of shape %s has %lld",
            op_name(node->op), shape_text(&ctx->perm, w), (long long)w->dim[1], (long long)groups,
            shape_text(&ctx->perm, x), (long long)(x->dim[1] / groups));
    return true;
}

static struct spatial spatial_of(const struct node *node, const struct type *x)
{
    const struct conv_attrs *attrs = &node->attrs.conv;

    return spatial_make(op_spatial_rank(node->op), x->dim + 2, input_type(node, 1)->dim + 2,
                        &attrs->strides, &attrs->padding, &attrs->dilation);
}

static bool check_out_layout(struct ctx *ctx, struct node *node, int rank)
{
    struct conv_attrs *attrs = &node->attrs.conv;

    if (!*attrs->out_layout)
        attrs->out_layout = attrs->data_layout;
    return spatial_check_layout(ctx, node, "out_layout", rank, &attrs->out_layout);
}

bool conv_shape(struct ctx *ctx, struct node *node, struct type *y)
{
    const int rank = op_spatial_rank(node->op);
    struct conv_attrs *attrs = &node->attrs.conv;
    const struct type *w = input_type(node, 1);
    struct spatial spatial;
    struct type x;

    if (!check_rank(ctx, node, 0, rank + 2, rank + 2) ||
        !check_rank(ctx, node, 1, rank + 2, rank + 2) ||
        !spatial_check_layout(ctx, node, "data_layout", rank, &attrs->data_layout) ||
        !check_out_layout(ctx, node, rank) ||
        !spatial_check_kernel_layout(ctx, node, rank, "OI", &attrs->kernel_layout))
        return false;
    x = type_channels_first(input_type(node, 0), attrs->data_layout);
    if (!check_channels(ctx, node, &x, attrs->groups) ||
        !spatial_check(ctx, node, rank, &attrs->strides, &attrs->padding, &attrs->dilation))
        return false;
    spatial = spatial_of(node, &x);
    if (!spatial_check_fit(ctx, node, rank, &spatial, false))
        return false;
    *y = type_make(DTYPE_NONE, rank + 2, (int64_t[MAX_RANK]){ x.dim[0], w->dim[0] });
    for (int i = 0; i < rank; i++) {
        const struct slide *s = &spatial.dim[MAX_SPATIAL - rank + i];

        y->dim[2 + i] = (s->pad_before + s->in + s->pad_after - slide_covers(s)) / s->stride + 1;
    }
    *y = type_in_layout(y, attrs->out_layout);
    return true;
}

bool infer_conv(struct ctx *ctx, struct node *node)
{
    enum dtype dtype;
    struct type y;

    if (!check_product_types(ctx, node, KINDS_FLOAT, &node->attrs.conv.out_dtype, &dtype) ||
        !conv_shape(ctx, node, &y))
        return false;
    set_output(node, 0, dtype, &y);
    return true;
}

/* acc[i] += w * x[i * step] */
static void add_row(double *restrict acc, const double *restrict x, double w, int64_t n,
                    int64_t step)
{
    if (step == 1)
        for (int64_t i = 0; i < n; i++)
            acc[i] += w * x[i];
    else
        for (int64_t i = 0; i < n; i++)
            acc[i] += w * x[i * step];
}

/* One tap of the kernel in depth and height, for a row of outputs: all its taps in width. */
static void add_taps(const struct slide *width, double *acc, const double *x, const double *w)
{
    for (int64_t kw = 0; kw < width->kernel; kw++) {
        int64_t from, to;

        slide_range(width, kw, &from, &to);
        if (from < to)
            add_row(acc + from, x + from * width->stride - width->pad_before + kw * width->dilation,
                    w[kw], to - from, width->stride);
    }
}

/* A row of outputs of one channel, at depth od and height oh. x and w start at the first channel of
 * the group. */
static void conv_row(const struct spatial *spatial, int64_t in_c, int64_t od, int64_t oh,
                     const double *x, const double *w, double *acc)
{
    const struct slide *d = &spatial->dim[0], *h = &spatial->dim[1], *width = &spatial->dim[2];

    for (int64_t i = 0; i < width->out; i++)
        acc[i] = 0;
    for (int64_t ic = 0; ic < in_c; ic++)
        for (int64_t kd = 0; kd < d->kernel; kd++)
            for (int64_t kh = 0; kh < h->kernel; kh++) {
                const int64_t id = od * d->stride - d->pad_before + kd * d->dilation;
                const int64_t ih = oh * h->stride - h->pad_before + kh * h->dilation;

                if (id < 0 || id >= d->in || ih < 0 || ih >= h->in)
                    continue;
                add_taps(width, acc, x + ((ic * d->in + id) * h->in + ih) * width->in,
                         w + ((ic * d->kernel + kd) * h->kernel + kh) * width->kernel);
            }
}

/* Kernels of one tap, a step at a time: all positions are one long row. Each sum has the same terms
 * in the same order. */
static bool join_rows(struct spatial *spatial)
{
    struct slide *width = &spatial->dim[MAX_SPATIAL - 1];
    bool pointwise = true;

    for (int i = 0; i < MAX_SPATIAL; i++) {
        const struct slide *s = &spatial->dim[i];

        pointwise =
            pointwise && s->kernel == 1 && s->stride == 1 && !s->pad_before && s->in == s->out;
    }
    for (int i = 0; pointwise && i < MAX_SPATIAL - 1; i++) {
        width->in *= spatial->dim[i].in;
        spatial->dim[i].in = spatial->dim[i].out = 1;
    }
    if (pointwise)
        width->out = width->in;
    return pointwise;
}

enum { LANES = 8, CHANNELS = 4 }; /* of add_channels: what compilers keep in vectors */

/* acc[i] += w[0] * x[i], then w[1] * x[x_step + i] and so on, CHANNELS of them. */
static void add_channels(double *restrict acc, const double *restrict x, int64_t x_step,
                         const double *w, int64_t n)
{
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        double sum[LANES];

        for (int k = 0; k < LANES; k++)
            sum[k] = acc[i + k];
        for (int c = 0; c < CHANNELS; c++)
            for (int k = 0; k < LANES; k++)
                sum[k] += w[c] * x[c * x_step + i + k];
        for (int k = 0; k < LANES; k++)
            acc[i + k] = sum[k];
    }
    for (; i < n; i++)
        for (int c = 0; c < CHANNELS; c++)
            acc[i] += w[c] * x[c * x_step + i];
}

/* conv_row of a kernel of one tap, whose positions are one row. */
static void conv_positions(int64_t n, int64_t in_c, const double *x, const double *w, double *acc)
{
    int64_t ic = 0;

    for (int64_t i = 0; i < n; i++)
        acc[i] = 0;
    for (; ic + CHANNELS <= in_c; ic += CHANNELS)
        add_channels(acc, x + ic * n, n, w + ic, n);
    for (; ic < in_c; ic++)
        add_row(acc, x + ic * n, w[ic], n, 1);
}

bool eval_conv(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const struct conv_attrs *attrs = &node->attrs.conv;
    const int rank = op_spatial_rank(node->op);
    struct bulk bulk = { NULL, 0 };
    const struct tensor data = tensor_channels_first(&bulk, in[0], attrs->data_layout);
    struct tensor result = tensor_first_for(&bulk, out, attrs->out_layout);
    const struct type *y = &result.type;
    const int64_t out_c = y->dim[1], group_out = out_c / attrs->groups;
    const int64_t in_c = data.type.dim[1], group_in = in[1]->type.dim[1];
    const int64_t x_step = type_span(&data.type, 2, 2 + rank);
    const int64_t w_step = type_span(&in[1]->type, 1, 2 + rank);
    struct spatial spatial = spatial_of(node, &data.type);
    const struct slide *d = &spatial.dim[0], *h = &spatial.dim[1], *width = &spatial.dim[2];
    const double *x = doubles_of(&bulk, &data), *w = doubles_of(&bulk, in[1]);
    bool pointwise;
    double *acc;

    (void)ctx;
    for (int i = 0; i < MAX_SPATIAL; i++)
        spatial.dim[i].out = i < MAX_SPATIAL - rank ? 1 : y->dim[2 + i - (MAX_SPATIAL - rank)];
    pointwise = join_rows(&spatial);
    acc = bulk_alloc(&bulk, (size_t)width->out * sizeof *acc);
    for (int64_t row = 0; row < y->dim[0] * d->out * h->out; row++)
        for (int64_t oc = 0; oc < out_c; oc++) {
            const int64_t n = row / (d->out * h->out), od = row / h->out % d->out;
            const int64_t oh = row % h->out, ic = oc / group_out * group_in;

            const double *first = x + (n * in_c + ic) * x_step;

            if (pointwise)
                conv_positions(width->out, group_in, first, w + oc * w_step, acc);
            else
                conv_row(&spatial, group_in, od, oh, first, w + oc * w_step, acc);
            doubles_store(&result, (((n * out_c + oc) * d->out + od) * h->out + oh) * width->out,
                          acc, width->out);
        }
    tensor_store_first(&result, attrs->out_layout, out);
    bulk_release(&bulk);
    return true;
}
