/* rows.c - see rows.h. The layout of an operator (ops.def) says what its C kernels can do
 * (codegen_c/kernels): one whose kernels know channels first only is FIXED. */
#include "relay_ir/passes/layout/rows.h"

#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/overlap.h"
#include "relay_ir/region.h"

/* Of f32, with weights that are known: packed for the kernel. */
static bool is_packed_f32(const struct node *node)
{
    return node->inputs[1]->kind == VALUE_CONSTANT && node->outputs[0]->type.dtype == DTYPE_F32;
}

/* Or with weights of f32, which are packed at run time, where nothing is decoded. Depthwise kernels
 * of such weights know planes only. */
static bool is_conv_f32(const struct node *node)
{
    const struct value *x = node->inputs[0], *w = node->inputs[1];

    if (w->kind == VALUE_CONSTANT || w->type.dtype != DTYPE_F32 || x->type.dtype != DTYPE_F32)
        return is_packed_f32(node);
    return w->type.dim[1] > 1 && !(x->def && is_decoder(x->def)) &&
           node->outputs[0]->type.dtype == DTYPE_F32;
}

/* Likewise; blocks that share scales lie along the channels that the constant has them in. What
 * only adds up windows goes by planes. */
static bool is_packed_plain(const struct node *node)
{
    return is_packed_f32(node) && !type_has_blocks(&node->inputs[1]->type) && !adds_windows(node);
}

static bool is_of_f32(const struct node *node)
{
    return node->inputs[0]->type.dtype == DTYPE_F32;
}

/* Whole numbers of times, as a kernel for planes takes it. */
static bool repeats(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    bool whole = strcmp(node->attrs.resize.method, "nearest_neighbor") == 0;

    for (int i = 0; i < x->rank; i++)
        whole = whole && x->dim[i] > 0 && y->dim[i] % x->dim[i] == 0;
    return whole && is_of_f32(node);
}

/* Rows of f32 that a kernel for planes takes by vectors. */
static bool has_long_rows(const struct node *node)
{
    enum { LONG = 16 };
    const struct type *x = &node->inputs[0]->type;

    return is_of_f32(node) && x->dim[x->rank - 1] >= LONG;
}

/* Planes of f32 that a kernel for planes takes by vectors. */
static bool has_large_planes(const struct node *node)
{
    enum { LARGE = 16 };
    const struct type *x = &node->inputs[0]->type;

    return is_of_f32(node) && type_span(x, 2, x->rank) >= LARGE;
}

/* Whole numbers of times, or weighed with columns a constant step apart. */
static bool resizes_planes(const struct node *node)
{
    if (strcmp(node->attrs.resize.method, "nearest_neighbor") == 0)
        return repeats(node);
    return has_long_rows(node) && resize_step(node, node->inputs[0]->type.rank - 1) > 1;
}

enum { ALL = -1 };

/* What ops.def's column `layout` does not tell. */
static const struct row {
    int n_images; /* 0: of element-wise operators all inputs, of others the first; ALL: every one */
    bool mixes;   /* where there are no groups */
    bool (*has_kernel)(const struct node *node); /* NULL = always */
    bool (*planes)(const struct node *node);     /* goes nearly as fast channels first; NULL = no */
} rows[OP_COUNT] = {
    [OP_BIAS_ADD] = { .n_images = 1 },
    [OP_CONCATENATE] = { .n_images = ALL },
    [OP_CONV1D] = { .mixes = true, .has_kernel = is_conv_f32 },
    [OP_CONV1D_TRANSPOSE] = { .has_kernel = is_packed_plain },
    [OP_CONV2D] = { .mixes = true, .has_kernel = is_conv_f32 },
    [OP_CONV2D_TRANSPOSE] = { .has_kernel = is_packed_plain },
    [OP_CONV3D] = { .mixes = true, .has_kernel = is_conv_f32 },
    [OP_CONV3D_TRANSPOSE] = { .has_kernel = is_packed_plain },
    [OP_DEPTH_TO_SPACE] = { .planes = is_of_f32 },
    [OP_GLOBAL_AVG_POOL] = { .planes = is_of_f32 },
    [OP_GLOBAL_MAX_POOL] = { .planes = is_of_f32 },
    [OP_GROUP_NORM] = { .planes = has_large_planes },
    [OP_INSTANCE_NORM] = { .planes = has_large_planes },
    [OP_IF] = { .n_images = ALL },
    [OP_MAX_POOL1D] = { .planes = has_long_rows },
    [OP_MAX_POOL2D] = { .planes = has_long_rows },
    [OP_QNN_ADD] = { .n_images = 2 },
    [OP_QNN_CONV1D] = { .mixes = true },
    [OP_QNN_CONV2D] = { .mixes = true },
    [OP_QNN_CONV3D] = { .mixes = true },
    [OP_QNN_DEQUANTIZE] = { .n_images = 1 },
    [OP_QNN_DIV] = { .n_images = 2 },
    [OP_QNN_LUT] = { .n_images = 1 },
    [OP_QNN_MUL] = { .n_images = 2 },
    [OP_QNN_PWL] = { .n_images = 1 },
    [OP_QNN_QUANTIZE] = { .n_images = 1 },
    [OP_QNN_REQUANTIZE] = { .n_images = 1 },
    [OP_QNN_SUBTRACT] = { .n_images = 2 },
    [OP_RESIZE] = { .planes = resizes_planes },
    [OP_SPACE_TO_DEPTH] = { .planes = is_of_f32 },
};

