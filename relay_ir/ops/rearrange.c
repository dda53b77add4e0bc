/* rearrange.c - depth_to_space, space_to_depth, trilu and reverse_sequence. */
#include "relay_ir/ops/rearrange.h"

#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/walk.h"

enum { N, C, FIRST }; /* axes: batch, channels, first spatial dim */
enum { MAX_BLOCK = 4096, MAX_PLACES = MAX_BLOCK * MAX_BLOCK }; /* of a block */

/* Elements of a block; the sizes are in range. */
static int64_t block_len(const struct ints *block)
{
    int64_t len = 1;

    for (int i = 0; i < block->n; i++)
        len *= block->at[i];
    return len;
}

static bool check_blocks(struct ctx *ctx, const struct node *node, const struct ints *block)
{
    for (int i = 0; i < block->n; i++)
        if (block->at[i] < 1 || block->at[i] > MAX_BLOCK)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: block size %lld, expected 1 to %d", op_name(node->op),
                              (long long)block->at[i], MAX_BLOCK);
    if (block_len(block) > MAX_PLACES)
        return diag_error(ctx, DIAG_TOO_BIG, node_origin(node), "%s: blocks of %lld, expected %d",
                          op_name(node->op), (long long)block_len(block), MAX_PLACES);
    return true;
}

static bool divides(const struct type *shape, const struct ints *block, bool to_space)
{
    bool ok = !to_space || shape->dim[C] % block_len(block) == 0;

    for (int i = 0; i < block->n && !to_space; i++)
        ok = ok && shape->dim[FIRST + i] % block->at[i] == 0;
    return ok;
}

/* "2x2" */
static const char *block_text(struct arena *arena, const struct ints *block)
{
    struct str out = { .arena = arena };

    for (int i = 0; i < block->n; i++)
        str_printf(&out, "%s%lld", i ? "x" : "", (long long)block->at[i]);
    return str_text(&out);
}

/* x (n, c, spatial...) -> y (n, c / block, spatial * block...), and back; or with the channels
 * last. */
bool infer_depth_space(struct ctx *ctx, struct node *node)
{
    static const char *const modes[] = { "DCR", "CRD" };
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const struct type *x = input_type(node, 0);
    const int rank = x->rank - 2;
    struct ints *block = &node->attrs.block.block_size;
    struct type shape;

    if (!check_rank(ctx, node, 0, 3, 2 + MAX_SPATIAL) ||
        !spatial_check_layout(ctx, node, "layout", rank, &node->attrs.block.layout) ||
        !check_word(ctx, node, "mode", &node->attrs.block.mode, modes, to_space ? 2 : 1) ||
        !spatial_check_list(ctx, node, "block_size", rank, 1, 1, block) ||
        !check_blocks(ctx, node, block))
        return false;
    shape = type_channels_first(x, node->attrs.block.layout);
    if (!divides(&shape, block, to_space))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shape %s does not divide into blocks of %s", op_name(node->op),
                          shape_text(&ctx->perm, x), block_text(&ctx->perm, block));
    shape.dim[C] = to_space ? shape.dim[C] / block_len(block) : shape.dim[C] * block_len(block);
    for (int i = 0; i < rank; i++)
        shape.dim[FIRST + i] =
            to_space ? shape.dim[FIRST + i] * block->at[i] : shape.dim[FIRST + i] / block->at[i];
    shape = type_in_layout(&shape, node->attrs.block.layout);
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    return true;
}

static struct layout_steps with_pixel_stride(const struct type *type, const char *layout,
                                             int64_t pixel_stride)
{
    struct layout_steps steps = layout_steps(type, layout);

    if (pixel_stride) {
        steps.image = steps.image / steps.place * pixel_stride;
        steps.place = pixel_stride;
    }
    return steps;
}

struct depth_space_steps depth_space_steps(const struct node *node, int64_t x_pixel_stride,
                                           int64_t y_pixel_stride)
{
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct type *deep = to_space ? x : y, *flat = to_space ? y : x;
    const char *layout = node->attrs.block.layout;
    const struct ints *block = &node->attrs.block.block_size;
    const struct type image = type_channels_first(deep, layout);
    const struct layout_steps d =
        with_pixel_stride(deep, layout, to_space ? x_pixel_stride : y_pixel_stride);
    const struct layout_steps f =
        with_pixel_stride(flat, layout, to_space ? y_pixel_stride : x_pixel_stride);
    const bool channel_first = strcmp(node->attrs.block.mode, "CRD") == 0;
    const int64_t channels = image.dim[C] / block_len(block);
    struct depth_space_steps s = { .n = 2 + 2 * block->n, .dim = { image.dim[N], channels } };
    int64_t in_block = channel_first ? d.channel : d.channel * channels;
    int64_t d_place = d.place, f_place = f.place;

    s.deep[N] = d.image;
    s.flat[N] = f.image;
    s.deep[C] = channel_first ? d.channel * block_len(block) : d.channel;
    s.flat[C] = f.channel;
    for (int i = block->n - 1; i >= 0; i--) { /* from the innermost */
        const int at = FIRST + 2 * i;

        s.dim[at] = image.dim[FIRST + i];
        s.deep[at] = d_place;
        s.flat[at] = f_place * block->at[i];
        s.dim[at + 1] = block->at[i];
        s.deep[at + 1] = in_block;
        s.flat[at + 1] = f_place;
        d_place *= image.dim[FIRST + i];
        f_place *= image.dim[FIRST + i] * block->at[i];
        in_block *= block->at[i];
    }
    return s;
}

