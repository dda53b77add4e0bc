/* convert_slice.c - Slice, Pad and CenterCropPad. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

static int64_t clamp(int64_t number, int64_t low, int64_t high)
{
    return number < low ? low : number > high ? high : number;
}

void slice_dim(struct slice_attrs *slice, int axis, int64_t extent, int64_t start, int64_t end,
               int64_t step)
{
    int64_t size;

    step = clamp(step, -extent - 1, extent + 1); /* longer steps see the first element only */
    start = start < 0 ? start + extent : start;
    end = end < 0 ? end + extent : end;
    if (step > 0) {
        start = clamp(start, 0, extent);
        size = (clamp(end, 0, extent) - start + step - 1) / step;
    } else {
        start = clamp(start, extent > 0 ? 0 : -1, extent - 1);
        size = (start - clamp(end, -1, extent - 1) - step - 1) / -step;
    }
    slice->size.at[axis] = size > 0 ? size : 0;
    slice->begin.at[axis] = size > 0 ? start : 0;
    slice->strides.at[axis] = size > 0 ? step : 1;
}

struct slicing {
    struct ints starts, ends, axes, steps;
};

/* Attributes before opset 10, inputs from there on. */
static bool read_slicing(struct onnx_node *node, int rank, struct slicing *how)
{
    bool given, given_axes, given_steps = false;

    if (node->opset < 10 && (!onnx_has(node, "starts") || !onnx_has(node, "ends")))
        return bad_attribute(node, "attribute starts or ends is missing");
    if (!onnx_check_inputs(node, node->opset < 10 ? 1 : 3, node->opset < 10 ? 1 : 5) ||
        !list_of(node, "starts", 1, &how->starts, &given) ||
        !list_of(node, "ends", 2, &how->ends, &given) ||
        !list_of(node, "axes", 3, &how->axes, &given_axes))
        return false;
    if (node->opset >= 10 && !list_of(node, "steps", 4, &how->steps, &given_steps))
        return false;
    if (!given_steps)
        how->steps = ints_fill(how->starts.n, 1);
    if (!given_axes) {
        how->axes.n = how->starts.n;
        for (int i = 0; i < how->axes.n; i++)
            how->axes.at[i] = i;
    }
    if (how->ends.n != how->starts.n || how->axes.n != how->starts.n ||
        how->steps.n != how->starts.n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "starts, ends, axes and steps have %d, %d, %d and %d numbers",
                          how->starts.n, how->ends.n, how->axes.n, how->steps.n);
    for (int i = 0; i < how->steps.n; i++)
        if (how->steps.at[i] == 0)
            return bad_attribute(node, "a step is 0");
    return rank >= how->axes.n || diag_error(node->ctx, DIAG_SHAPE, node->origin,
                                             "%d axes are sliced of %d", how->axes.n, rank);
}

bool convert_slice(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .slice = { .begin = { 0 } } };
    bool seen[MAX_RANK] = { false };
    struct slicing how;

    if (!onnx_check_inputs(node, 1, 5))
        return false;
    if (node->opset >= 10 && !numbers_are_known(node, 1, 4))
        return slice_at_run_time(node);
    if (!read_slicing(node, x->type.rank, &how))
        return false;
    attrs.slice.begin = ints_fill(x->type.rank, 0);
    attrs.slice.strides = ints_fill(x->type.rank, 1);
    attrs.slice.size = ints_of_shape(&x->type);
    for (int i = 0; i < how.axes.n; i++) {
        int axis = normal_axis(node, how.axes.at[i], x->type.rank);

        if (axis < 0)
            return false;
        if (seen[axis])
            return bad_attribute(node, "axis %d is given twice", axis);
        seen[axis] = true;
        slice_dim(&attrs.slice, axis, x->type.dim[axis], how.starts.at[i], how.ends.at[i],
                  how.steps.at[i]);
    }
    return onnx_output(node, 0, onnx_build1(node, OP_STRIDED_SLICE, &attrs, "", x));
}

