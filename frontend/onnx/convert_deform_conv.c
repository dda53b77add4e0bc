/* convert_deform_conv.c - DeformConv: a convolution whose taps lie where the input `offset` says.
 *
 * method   image.grid_sample reads x at all taps of all positions, for each group of offsets; times the mask, they are
 *          the channels of a convolution of extent 1. x gets zeros behind it up to extents that are powers of two, so
 *          that scaling coordinates to -1 .. 1 and back does not round them */
#include "frontend/onnx/convert_helpers.h"

enum { X, W, OFFSET, BIAS, MASK };

struct deform {
    struct onnx_node *node;
    struct onnx_window window;
    struct value *x; /* padded */
    int64_t batch, channels, in_h, in_w, out_h, out_w, taps, groups;
};

/* Where taps lie without offsets, along one axis: [1, taps, out_h, out_w], and half a pixel more: 0 to `extent`. */
static struct value *regular(const struct deform *d, int axis)
{
    const struct type type = { .dtype = DTYPE_F32,
                               .rank = 4,
                               .dim = { 1, d->taps, d->out_h, d->out_w } };
    const struct onnx_window *window = &d->window;
    const int64_t columns = window->kernel.at[1];
    float *data;

    if (!onnx_granted(d->node, DTYPE_F32, (double)type_elements(&type)))
        return NULL;
    data = constant_alloc(d->node->fn, &type);
    for (int64_t tap = 0, i = 0; tap < d->taps; tap++)
        for (int64_t oh = 0; oh < d->out_h; oh++)
            for (int64_t ow = 0; ow < d->out_w; ow++)
                data[i++] =
                    (float)((axis ? ow : oh) * window->strides.at[axis] - window->padding.at[axis] +
                            (axis ? tap % columns : tap / columns) * window->dilation.at[axis]) +
                    0.5f;
    return onnx_from_tensor(d->node, &(struct tensor){ type, data }, "taps");
}

/* Coordinates of one axis, from -1 at the image's begin to 1 at its end: [batch, taps * out_h, out_w, 1]. */
static struct value *coordinates(const struct deform *d, struct value *offsets, int64_t group,
                                 int axis)
{
    const struct ints pairs = { 6, { d->batch, d->groups, d->taps, 2, d->out_h, d->out_w } };
    const struct ints four = { 4, { d->batch, d->taps, d->out_h, d->out_w } };
    const struct ints grid = { 4, { d->batch, d->taps * d->out_h, d->out_w, 1 } };
    const double extent = (double)(axis ? d->in_w : d->in_h);
    struct onnx_node *node = d->node;
    struct value *at = reshape_to(node, offsets, &pairs, "offsets");

    at = slice_to(node, slice_to(node, at, 1, group, 1, "of_group"), 3, axis, 1, "of_axis");
    at = at ? reshape_to(node, at, &four, "offsets") : NULL;
    at = apply2(node, OP_ADD, "places", at,
                cast_to(node, regular(d, axis), offsets->type.dtype, "taps"));
    at = at ? apply2(node, OP_MULTIPLY, "scaled", at, scalar_like(node, at, 2 / extent, "scale"))
            : NULL;
    at = at ? apply2(node, OP_SUBTRACT, "centred", at, scalar_like(node, at, 1, "one")) : NULL;
    return at ? reshape_to(node, at, &grid, "coordinates") : NULL;
}

/* What the channels of a group have at all taps: [batch, channels, taps, out_h, out_w]. */
static struct value *sampled(const struct deform *d, int64_t group)
{
    const union attrs sample = {
        .grid_sample = { .method = "linear", .padding_mode = "zeros", .align_corners = false }
    };
    const int64_t channels = d->channels / d->groups;
    const struct ints shape = { 5, { d->batch, channels, d->taps, d->out_h, d->out_w } };
    const struct ints masks = { 5, { d->batch, d->groups, d->taps, d->out_h, d->out_w } };
    struct onnx_node *node = d->node;
    struct value *x = slice_to(node, d->x, 1, group * channels, channels, "channels");
    struct value *offsets = onnx_input(node, OFFSET), *mask = onnx_input(node, MASK), *grid;

    grid = concat_with(node, 3, coordinates(d, offsets, group, 1),
                       coordinates(d, offsets, group, 0), "grid");
    x = x && grid ? onnx_build2(node, OP_GRID_SAMPLE, &sample, "samples", x, grid) : NULL;
    x = x ? reshape_to(node, x, &shape, "samples") : NULL;
    if (!x || !mask)
        return x;
    mask = slice_to(node, reshape_to(node, mask, &masks, "masks"), 1, group, 1, "mask");
    return apply2(node, OP_MULTIPLY, "masked", x, mask);
}