bool eval_depth_space(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const struct depth_space_steps s = depth_space_steps(node, 0, 0);

    (void)ctx;
    copy_steps(s.n, s.dim, dtype_bytes(out->type.dtype), out->data, to_space ? s.flat : s.deep,
               in[0]->data, to_space ? s.deep : s.flat);
    return true;
}

bool infer_same_first(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct reverse_sequence_attrs *reverse = &node->attrs.reverse_sequence;

    if (!check_rank(ctx, node, 0, 2, MAX_RANK))
        return false;
    set_output(node, 0, x->dtype, x);
    if (node->op != OP_REVERSE_SEQUENCE)
        return true;
    pass_scales(node, 0, 0, -1);
    if (!check_axis(ctx, node, x, &reverse->batch_axis) ||
        !check_axis(ctx, node, x, &reverse->time_axis) || !check_index_type(ctx, node, 1) ||
        !check_rank(ctx, node, 1, 1, 1))
        return false;
    if (reverse->batch_axis == reverse->time_axis || reverse->batch_axis > 1 ||
        reverse->time_axis > 1)
        return diag_error(
            ctx, DIAG_SHAPE, node_origin(node),
            "%s: batch axis %lld and time axis %lld, expected 0 and 1 in either order",
            op_name(node->op), (long long)reverse->batch_axis, (long long)reverse->time_axis);
    if (input_type(node, 1)->dim[0] != x->dim[reverse->batch_axis])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld sequence lengths for a batch of %lld", op_name(node->op),
                          (long long)input_type(node, 1)->dim[0],
                          (long long)x->dim[reverse->batch_axis]);
    return true;
}

bool eval_trilu(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const struct type *y = &out->type;
    const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
    const int64_t lines = type_span(y, 0, y->rank - 1), k = node->attrs.trilu.k;
    const size_t bytes = dtype_bytes(y->dtype);

    (void)ctx;
    if (type_elements(y) == 0)
        return true;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t column = 0; column < columns; column++) {
            const int64_t diagonal = column - line % rows, at = line * columns + column;

            if (node->attrs.trilu.upper ? diagonal >= k : diagonal <= k)
                memcpy(element_at(out, at), element_at(in[0], at), bytes);
        }
    return true;
}

/* The length of sequence `batch`, or -1 after an error. */
static int64_t sequence_length(struct ctx *ctx, const struct node *node,
                               const struct tensor *lengths, int64_t batch, int64_t times)
{
    const int64_t length = tensor_int_at(lengths, batch);

    if (length >= 0 && length <= times)
        return length;
    diag_error(ctx, DIAG_SHAPE, node_origin(node),
               "%s: sequence %lld has length %lld, the time axis has extent %lld",
               op_name(node->op), (long long)batch, (long long)length, (long long)times);
    return -1;
}

bool eval_reverse_sequence(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                           struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const int64_t batch_axis = node->attrs.reverse_sequence.batch_axis;
    const int64_t time_axis = node->attrs.reverse_sequence.time_axis;
    const int64_t times = x->dim[time_axis], rest = type_span(x, 2, x->rank);
    const size_t bytes = dtype_bytes(x->dtype) * (size_t)rest;
    int64_t step[MAX_RANK];

    if (type_elements(x) == 0)
        return true;
    shape_strides(x, step);
    for (int64_t batch = 0; batch < x->dim[batch_axis]; batch++) {
        const int64_t length = sequence_length(ctx, node, in[1], batch, times);

        if (length < 0)
            return false;
        for (int64_t time = 0; time < times; time++) {
            const int64_t from = time < length ? length - 1 - time : time;

            memcpy(element_at(out, batch * step[batch_axis] + time * step[time_axis]),
                   element_at(in[0], batch * step[batch_axis] + from * step[time_axis]), bytes);
        }
    }
    return true;
}
