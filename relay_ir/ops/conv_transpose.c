/* conv_transpose.c - nn.conv1d_transpose, conv2d_transpose, conv3d_transpose: the adjoint of the
 * convolution with the same attributes.
 *
 * x (batch, in_c, spatial...), w (in_c, out_c / groups, kernel...), y (batch, out_c, spatial...),
 * or x and y with the channels last: then it is computed on a turned copy. out = (in - 1) * stride
 * + covers - pad_before - pad_after + output_padding. */
#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

/* x is channels first, here and below. */
static bool check_channels(struct ctx *ctx, const struct node *node, const struct type *x,
                           int64_t groups)
{
    const struct type *w = input_type(node, 1);
    int64_t out_c;

    if (w->dim[0] != x->dim[1])
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: weight of shape %s expects %lld input channels, x of shape %s has %lld",
            op_name(node->op), shape_text(&ctx->perm, w), (long long)w->dim[0],
            shape_text(&ctx->perm, x), (long long)x->dim[1]);
    if (groups < 1 || x->dim[1] % groups)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld groups do not divide %lld input channels", op_name(node->op),
                          (long long)groups, (long long)x->dim[1]);
    if (__builtin_mul_overflow(w->dim[1], groups, &out_c))
        return diag_error(ctx, DIAG_TOO_BIG, node_origin(node), "%s: too many output channels",
                          op_name(node->op));
    return true;
}

static struct spatial spatial_of(const struct node *node, const struct type *x)
{
    const struct conv_transpose_attrs *attrs = &node->attrs.conv_transpose;

    return spatial_make(op_spatial_rank(node->op), x->dim + 2, input_type(node, 1)->dim + 2,
                        &attrs->strides, &attrs->padding, &attrs->dilation);
}

/* Sets the spatial extents of y. */
static bool set_extents(struct ctx *ctx, const struct node *node, int rank,
                        const struct spatial *spatial, struct type *y)
{
    for (int i = 0; i < rank; i++) {
        const struct slide *s = &spatial->dim[MAX_SPATIAL - rank + i];

        if (s->in < 1 || s->in > SPATIAL_MOST || s->kernel < 1 || s->kernel > SPATIAL_MOST)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: in spatial dimension %d the input has extent %lld and the "
                              "kernel %lld, expected 1 to %lld",
                              op_name(node->op), i, (long long)s->in, (long long)s->kernel,
                              (long long)SPATIAL_MOST);
        y->dim[2 + i] = (s->in - 1) * s->stride + slide_covers(s) - s->pad_before - s->pad_after +
                        node->attrs.conv_transpose.output_padding.at[i];
        if (y->dim[2 + i] < 0)
            return diag_error(
                ctx, DIAG_SHAPE, node_origin(node),
                "%s: spatial dimension %d of the output would have extent %lld: there "
                "is more padding than output",
                op_name(node->op), i, (long long)y->dim[2 + i]);
    }
    return true;
}

bool infer_conv_transpose(struct ctx *ctx, struct node *node)
{
    const int rank = op_spatial_rank(node->op);
    struct conv_transpose_attrs *attrs = &node->attrs.conv_transpose;
    const struct type *w = input_type(node, 1);
    struct type x, y = type_make(DTYPE_NONE, rank + 2, (int64_t[MAX_RANK]){ 0 });
    struct spatial spatial;

    if (!check_product_types(ctx, node, KINDS_FLOAT, &attrs->out_dtype, &y.dtype) ||
        !check_rank(ctx, node, 0, rank + 2, rank + 2) ||
        !check_rank(ctx, node, 1, rank + 2, rank + 2) ||
        !spatial_check_layout(ctx, node, "data_layout", rank, &attrs->data_layout) ||
        !spatial_check_kernel_layout(ctx, node, rank, "IO", &attrs->kernel_layout))
        return false;
    x = type_channels_first(input_type(node, 0), attrs->data_layout);
    if (!check_channels(ctx, node, &x, attrs->groups) ||
        !spatial_check(ctx, node, rank, &attrs->strides, &attrs->padding, &attrs->dilation) ||
        !spatial_check_list(ctx, node, "output_padding", rank, 0, 0, &attrs->output_padding))
        return false;
    y.dim[0] = x.dim[0];
    y.dim[1] = w->dim[1] * attrs->groups;
    spatial = spatial_of(node, &x);
    if (!set_extents(ctx, node, rank, &spatial, &y))
        return false;
    y = type_in_layout(&y, attrs->data_layout);
    set_output(node, 0, y.dtype, &y);
    return true;
}

