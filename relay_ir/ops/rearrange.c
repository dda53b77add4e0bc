/* rearrange.c - depth_to_space, space_to_depth, trilu and reverse_sequence. */
#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/ops/walk.h"

enum { N, C, H, W }; /* axes */
enum { MAX_BLOCK = 4096 };

bool infer_depth_space(struct ctx *ctx, struct node *node)
{
    static const char *const modes[] = { "DCR", "CRD" };
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const struct type *x = input_type(node, 0);
    const int64_t block = node->attrs.block.block_size;
    struct type shape;
    bool divides;

    if (!check_rank(ctx, node, 0, 4, 4) ||
        !spatial_check_layout(ctx, node, "layout", 2, &node->attrs.block.layout) ||
        !check_word(ctx, node, "mode", &node->attrs.block.mode, modes, to_space ? 2 : 1))
        return false;
    if (block < 1 || block > MAX_BLOCK)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: block size %lld, wanted is 1 to %d", op_name(node->op),
                          (long long)block, MAX_BLOCK);
    shape = type_channels_first(x, node->attrs.block.layout);
    divides = to_space ? shape.dim[C] % (block * block) == 0
                       : shape.dim[H] % block == 0 && shape.dim[W] % block == 0;
    if (!divides)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shape %s does not divide into blocks of %lldx%lld",
                          op_name(node->op), shape_text(&ctx->perm, x), (long long)block,
                          (long long)block);
    shape.dim[C] = to_space ? shape.dim[C] / (block * block) : shape.dim[C] * block * block;
    shape.dim[H] = to_space ? shape.dim[H] * block : shape.dim[H] / block;
    shape.dim[W] = to_space ? shape.dim[W] * block : shape.dim[W] / block;
    shape = type_in_layout(&shape, node->attrs.block.layout);
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    return true;
}

/* Element steps of (n, c, h, w) in a tensor of this layout. */
static void image_steps(const struct type *type, const char *layout, int64_t *step)
{
    int64_t own[MAX_RANK];
    int order[MAX_RANK];

    shape_strides(type, own);
    layout_to_first(layout, type->rank, order);
    for (int i = 0; i < type->rank; i++)
        step[i] = own[order[i]];
}

/* Both directions are one copy over (n, c, h, block row, w, block column), where h and w count
 * blocks: in space, steps follow from the image; in depth, block row and column are channels. */
bool eval_depth_space(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const int64_t block = node->attrs.block.block_size;
    const char *layout = node->attrs.block.layout;
    const struct type deep = type_channels_first(to_space ? &in[0]->type : &out->type, layout);
    const int64_t channels = deep.dim[C] / (block * block);
    const int64_t dims[] = { deep.dim[N], channels, deep.dim[H], block, deep.dim[W], block };
    const bool channel_first = strcmp(node->attrs.block.mode, "CRD") == 0;
    int64_t d[4], f[4]; /* steps of the deep and of the flat image */

    (void)ctx;
    image_steps(to_space ? &in[0]->type : &out->type, layout, d);
    image_steps(to_space ? &out->type : &in[0]->type, layout, f);
    /* channel of deep: DCR (row, column, c), CRD (c, row, column) */
    const int64_t c_step = d[C] * (channel_first ? block * block : 1);
    const int64_t block_step = d[C] * (channel_first ? 1 : channels);
    const int64_t deep_step[] = { d[N], c_step, d[H], block * block_step, d[W], block_step };
    const int64_t flat_step[] = { f[N], f[C], f[H] * block, f[H], f[W] * block, f[W] };

    copy_steps(6, dims, dtype_bytes(out->type.dtype), out->data, to_space ? flat_step : deep_step,
               in[0]->data, to_space ? deep_step : flat_step);
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
            "%s: batch axis %lld and time axis %lld, wanted are 0 and 1 in either order",
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
