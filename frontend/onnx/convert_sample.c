/* convert_sample.c - elements at computed coordinates: GridSample, AffineGrid, RoiAlign, Col2Im. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* A tensor made here stands in the C file. */
#define MOST_ELEMENTS ((int64_t)1 << 24)

struct word {
    const char *onnx, *relay;
};

/* NULL after an error. */
static const char *read_word(struct onnx_node *node, const char *attr, const char *missing,
                             const struct word *words)
{
    const char *word = onnx_word(node, attr, missing);

    if (!onnx_ok(node))
        return NULL;
    for (; words->onnx; words++)
        if (strcmp(word, words->onnx) == 0)
            return words->relay;
    onnx_unsupported(node, "attribute %s is \"%s\"", attr, str_safe(&node->ctx->perm, word, 40));
    return NULL;
}

/* Opset 16 says bilinear and bicubic where opset 20, which has more dims, says linear and cubic. */
bool convert_grid_sample(struct onnx_node *node)
{
    static const struct word methods[] = {
        { "linear", "linear" }, { "bilinear", "linear" }, { "nearest", "nearest_neighbor" },
        { "cubic", "cubic" },   { "bicubic", "cubic" },   { NULL, NULL },
    };
    static const struct word paddings[] = {
        { "zeros", "zeros" }, { "border", "border" }, { "reflection", "reflection" }, { NULL, NULL }
    };
    union attrs attrs = { .grid_sample = { .align_corners =
                                               onnx_int(node, "align_corners", 0) != 0 } };

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_kind(node, 1, TAKES_FLOAT))
        return false;
    attrs.grid_sample.method =
        read_word(node, "mode", node->opset < 20 ? "bilinear" : "linear", methods);
    attrs.grid_sample.padding_mode = read_word(node, "padding_mode", "zeros", paddings);
    return attrs.grid_sample.method && attrs.grid_sample.padding_mode &&
           onnx_output(node, 0,
                       onnx_build2(node, OP_GRID_SAMPLE, &attrs, "", onnx_input(node, 0),
                                   onnx_input(node, 1)));
}

/* --- AffineGrid ------------------------------------------------------------------------------- */

/* The coordinates of an undistorted image in homogeneous coordinates, [points, n + 1]: the last
 * spatial dim first, from -1 to 1, then a 1. */
static struct value *base_grid(struct onnx_node *node, enum dtype dtype, const struct ints *extents,
                               bool align_corners)
{
    const int64_t columns = extents->n + 1;
    double n_elements = (double)columns;
    int64_t points = 1;
    struct tensor grid;

    for (int i = 0; i < extents->n; i++)
        n_elements *= (double)extents->at[i];
    if (!onnx_granted(node, dtype, n_elements))
        return NULL;
    for (int i = 0; i < extents->n; i++)
        points *= extents->at[i];
    grid =
        tensor_new(&node->fn->module->bulk, &(struct type){ dtype, 2, { points, columns }, NULL });
    for (int64_t p = 0; p < points; p++) {
        int64_t rest = p;

        for (int k = 0; k < extents->n; k++) {
            const int64_t n = extents->at[extents->n - 1 - k], at = rest % n;
            const double steps = align_corners ? (double)(n - 1) : (double)n;
            const double first = align_corners ? -1 : -1 + 1 / steps;

            dtype_store(dtype, grid.data, p * columns + k,
                        steps > 0 ? first + 2 * (double)at / steps : 0);
            rest /= n;
        }
        dtype_store(dtype, grid.data, p * columns + extents->n, 1);
    }
    return onnx_from_tensor(node, &grid, "base_grid");
}

/* Output [batch, spatial..., n] for theta [batch, n, n + 1] and the size (batch, channels,
 * spatial...): one product with constant coordinates. */