/* The roles of input and output change: `out` of a slide is the extent of x, over which o runs, and
 * `in` that of y, so that slide_range gives the elements of x that reach y. */
static void add_row(const struct slide *width, const double *restrict x, const double *w,
                    double *restrict y)
{
    for (int64_t kw = 0; kw < width->kernel; kw++) {
        const int64_t shift = kw * width->dilation - width->pad_before;
        int64_t from, to;

        slide_range(width, kw, &from, &to);
        for (int64_t i = from; i < to; i++)
            y[i * width->stride + shift] += w[kw] * x[i];
    }
}

/* Adds one input channel, seen through its kernel, to one output channel. */
static void add_plane(const struct spatial *spatial, const double *x, const double *w, double *y)
{
    const struct slide *d = &spatial->dim[0], *h = &spatial->dim[1], *width = &spatial->dim[2];

    for (int64_t kd = 0; kd < d->kernel; kd++)
        for (int64_t kh = 0; kh < h->kernel; kh++) {
            int64_t id_from, id_to, ih_from, ih_to;

            slide_range(d, kd, &id_from, &id_to);
            slide_range(h, kh, &ih_from, &ih_to);
            for (int64_t id = id_from; id < id_to; id++)
                for (int64_t ih = ih_from; ih < ih_to; ih++) {
                    const int64_t od = id * d->stride - d->pad_before + kd * d->dilation;
                    const int64_t oh = ih * h->stride - h->pad_before + kh * h->dilation;

                    add_row(width, x + (id * h->out + ih) * width->out,
                            w + (kd * h->kernel + kh) * width->kernel,
                            y + (od * h->in + oh) * width->in);
                }
        }
}

bool eval_conv_transpose(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                         struct tensor *out)
{
    const int rank = op_spatial_rank(node->op);
    const struct conv_transpose_attrs *attrs = &node->attrs.conv_transpose;
    struct bulk bulk = { NULL, 0 };
    const struct tensor data = tensor_channels_first(&bulk, in[0], attrs->data_layout);
    struct tensor result = tensor_first_for(&bulk, out, attrs->data_layout);
    const int64_t in_c = data.type.dim[1], out_c = result.type.dim[1];
    const int64_t group_in = in_c / attrs->groups, group_out = in[1]->type.dim[1];
    const int64_t x_step = type_span(&data.type, 2, 2 + rank);
    const int64_t y_step = type_span(&result.type, 2, 2 + rank);
    const int64_t w_step = type_span(&in[1]->type, 2, 2 + rank);
    struct spatial spatial = spatial_of(node, &data.type);
    const double *x = doubles_of(&bulk, &data), *w = doubles_of(&bulk, in[1]);
    double *y = bulk_alloc(&bulk, (size_t)type_elements(&out->type) * sizeof *y);

    (void)ctx;
    for (int i = 0; i < MAX_SPATIAL; i++) {
        const int own = i - (MAX_SPATIAL - rank);

        spatial.dim[i].out = spatial.dim[i].in;
        spatial.dim[i].in = own < 0 ? 1 : result.type.dim[2 + own];
    }
    for (int64_t n = 0; n < result.type.dim[0]; n++)
        for (int64_t ic = 0; ic < in_c; ic++)
            for (int64_t oc = 0; oc < group_out; oc++)
                add_plane(&spatial, x + (n * in_c + ic) * x_step,
                          w + (ic * group_out + oc) * w_step,
                          y + (n * out_c + ic / group_in * group_out + oc) * y_step);
    doubles_store(&result, 0, y, type_elements(&result.type));
    tensor_store_first(&result, attrs->data_layout, out);
    bulk_release(&bulk);
    return true;
}