/* --- Pad -------------------------------------------------------------------------------------- */
static const char *pad_mode(struct onnx_node *node)
{
    static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };
    const char *mode = onnx_word(node, "mode", "constant");

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i]) == 0)
            return modes[i];
    bad_attribute(node, "attribute mode is none of constant, reflect, edge and wrap");
    return NULL;
}

/* All begins, then all ends, of the given axes (opset 18; all axes otherwise). */
static bool read_pads(struct onnx_node *node, int rank, struct pad_attrs *pad)
{
    struct ints pads, axes;
    bool given;

    if (!list_of(node, "pads", 1, &pads, &given) || !list_of(node, "axes", 3, &axes, &given))
        return false;
    for (int i = 0; !given && i < rank; i++)
        axes.at[axes.n++] = i;
    if (pads.n != 2 * axes.n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "there are %d pads, wanted 2 for each of %d axes", pads.n, axes.n);
    pad->pad_before = pad->pad_after = ints_fill(rank, 0);
    for (int i = 0; i < axes.n; i++) {
        int axis = normal_axis(node, axes.at[i], rank);

        if (axis < 0)
            return false;
        pad->pad_before.at[axis] += pads.at[i];
        pad->pad_after.at[axis] += pads.at[axes.n + i];
        if (pads.at[i] > INT32_MAX || pads.at[i] < -INT32_MAX || pads.at[axes.n + i] > INT32_MAX ||
            pads.at[axes.n + i] < -INT32_MAX)
            return diag_error(node->ctx, DIAG_TOO_BIG, node->origin, "a pad is out of range");
    }
    return true;
}

bool convert_pad(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .pad = { .mode = pad_mode(node) } };

    if (!onnx_check_inputs(node, node->opset < 11 ? 1 : 2, node->opset < 11 ? 1 : 4) ||
        !attrs.pad.mode)
        return false;
    if (node->opset >= 11 && !numbers_are_known(node, 1, 3))
        return pad_at_run_time(node, attrs.pad.mode);
    if (!read_pads(node, x->type.rank, &attrs.pad))
        return false;
    if (node->opset < 11)
        attrs.pad.value = onnx_real(node, "value", 0);
    else if (onnx_input(node, 2) && !onnx_constant_real(node, 2, &attrs.pad.value))
        return false;
    return onnx_ok(node) && onnx_output(node, 0, onnx_build1(node, OP_PAD, &attrs, "", x));
}

/* Of com.microsoft: as that of operator set 13, but that the pads may be [1, n]. */
bool convert_contributed_pad(struct onnx_node *node)
{
    struct ints list = { 1, { 0 } };

    if (!onnx_check_inputs(node, 2, 3))
        return false;
    list.at[0] = type_elements(&node->inputs[1]->type);
    node->inputs[1] = reshape_to(node, node->inputs[1], &list, "pads");
    return node->inputs[1] &&
           onnx_output(node, 0,
                       onnx_inner(node, convert_pad, 0, 13, node->n_inputs, node->inputs, ""));
}

/* Where the extent grows or shrinks by an odd number, the end gets the larger part. */
bool convert_center_crop_pad(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .pad = { .mode = "constant" } };
    struct ints axes = onnx_ints(node, "axes"), shape;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_ok(node) || !onnx_constant_ints(node, 1, &shape))
        return false;
    for (int i = 0; !onnx_has(node, "axes") && i < x->type.rank; i++)
        axes.at[axes.n++] = i;
    if (axes.n != shape.n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the shape has %d numbers for %d axes", shape.n, axes.n);
    attrs.pad.pad_before = attrs.pad.pad_after = ints_fill(x->type.rank, 0);
    for (int i = 0; i < axes.n; i++) {
        int axis = normal_axis(node, axes.at[i], x->type.rank);
        int64_t more;

        if (axis < 0)
            return false;
        if (shape.at[i] < 0 || shape.at[i] > INT32_MAX)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin, "the extent %lld is negative",
                              (long long)shape.at[i]);
        more = shape.at[i] - x->type.dim[axis];
        attrs.pad.pad_before.at[axis] = more / 2;
        attrs.pad.pad_after.at[axis] = more - more / 2;
    }
    return onnx_output(node, 0, onnx_build1(node, OP_PAD, &attrs, "", x));
}