bool convert_affine_grid(struct onnx_node *node)
{
    const union attrs by_rows = { .matmul = { .transpose_b = true } };
    const bool align_corners = onnx_int(node, "align_corners", 0) != 0;
    struct value *theta = onnx_input(node, 0), *y;
    struct ints size, extents, shape;
    int64_t points = 1;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, 3) || !onnx_ok(node) || !onnx_constant_ints(node, 1, &size))
        return false;
    if (size.n < 4 || size.n > 5 || theta->type.dim[1] != size.n - 2 ||
        theta->type.dim[2] != size.n - 1 || theta->type.dim[0] != size.at[0])
        return diag_error(
            node->ctx, DIAG_SHAPE, node->origin,
            "theta has shape %s, wanted batch x 2 x 3 or batch x 3 x 4, and a size of "
            "4 or 5 numbers",
            shape_text(&node->ctx->perm, &theta->type));
    extents = ints_of(size.n - 2, size.at + 2);
    for (int i = 0; i < extents.n; i++)
        if (extents.at[i] < 1 || __builtin_mul_overflow(points, extents.at[i], &points) ||
            points > MOST_ELEMENTS)
            return diag_error(node->ctx, DIAG_TOO_BIG, node->origin,
                              "the grid has %lld points in dimension %d", (long long)extents.at[i],
                              i);
    y = base_grid(node, theta->type.dtype, &extents, align_corners);
    y = onnx_build2(node, OP_MATMUL, &by_rows, "places", y, theta);
    shape = (struct ints){ .n = 1, .at = { size.at[0] } };
    for (int i = 0; i < extents.n; i++)
        shape.at[shape.n++] = extents.at[i];
    shape.at[shape.n++] = extents.n;
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

/* --- RoiAlign --------------------------------------------------------------------------------- */
bool convert_roi_align(struct onnx_node *node)
{
    static const struct word modes[] = { { "avg", "avg" }, { "max", "max" }, { NULL, NULL } };
    static const struct word places[] = { { "half_pixel", "aligned" },
                                          { "output_half_pixel", "" },
                                          { NULL, NULL } };
    const struct ints pooled = {
        2, { onnx_int(node, "output_height", 1), onnx_int(node, "output_width", 1) }
    };
    union attrs attrs = { .roi_align = { .pooled_size = pooled } };
    struct value *const inputs[] = { onnx_input(node, 0), onnx_input(node, 1),
                                     onnx_input(node, 2) };
    const char *place;

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_kind(node, 1, TAKES_FLOAT) || !onnx_check_kind(node, 2, TAKES_INTEGER))
        return false;
    attrs.roi_align.spatial_scale = onnx_real(node, "spatial_scale", 1);
    attrs.roi_align.sample_ratio = onnx_int(node, "sampling_ratio", 0);
    attrs.roi_align.mode = read_word(node, "mode", "avg", modes);
    place = read_word(node, "coordinate_transformation_mode",
                      node->opset < 16 ? "output_half_pixel" : "half_pixel", places);
    if (!attrs.roi_align.mode || !place || !onnx_ok(node))
        return false;
    attrs.roi_align.aligned = *place != '\0';
    return onnx_output(node, 0, onnx_build(node, OP_ROI_ALIGN, &attrs, "", 3, inputs));
}

/* --- Col2Im ----------------------------------------------------------------------------------- */

/* Each column element goes to its place in the window: a transposed convolution per channel whose
 * weights, [channels * window, 1, window...], hold a single 1 each. */
static struct value *placing_weights(struct onnx_node *node, enum dtype dtype, int64_t channels,
                                     const struct ints *kernel)
{
    struct type type = { dtype, 2 + kernel->n, { channels, 1 }, NULL };
    int64_t n = 1;
    struct tensor weights;

    for (int i = 0; i < kernel->n; i++) {
        type.dim[2 + i] = kernel->at[i];
        n *= kernel->at[i];
    }
    type.dim[0] *= n;
    if (type.dim[0] > MOST_ELEMENTS / n) {
        onnx_unsupported(node, "a window of %lld elements over %lld channels is too big",
                         (long long)n, (long long)channels);
        return NULL;
    }
    if (!onnx_granted(node, dtype, (double)type_elements(&type)))
        return NULL;
    weights = tensor_new(&node->fn->module->bulk, &type);
    for (int64_t row = 0; row < type.dim[0]; row++)
        dtype_store(dtype, weights.data, row * n + row % n, 1);
    return onnx_from_tensor(node, &weights, "places");
}

struct columns {
    struct ints image, block, blocks; /* extents; blocks: how many of them fit */
    struct onnx_window window;
    int64_t n_block; /* elements of one */
};