static bool has_kernel(const struct node *node)
{
    const struct row *row = &rows[node->op];

    return !row->has_kernel || row->has_kernel(node);
}

int layout_n_images(const struct node *node)
{
    const bool all = op_row(node->op)->layout == LAYOUT_FIXED || op_is_elementwise(node->op);
    const int n = rows[node->op].n_images ? rows[node->op].n_images : all ? ALL : 1;

    return n == ALL ? node->n_inputs : n;
}

bool layout_mixes(const struct node *node)
{
    return rows[node->op].mixes && node->attrs.conv.groups == 1;
}

bool layout_takes_channels_first(const struct node *node)
{
    return rows[node->op].planes && rows[node->op].planes(node);
}

bool layout_permutes_constant(const struct value *value)
{
    return !type_has_blocks(&value->type);
}

/* An image of a FREE node has all dims of its output, or is one number, or a constant. */
static bool fits_free(const struct node *node, const struct value *image)
{
    if (image->kind == VALUE_CONSTANT)
        return layout_permutes_constant(image);
    return image->type.rank == node->outputs[0]->type.rank || type_elements(&image->type) == 1;
}

static enum layout_kind kind_of_free(const struct node *node)
{
    const int rank = node->outputs[0]->type.rank;

    if (rank < 3)
        return LAYOUT_FIXED;
    for (int i = 0; i < layout_n_images(node); i++)
        if (!node->inputs[i] || !fits_free(node, node->inputs[i]))
            return LAYOUT_FIXED;
    if (node->op == OP_BROADCAST_TO && node->inputs[0]->type.rank != rank)
        return LAYOUT_FIXED;
    return LAYOUT_FREE;
}

/* Only in the spatial dims, whatever the layout is going to be. */
static bool resizes_places(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;

    return x->dim[0] == y->dim[0] && x->dim[1] == y->dim[1];
}

static enum layout_kind kind_of_spatial(const struct node *node)
{
    const int rank = node->inputs[0]->type.rank;

    if (rank < 3 || rank > 5 || node->inputs[0]->kind == VALUE_CONSTANT)
        return LAYOUT_FIXED;
    if ((node->op == OP_RESIZE || node->op == OP_QNN_RESIZE) && !resizes_places(node))
        return LAYOUT_FIXED;
    return has_kernel(node) ? LAYOUT_SPATIAL : LAYOUT_FIXED;
}

enum layout_kind layout_kind(const struct node *node)
{
    const enum layout_kind kind = op_row(node->op)->layout;

    if (kind == LAYOUT_FREE)
        return kind_of_free(node);
    if (kind == LAYOUT_SPATIAL)
        return kind_of_spatial(node);
    if (kind != LAYOUT_FIXED && node->inputs[0]->kind == VALUE_CONSTANT)
        return LAYOUT_FIXED;
    return kind;
}

/* --- attributes ------------------------------------------------------------------------------- */