static bool pad(struct deform *d)
{
    const struct type *x = &onnx_input(d->node, X)->type;
    union attrs zeros = {
        .pad = { .pad_before = ints_fill(4, 0), .pad_after = ints_fill(4, 0), .mode = "constant" }
    };

    for (d->in_h = 1; d->in_h < x->dim[2];)
        d->in_h *= 2;
    for (d->in_w = 1; d->in_w < x->dim[3];)
        d->in_w *= 2;
    zeros.pad.pad_after.at[2] = d->in_h - x->dim[2];
    zeros.pad.pad_after.at[3] = d->in_w - x->dim[3];
    d->x = onnx_input(d->node, X);
    if (d->in_h != x->dim[2] || d->in_w != x->dim[3])
        d->x = onnx_build1(d->node, OP_PAD, &zeros, "padded", d->x);
    return d->x != NULL;
}

static bool check_deform(struct deform *d)
{
    struct onnx_node *node = d->node;
    const struct type *x = &onnx_input(node, X)->type, *w = &onnx_input(node, W)->type;
    const int64_t groups = onnx_int(node, "group", 1);
    const struct onnx_window *window = &d->window;
    int64_t extents[2];

    d->groups = onnx_int(node, "offset_group", 1);
    d->batch = x->dim[0], d->channels = x->dim[1];
    d->taps = window->kernel.at[0] * window->kernel.at[1];
    for (int i = 0; i < 2; i++)
        extents[i] = (x->dim[2 + i] + window->padding.at[i] + window->padding.at[2 + i] -
                      window->dilation.at[i] * (window->kernel.at[i] - 1) - 1) /
                         window->strides.at[i] +
                     1;
    d->out_h = extents[0], d->out_w = extents[1];
    if (groups < 1 || d->groups < 1 || d->channels % d->groups ||
        w->dim[1] * groups != d->channels || w->dim[0] % groups || d->out_h < 1 || d->out_w < 1 ||
        x->dim[2] < 1 || x->dim[3] < 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "x of shape %s and weights of shape %s in %lld groups, offsets in %lld: "
                          "they do not fit",
                          shape_text(&node->ctx->perm, x), shape_text(&node->ctx->perm, w),
                          (long long)groups, (long long)d->groups);
    for (int i = OFFSET; i <= MASK; i++) {
        const int64_t wanted =
            i == BIAS ? w->dim[0]
                      : d->batch * d->groups * d->taps * d->out_h * d->out_w * (i == MASK ? 1 : 2);

        if (onnx_input(node, i) && type_elements(&onnx_input(node, i)->type) != wanted)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "input %d has shape %s, expected %lld elements", i,
                              shape_text(&node->ctx->perm, &onnx_input(node, i)->type),
                              (long long)wanted);
    }
    return onnx_ok(node);
}

bool convert_deform_conv(struct onnx_node *node)
{
    const union attrs channel = { .axis = { .axis = 1 } };
    union attrs conv = { .conv = { .strides = ints_fill(2, 1),
                                   .padding = ints_fill(4, 0),
                                   .dilation = ints_fill(2, 1),
                                   .data_layout = window_layout(2, false, false),
                                   .kernel_layout = window_layout(2, true, false) } };
    struct deform d = { .node = node };
    struct value *w = onnx_input(node, W), *bias = onnx_input(node, BIAS), *all = NULL;
    struct ints shape;

    if (!onnx_check_inputs(node, 3, 5) || !onnx_check_rank(node, X, 4, 4) ||
        !onnx_check_rank(node, W, 4, 4) || !onnx_check_rank(node, OFFSET, 4, 4) ||
        !onnx_check_rank(node, BIAS, 1, 1) || !onnx_check_rank(node, MASK, 4, 4))
        return false;
    for (int i = X; i <= MASK; i++)
        if (!onnx_check_kind(node, i, TAKES_FLOAT))
            return false;
    shape = ints_of(2, w->type.dim + 2);
    if (!window_read(node, &shape, &d.window) || !check_deform(&d) || !pad(&d))
        return false;
    conv.conv.groups = onnx_int(node, "group", 1);
    for (int64_t i = 0; i < d.groups; i++) {
        struct value *part = sampled(&d, i);

        all = all && part ? concat_with(node, 1, all, part, "all") : part;
        if (!all)
            return false;
    }
    shape = (struct ints){ 4, { d.batch, d.channels * d.taps, d.out_h, d.out_w } };
    all = reshape_to(node, all, &shape, "columns");
    shape = (struct ints){ 4, { w->type.dim[0], w->type.dim[1] * d.taps, 1, 1 } };
    w = reshape_to(node, w, &shape, "weights");
    all = all && w ? onnx_build2(node, OP_CONV2D, &conv, bias ? "conv" : "", all, w) : NULL;
    return all && onnx_output(node, 0,
                              bias ? onnx_build2(node, OP_BIAS_ADD, &channel, "", all, bias) : all);
}