/* How many blocks fit in each dim; their number must be that of the columns. */
static bool count_blocks(struct onnx_node *node, struct columns *c)
{
    const struct type *x = &onnx_input(node, 0)->type;
    int64_t total = 1;

    c->blocks = ints_fill(c->window.n, 0);
    c->n_block = 1;
    for (int i = 0; i < c->window.n; i++) {
        const int64_t covered = (c->block.at[i] - 1) * c->window.dilation.at[i] + 1;
        const int64_t room = c->image.at[i] + c->window.padding.at[i] +
                             c->window.padding.at[c->window.n + i] - covered;

        if (c->image.at[i] < 1 || c->image.at[i] > MOST_ELEMENTS || room < 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "a block does not fit into the image in dimension %d", i);
        c->blocks.at[i] = room / c->window.strides.at[i] + 1;
        if (__builtin_mul_overflow(total, c->blocks.at[i], &total) ||
            __builtin_mul_overflow(c->n_block, c->block.at[i], &c->n_block))
            return diag_error(node->ctx, DIAG_TOO_BIG, node->origin, "the blocks overflow");
    }
    if (total == x->dim[2] && x->dim[1] % c->n_block == 0)
        return true;
    return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                      "the columns have shape %s, wanted %lld blocks of %lld elements",
                      shape_text(&node->ctx->perm, x), (long long)total, (long long)c->n_block);
}

/* window_read_steps takes the number of dims from an input's rank; here they come with the image.
 */
static bool read_columns(struct onnx_node *node, struct columns *c)
{
    const struct ints *lists[] = { &c->window.strides, &c->window.dilation };

    if (!onnx_constant_ints(node, 1, &c->image) || !onnx_constant_ints(node, 2, &c->block))
        return false;
    c->window.n = c->image.n;
    if (c->image.n < 1 || c->image.n > MAX_SPATIAL || c->block.n != c->image.n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the image has %d dimensions and a block %d, relayc takes 1 to %d",
                          c->image.n, c->block.n, MAX_SPATIAL);
    c->window.strides = onnx_ints(node, "strides");
    c->window.dilation = onnx_ints(node, "dilations");
    c->window.padding = onnx_ints(node, "pads");
    if (!onnx_has(node, "strides"))
        c->window.strides = ints_fill(c->window.n, 1);
    if (!onnx_has(node, "dilations"))
        c->window.dilation = ints_fill(c->window.n, 1);
    if (!onnx_has(node, "pads"))
        c->window.padding = ints_fill(2 * c->window.n, 0);
    if (!onnx_ok(node))
        return false;
    for (int i = 0; i < c->window.n; i++)
        for (int k = 0; k < 2; k++)
            if (lists[k]->n != c->window.n || lists[k]->at[i] < 1 ||
                lists[k]->at[i] > MOST_ELEMENTS || c->block.at[i] < 1 ||
                c->block.at[i] > MOST_ELEMENTS)
                return bad_attribute(node, "strides, dilations and the block must be 1 or more in "
                                           "each dimension");
    for (int i = 0; i < 2 * c->window.n; i++)
        if (c->window.padding.n != 2 * c->window.n || c->window.padding.at[i] < 0 ||
            c->window.padding.at[i] > MOST_ELEMENTS)
            return bad_attribute(node, "pads must be 0 or more at both ends of each dimension");
    return true;
}

bool convert_col2im(struct onnx_node *node)
{
    static const enum op ops[] = { OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE, OP_CONV3D_TRANSPOSE };
    union attrs attrs = { .conv_transpose = { .groups = 1 } };
    struct value *x = onnx_input(node, 0), *weights;
    struct columns c = { .n_block = 1 };
    struct ints shape;

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, 3) || !read_columns(node, &c) || !count_blocks(node, &c))
        return false;
    shape = (struct ints){ 2, { x->type.dim[0], x->type.dim[1] } };
    attrs.conv_transpose.output_padding = ints_fill(c.window.n, 0);
    for (int i = 0; i < c.window.n; i++) {
        const int64_t covered = (c.block.at[i] - 1) * c.window.dilation.at[i] + 1;

        shape.at[shape.n++] = c.blocks.at[i];
        attrs.conv_transpose.output_padding.at[i] = /* what no block reaches */
            c.image.at[i] + c.window.padding.at[i] + c.window.padding.at[c.window.n + i] -
            (c.blocks.at[i] - 1) * c.window.strides.at[i] - covered;
    }
    attrs.conv_transpose.groups = x->type.dim[1] / c.n_block;
    attrs.conv_transpose.strides = c.window.strides;
    attrs.conv_transpose.padding = c.window.padding;
    attrs.conv_transpose.dilation = c.window.dilation;
    attrs.conv_transpose.data_layout = window_layout(c.window.n, false, false);
    attrs.conv_transpose.kernel_layout = window_layout(c.window.n, true, true);
    weights = placing_weights(node, x->type.dtype, attrs.conv_transpose.groups, &c.block);
    x = reshape_to(node, x, &shape, "blocks");
    return onnx_output(node, 0, onnx_build2(node, ops[c.window.n - 1], &attrs, "", x, weights));
}
