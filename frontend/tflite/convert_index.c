/* convert_index.c - ARG_MAX, ARG_MIN, RESIZE_NEAREST_NEIGHBOR: which elements, quantised values as they are. */
#include <math.h>

#include "frontend/tflite/convert.h"

/* The first of the greatest, in i32 or i64. */
bool convert_tfl_arg(struct tfl_node *node)
{
    const struct tfl_tensor *x, *y;
    struct ints axis;
    union attrs attrs, cast;
    struct value *index;

    if (!tfl_check(node, 2, 2, 1) || !tfl_constant_ints(node, 1, &axis))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    if (x->type.dtype != DTYPE_F32 && !tfl_check_type(node, x, DTYPE_I8))
        return false;
    if (axis.n != 1 || axis.at[0] < -x->type.rank || axis.at[0] >= x->type.rank)
        return tfl_unsupported(node, "%d axes, the first %lld, of %d dimensions", axis.n,
                               axis.n ? (long long)axis.at[0] : 0, x->type.rank);
    attrs.arg = (struct arg_attrs){ .axis = axis.at[0] };
    cast.cast = (struct cast_attrs){ .dtype = y->type.dtype, .saturate = true };
    index = tfl_build1(node, (enum op)node->arg, &attrs, "index", tfl_value(node, 0));
    return tfl_output(node, 0,
                      index && index->type.dtype != y->type.dtype
                          ? tfl_build1(node, OP_CAST, &cast, "cast", index)
                          : index);
}

/* The row that row i of the result repeats; in floats, as the kernel computes it. */
static int64_t nearest(int64_t i, int64_t in, int64_t out, bool corners, bool half)
{
    const float scale =
        corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float place = ((float)i + (half ? 0.5f : 0.0f)) * scale;
    const int64_t nearest = (int64_t)(corners ? roundf(place) : floorf(place));

    return nearest < in - 1 ? nearest : in - 1;
}

bool convert_tfl_resize_nearest(struct tfl_node *node)
{
    enum { CORNERS, HALF };
    const bool corners = tfl_flag(node, CORNERS), half = tfl_flag(node, HALF);
    const struct tfl_tensor *x, *y;
    struct value *value;
    struct ints size;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_rank(node, node->inputs[0], 4, 4) ||
        !tfl_check_rank(node, node->outputs[0], 4, 4) || !tfl_constant_ints(node, 1, &size) ||
        !tfl_check_kept(node, node->inputs[0], node->outputs[0]))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    value = tfl_value(node, 0);
    for (int axis = 1; axis < 3; axis++) {
        const union attrs attrs = { .axis = { .axis = axis } };
        const int64_t in = x->type.dim[axis], out = y->type.dim[axis];
        const struct type type = type_make(DTYPE_I64, 1, &out);
        int64_t *rows;

        if (size.n != 2 || size.at[axis - 1] != out || in < 1 || in > 1 << 20)
            return tfl_unsupported(node, "%s to %s", type_text(&node->ctx->perm, &x->type),
                                   type_text(&node->ctx->perm, &y->type));
        rows = tfl_payload(node, &type);
        for (int64_t i = 0; rows && i < out; i++)
            rows[i] = nearest(i, in, out, corners, half);
        value = tfl_build(node, OP_TAKE, &attrs, axis == 1 ? "rows" : "columns", 2,
                          (struct value *const[]){ value, tfl_made(node, &type, rows, "taken") });
    }
    return tfl_output(node, 0, value);
}