static int64_t turned_axis(const struct order *order, int rank, int64_t axis)
{
    for (int i = 0; i < rank; i++)
        if (order->at[i] == axis)
            return i;
    return axis;
}

/* One entry per dim. */
static void turn_list(const struct order *order, int rank, struct ints *list)
{
    const struct ints was = *list;

    for (int i = 0; i < rank && list->n == rank; i++)
        list->at[i] = was.at[order->at[i]];
}

static void turn_axes(const struct order *order, int rank, struct ints *axes)
{
    struct ints turned = { .n = 0 };

    for (int i = 0; i < rank; i++) /* sorted again */
        if (ints_has(axes, order->at[i]))
            turned.at[turned.n++] = i;
    *axes = turned;
}

static void turn_resize(const struct order *order, int rank, struct resize_attrs *attrs)
{
    const struct resize_attrs was = *attrs;

    for (int i = 0; i < rank; i++) {
        attrs->size.at[i] = was.size.at[order->at[i]];
        if (was.scales.n)
            attrs->scales.at[i] = was.scales.at[order->at[i]];
        if (was.roi.n) {
            attrs->roi.at[i] = was.roi.at[order->at[i]];
            attrs->roi.at[rank + i] = was.roi.at[rank + order->at[i]];
        }
    }
}

static const char *word(int rank, bool last)
{
    static const char *const words[][2] = { { "NCW", "NWC" },
                                            { "NCHW", "NHWC" },
                                            { "NCDHW", "NDHWC" } };

    return words[rank - 3][last];
}

void layout_permute_attrs(const struct node *node, const struct order *in, bool in_last,
                          bool out_last, union attrs *attrs)
{
    const int rank = node->inputs[0]->type.rank;

    switch (op_row(node->op)->attrs) {
    case ATTRS_arg: attrs->arg.axis = turned_axis(in, rank, attrs->arg.axis); break;
    case ATTRS_axis: attrs->axis.axis = turned_axis(in, rank, attrs->axis.axis); break;
    case ATTRS_batch_norm:
        attrs->batch_norm.axis = turned_axis(in, rank, attrs->batch_norm.axis);
        break;
    case ATTRS_block: attrs->block.layout = word(rank, in_last); break;
    case ATTRS_conv:
        attrs->conv.data_layout = word(rank, in_last);
        attrs->conv.out_layout = word(rank, out_last);
        break;
    case ATTRS_conv_transpose: attrs->conv_transpose.data_layout = word(rank, in_last); break;
    case ATTRS_cumsum: attrs->cumsum.axis = turned_axis(in, rank, attrs->cumsum.axis); break;
    case ATTRS_layout: attrs->layout.layout = word(rank, in_last); break;
    case ATTRS_lp_normalize:
        attrs->lp_normalize.axis = turned_axis(in, rank, attrs->lp_normalize.axis);
        break;
    case ATTRS_lrn: attrs->lrn.layout = word(rank, in_last); break;
    case ATTRS_norm: attrs->norm.axis = in_last ? rank - 1 : 1; break;
    case ATTRS_pad:
        turn_list(in, rank, &attrs->pad.pad_before);
        turn_list(in, rank, &attrs->pad.pad_after);
        break;
    case ATTRS_pool: attrs->pool.layout = word(rank, in_last); break;
    case ATTRS_quantize: attrs->quantize.axis = turned_axis(in, rank, attrs->quantize.axis); break;
    case ATTRS_reduce: turn_axes(in, rank, &attrs->reduce.axis); break;
    case ATTRS_requantize:
        attrs->requantize.axis = turned_axis(in, rank, attrs->requantize.axis);
        break;
    case ATTRS_resize: turn_resize(in, rank, &attrs->resize); break;
    case ATTRS_shape: turn_list(in, rank, &attrs->shape.shape); break;
    case ATTRS_slice:
        turn_list(in, rank, &attrs->slice.begin);
        turn_list(in, rank, &attrs->slice.strides);
        turn_list(in, rank, &attrs->slice.size);
        break;
    case ATTRS_split: attrs->split.axis = turned_axis(in, rank, attrs->split.axis); break;
    case ATTRS_topk: attrs->topk.axis = turned_axis(in, rank, attrs->topk.axis); break;
    default: break; /* nothing there tells dims from one another */
    }
}
