/* convert_slice.c - SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, PACK, UNPACK: parts of tensors, quantised values as they
 * are. */
#include "frontend/tflite/convert.h"

/* y = x[begin + i * strides], of y's shape, with as many dimensions as x (the file's y may have less). */
static struct value *part(struct tfl_node *node, struct value *x, const struct slice_attrs *slice,
                          const char *suffix)
{
    const union attrs attrs = { .slice = *slice };

    return tfl_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

/* Begins, ends and strides, one for each dimension. */
static bool read_list(struct tfl_node *node, int input, struct ints *list)
{
    const int rank = node->inputs[0]->type.rank;

    if (!tfl_constant_ints(node, input, list))
        return false;
    if (list->n == rank)
        return true;
    return tfl_unsupported(node, "input %d has %d numbers for %d dimensions", input, list->n, rank);
}

bool convert_tfl_slice(struct tfl_node *node)
{
    struct slice_attrs slice;
    const struct type *x;

    if (!tfl_check(node, 3, 3, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !read_list(node, 1, &slice.begin) || !read_list(node, 2, &slice.size))
        return false;
    x = &node->inputs[0]->type;
    slice.strides = ints_fill(x->rank, 1);
    for (int i = 0; i < x->rank; i++) {
        if (slice.size.at[i] == -1)
            slice.size.at[i] = x->dim[i] - slice.begin.at[i];
        if (slice.begin.at[i] < 0 || slice.size.at[i] < 0 || slice.begin.at[i] > x->dim[i] ||
            slice.size.at[i] > x->dim[i] - slice.begin.at[i])
            return tfl_unsupported(node, "%lld from %lld of dimension %d of %s",
                                   (long long)slice.size.at[i], (long long)slice.begin.at[i], i,
                                   type_text(&node->ctx->perm, x));
    }
    return tfl_output(node, 0, part(node, tfl_value(node, 0), &slice, "part"));
}

static int64_t clamped(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* Where a slice begins or ends: `given`, from the end if negative; masked: the first or behind the
 * last, in the direction of the stride. */
static int64_t place(int64_t given, bool masked, bool is_end, int64_t stride, int64_t extent)
{
    if (masked)
        given = (stride > 0) == is_end ? extent : -1 - extent;
    else if (given < 0)
        given += extent;
    return stride > 0 ? clamped(given, 0, extent) : clamped(given, -1, extent - 1);
}

bool convert_tfl_strided_slice(struct tfl_node *node)
{
    enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, OFFSET };
    const int64_t begins = tfl_int(node, BEGIN_MASK, 0), ends = tfl_int(node, END_MASK, 0);
    const int64_t shrinks = tfl_int(node, SHRINK_MASK, 0);
    struct slice_attrs slice;
    const struct type *x;
    struct ints end;

    if (!tfl_check(node, 4, 4, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !read_list(node, 1, &slice.begin) || !read_list(node, 2, &end) ||
        !read_list(node, 3, &slice.strides))
        return false;
    if (tfl_int(node, ELLIPSIS_MASK, 0) || tfl_int(node, NEW_AXIS_MASK, 0) ||
        tfl_flag(node, OFFSET))
        return tfl_unsupported(node, "an ellipsis, a new axis or an offset, which TensorFlow Lite "
                                     "Micro lacks, too");
    x = &node->inputs[0]->type;
    slice.size.n = x->rank;
    for (int i = 0; i < x->rank; i++) {
        const int64_t extent = x->dim[i], stride = slice.strides.at[i];
        int64_t from, to, n;

        if (stride == 0 || stride > INT32_MAX || stride < -INT32_MAX)
            return tfl_unsupported(node, "a stride of %lld", (long long)stride);
        from = place(slice.begin.at[i], begins >> i & 1, false, stride, extent);
        to = place(end.at[i], ends >> i & 1, true, stride, extent);
        if (shrinks >> i & 1) {
            if (from < 0 || from >= extent)
                return tfl_unsupported(node, "index %lld of dimension %d of %s",
                                       (long long)slice.begin.at[i], i,
                                       type_text(&node->ctx->perm, x));
            to = from + 1;
            slice.strides.at[i] = 1;
        }
        n = slice.strides.at[i] > 0 ? (to - from + slice.strides.at[i] - 1) / slice.strides.at[i]
                                    : (from - to - slice.strides.at[i] - 1) / -slice.strides.at[i];
        slice.size.at[i] = n > 0 ? n : 0;
        slice.begin.at[i] = n > 0 ? from : 0;
    }
    return tfl_output(node, 0,
                      tfl_reshape(node, part(node, tfl_value(node, 0), &slice, "part"),
                                  &node->outputs[0]->type, "shaped"));
}

/* --- several parts ---------------------------------------------------------------------------- */

/* Output i is part i along the axis; `sizes`: the extents. */
static bool split_along(struct tfl_node *node, int input, int64_t axis, const struct ints *sizes,
                        bool shrinks)
{
    const struct tfl_tensor *x = node->inputs[input];
    struct value *value = tfl_value(node, input);
    struct slice_attrs slice = { .strides = ints_fill(x->type.rank, 1),
                                 .begin = ints_fill(x->type.rank, 0),
                                 .size = ints_of(x->type.rank, x->type.dim) };
    bool ok = value != NULL;

    for (int i = 0; ok && i < node->n_outputs; i++) {
        struct value *y;

        slice.size.at[axis] = sizes->at[i];
        if (sizes->at[i] < 0 || sizes->at[i] > x->type.dim[axis] - slice.begin.at[axis])
            return tfl_unsupported(node, "part %d of %lld of dimension %lld of %s", i,
                                   (long long)sizes->at[i], (long long)axis,
                                   type_text(&node->ctx->perm, &x->type));
        y = tfl_check_kept(node, x, node->outputs[i]) ? part(node, value, &slice, "part") : NULL;
        ok = tfl_output(node, i,
                        shrinks ? tfl_reshape(node, y, &node->outputs[i]->type, "shaped") : y);
        slice.begin.at[axis] += sizes->at[i];
    }
    return ok;
}

static bool read_axis(struct tfl_node *node, int64_t axis, int rank, int64_t *out)
{
    *out = axis < 0 ? axis + rank : axis;
    return (*out >= 0 && *out < rank) ||
           tfl_unsupported(node, "axis %lld of %d dimensions", (long long)axis, rank);
}

/* SPLIT: axis, x; SPLIT_V: x, sizes, axis. */
bool convert_tfl_split(struct tfl_node *node)
{
    const bool by_sizes = node->arg != 0;
    const int x = by_sizes ? 0 : 1, at = by_sizes ? 2 : 0, n_inputs = by_sizes ? 3 : 2;
    struct ints axes, sizes = { .n = 0 };
    int64_t axis, left, n_open = 0;
    int open = 0;

    if (!tfl_check(node, n_inputs, n_inputs, node->n_outputs) ||
        !tfl_constant_ints(node, at, &axes) || (by_sizes && !tfl_constant_ints(node, 1, &sizes)))
        return false;
    if (axes.n != 1 || node->n_outputs < 1 || node->n_outputs > MAX_INTS ||
        (by_sizes && sizes.n != node->n_outputs))
        return tfl_unsupported(node, "%d axes, %d sizes and %d outputs, at most %d", axes.n,
                               sizes.n, node->n_outputs, (int)MAX_INTS);
    if (!read_axis(node, axes.at[0], node->inputs[x]->type.rank, &axis))
        return false;
    left = node->inputs[x]->type.dim[axis];
    if (!by_sizes)
        sizes = ints_fill(node->n_outputs, left / node->n_outputs);
    for (int i = 0; i < sizes.n; i++)
        if (sizes.at[i] == -1) {
            open = i;
            n_open++;
        } else {
            left -= clamped(sizes.at[i], 0, left);
        }
    if (n_open == 1)
        sizes.at[open] = left;
    else if (n_open > 1 || left != 0)
        return tfl_unsupported(node, "parts that leave %lld of dimension %lld", (long long)left,
                               (long long)axis);
    return split_along(node, x, axis, &sizes, false);
}

bool convert_tfl_unpack(struct tfl_node *node)
{
    enum { N, AXIS };
    const struct ints ones = ints_fill(node->n_outputs < MAX_INTS ? node->n_outputs : 0, 1);
    int64_t axis;

    if (!tfl_check(node, 1, 1, node->n_outputs) ||
        !read_axis(node, tfl_int(node, AXIS, 0), node->inputs[0]->type.rank, &axis))
        return false;
    if (node->n_outputs < 1 || node->n_outputs >= MAX_INTS ||
        node->inputs[0]->type.dim[axis] != node->n_outputs)
        return tfl_unsupported(node, "%s to %d outputs, at most %d",
                               type_text(&node->ctx->perm, &node->inputs[0]->type), node->n_outputs,
                               MAX_INTS - 1);
    return split_along(node, 0, axis, &ones, true);
}

/* Each with a dimension of one more, joined. */
bool convert_tfl_pack(struct tfl_node *node)
{
    enum { N, AXIS };
    const int n = node->n_inputs, rank = node->n_outputs ? node->outputs[0]->type.rank : 0;
    struct value **values = arena_array(&node->ctx->perm, struct value *, n);
    union attrs attrs;
    int64_t axis;

    if (!tfl_check(node, n > 0 ? n : 1, n, 1) ||
        !read_axis(node, tfl_int(node, AXIS, 0), rank, &axis))
        return false;
    for (int i = 0; i < n; i++) {
        struct type shape = node->inputs[i]->type;

        if (!tfl_check_kept(node, node->inputs[i], node->outputs[0]))
            return false;
        if (shape.rank != rank - 1)
            return tfl_unsupported(node, "%s to %s", type_text(&node->ctx->perm, &shape),
                                   type_text(&node->ctx->perm, &node->outputs[0]->type));
        for (int k = rank - 1; k > axis; k--)
            shape.dim[k] = shape.dim[k - 1];
        shape.dim[axis] = 1;
        shape.rank = rank;
        values[i] = tfl_reshape(node, tfl_value(node, i), &shape, "row");
    }
    attrs.axis.axis = axis;
    return tfl_output(node, 0, tfl_build(node, OP_CONCATENATE, &attrs, "joined", n, values));
}
