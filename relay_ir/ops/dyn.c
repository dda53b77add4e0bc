/* dyn.c - operators whose numbers are inputs, of a result whose shape is known: dyn.strided_slice and
 * dyn.nn.pad. Numbers that ask for another shape make the evaluation fail (run_time.c).
 *
 * dyn.strided_slice(x, starts, ends, axes, steps), dyn.nn.pad(x, pads, axes, value): i64 lists as in
 * ONNX's Slice and Pad, axes and steps always there; value is one element of x's type. */
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"

/* Inputs first ... last are lists of i64, of n numbers; pads (input 1 of dyn.nn.pad) have two for each
 * axis. */
static bool check_lists(struct ctx *ctx, const struct node *node, int first, int last, int64_t n)
{
    for (int i = first; i <= last; i++) {
        const struct type *list = input_type(node, i);
        const int64_t wanted = node->op == OP_DYN_PAD && i == 1 ? 2 * n : n;

        if (list->dtype != DTYPE_I64 || list->rank != 1 || list->dim[0] != wanted)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: input %d is %s, expected a list of %lld i64", op_name(node->op),
                              i, type_text(&ctx->perm, list), (long long)wanted);
    }
    return true;
}

static bool set_shape(struct ctx *ctx, struct node *node, const struct ints *shape)
{
    const struct type *x = input_type(node, 0);
    struct type y;

    if (shape->n != x->rank || x->rank == 0)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the result has %d dims, the input the shape %s", op_name(node->op),
                          shape->n, shape_text(&ctx->perm, x));
    for (int i = 0; i < shape->n; i++)
        if (shape->at[i] < 0)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: a dim of the result is %lld",
                              op_name(node->op), (long long)shape->at[i]);
    y = type_make(x->dtype, shape->n, shape->at);
    set_output(node, 0, x->dtype, &y);
    return true;
}

bool infer_dyn_slice(struct ctx *ctx, struct node *node)
{
    const struct type *starts = input_type(node, 1);

    return check_lists(ctx, node, 1, 4, starts->rank == 1 ? starts->dim[0] : 1) &&
           set_shape(ctx, node, &node->attrs.shape.shape);
}

bool infer_dyn_pad(struct ctx *ctx, struct node *node)
{
    static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };
    const struct type *axes = input_type(node, 2);

    if (!check_word(ctx, node, "mode", &node->attrs.dyn_pad.mode, modes, 4) ||
        !check_lists(ctx, node, 1, 2, axes->rank == 1 ? axes->dim[0] : 1) ||
        !check_same_dtype(ctx, node, 0, 3))
        return false;
    if (type_elements(input_type(node, 3)) != 1)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the value has the shape %s, expected one element", op_name(node->op),
                          shape_text(&ctx->perm, input_type(node, 3)));
    return set_shape(ctx, node, &node->attrs.dyn_pad.shape);
}

static bool wrong(struct ctx *ctx, const struct node *node, const struct tensor *out)
{
    return diag_error(
        ctx, DIAG_SHAPE, node_origin(node),
        "the numbers of %s ask for another shape than %s, which the file declares and "
        "for which the network was compiled",
        op_name(node->op), shape_text(&ctx->perm, &out->type));
}

static int64_t bounded(int64_t number, int64_t low, int64_t high)
{
    return number < low ? low : number > high ? high : number;
}

/* Which axis number i means; -1 = none. */
static int axis_at(const struct tensor *axes, int64_t i, int rank)
{
    const int64_t axis = tensor_int_at(axes, i);

    return axis < -rank || axis >= rank ? -1 : (int)(axis < 0 ? axis + rank : axis);
}

/* One axis: start, start + step ... while it is in front of (for a negative step: behind) end. */
static int64_t slice_axis(struct slice_attrs *slice, int axis, int64_t extent, int64_t start,
                          int64_t end, int64_t step)
{
    int64_t size = 0;

    start = start < 0 ? start + extent : start;
    end = end < 0 ? end + extent : end;
    start = step > 0 ? bounded(start, 0, extent) : bounded(start, -1, extent - 1);
    end = step > 0 ? bounded(end, 0, extent) : bounded(end, -1, extent - 1);
    if (step < 0 && start < 0 && extent > 0)
        start = 0; /* ONNX: within 0 .. extent - 1 */
    step = bounded(step, -extent - 1, extent + 1);
    for (int64_t at = start; step > 0 ? at < end : at > end; at += step)
        size++;
    slice->begin.at[axis] = start;
    slice->strides.at[axis] = step;
    slice->size.at[axis] = size;
    return size;
}

bool eval_dyn_slice(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const struct type *x = &in[0]->type;
    struct node fixed = *node;
    struct slice_attrs *slice = &fixed.attrs.slice;
    bool seen[MAX_RANK] = { false };

    fixed.op = OP_STRIDED_SLICE;
    *slice = (struct slice_attrs){ .begin = ints_fill(x->rank, 0),
                                   .strides = ints_fill(x->rank, 1),
                                   .size = ints_of(x->rank, x->dim) };
    for (int64_t i = 0; i < type_elements(&in[3]->type); i++) {
        const int axis = axis_at(in[3], i, x->rank);
        const int64_t step = tensor_int_at(in[4], i);

        if (axis < 0 || seen[axis] || step == 0)
            return wrong(ctx, node, out);
        seen[axis] = true;
        slice_axis(slice, axis, x->dim[axis], tensor_int_at(in[1], i), tensor_int_at(in[2], i),
                   step);
    }
    for (int k = 0; k < x->rank; k++)
        if (slice->size.at[k] != out->type.dim[k])
            return wrong(ctx, node, out);
    return eval_strided_slice(ctx, &fixed, in, out);
}

bool eval_dyn_pad(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const int64_t n = type_elements(&in[2]->type);
    const bool repeats = *node->attrs.dyn_pad.mode != 'c';
    struct node fixed = *node;
    struct pad_attrs *pad = &fixed.attrs.pad;

    fixed.op = OP_PAD;
    *pad = (struct pad_attrs){ .pad_before = ints_fill(x->rank, 0),
                               .pad_after = ints_fill(x->rank, 0),
                               .mode = node->attrs.dyn_pad.mode,
                               .value = tensor_at(in[3], 0) };
    for (int64_t i = 0; i < n; i++) {
        const int axis = axis_at(in[2], i, x->rank);
        const int64_t before = tensor_int_at(in[1], i), after = tensor_int_at(in[1], n + i);

        if (axis < 0 || before > INT32_MAX || before < -INT32_MAX || after > INT32_MAX ||
            after < -INT32_MAX)
            return wrong(ctx, node, out);
        pad->pad_before.at[axis] += before;
        pad->pad_after.at[axis] += after;
    }
    for (int k = 0; k < x->rank; k++) {
        const int64_t before = pad->pad_before.at[k], after = pad->pad_after.at[k];
        const int64_t kept = x->dim[k] + (before < 0 ? before : 0) + (after < 0 ? after : 0);

        if (kept < 0 || x->dim[k] + before + after != out->type.dim[k] ||
            (repeats && kept == 0 && (before > 0 || after > 0)))
            return wrong(ctx, node, out);
    }
    return eval_pad(ctx, &fixed, in, out);
}
