/* convert_open.c - TopK, Range, Expand, ConstantOfShape and Tile with numbers of run time, where the file does
 * not declare the shape of the result: it has room for as many elements as there can be, and the axis is open (open.h).
 * A number of which nobody knows a bound is an error. */
#include <math.h>

#include "frontend/onnx/open.h"

/* Longer ones are no arrays that anybody wants. */
enum { MOST_ELEMENTS = 1 << 24 };

static bool give_open(struct onnx_node *node, struct value *y, const struct open_axes *axes)
{
    open_set(node->import, y, axes);
    return onnx_output(node, 0, y);
}

/* --- TopK ------------------------------------------------------------------------------------- */

/* All are sorted; k of them are the result. */
static bool top_k(struct onnx_node *node, struct value *x, int axis, struct open_axes *axes)
{
    const bool largest = onnx_int(node, "largest", 1) != 0;
    union attrs attrs = {
        .topk = { .axis = axis, .largest = largest, .sorted = onnx_int(node, "sorted", 1) != 0 }
    };
    const int64_t extent = x->type.dim[axis];
    struct value *there = axes->at[axis] ? axes->at[axis]->count : open_int(node, extent), *fits;
    struct open_number k;
    int n;

    if (node->opset < 10) {
        k = (struct open_number){ .is_known = true, .number = onnx_int(node, "k", -1) };
    } else if (!open_numbers(node, 1, &k, &n) || n != 1) {
        return onnx_ok(node) &&
               diag_error(node->ctx, DIAG_SHAPE, node->origin, "k must be one number");
    }
    if (k.is_known && (k.number < 0 || k.number > extent))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "k is %lld, of %lld elements",
                          (long long)k.number, (long long)extent);
    attrs.topk.k = k.is_known ? k.number : k.number >= 0 && k.number < extent ? k.number : extent;
    if (k.is_known)
        k.value = open_int(node, k.number);
    if (axes->at[axis])
        x = open_mask(node, x, axis, axes->at[axis], largest ? -INFINITY : INFINITY);
    fits = apply2(node, OP_LESS_EQUAL, "are_there", k.value, there);
    if (!k.is_known)
        fits = apply2(node, OP_LOGICAL_AND, "fits", fits,
                      apply2(node, OP_GREATER_EQUAL, "is_count", k.value, open_int(node, 0)));
    x = open_expect(node, x, fits);
    if (!x || !onnx_ok(node) || !output_node(node, OP_TOPK, &attrs, 1, &x, 2))
        return false;
    axes->at[axis] = k.is_known ? NULL : open_of_count(node->import, k.value);
    if (!k.is_known && !axes->at[axis])
        axes->at[axis] = open_new(node, k.value, attrs.topk.k);
    for (int i = 0; i < node->n_outputs; i++)
        open_set(node->import, node->outputs[i], axes);
    return k.is_known || axes->at[axis];
}

bool top_k_open(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    struct open_axes axes = open_of(node->import, x);
    const int axis = normal_axis_attr(node, -1, x->type.rank);

    return axis >= 0 && onnx_check_kind(node, 0, TAKES_NUMBER) && top_k(node, x, axis, &axes);
}

bool open_top_k(struct onnx_node *node, struct open_use *use)
{
    struct value *x = onnx_input(node, 0);
    const int axis = normal_axis_attr(node, -1, x->type.rank);

    use->out = open_of(node->import, x);
    if (axis >= 0 && !use->out.at[axis] && onnx_is_known(node, 1))
        return true;
    use->done = true;
    return top_k_open(node);
}

/* --- Range ------------------------------------------------------------------------------------ */

/* The most numbers that there can be; -1: nobody knows. */
static int64_t most_of_range(struct onnx_node *node)
{
    double low[3], high[3], steps;

    for (int i = 0; i < 3; i++)
        if (!open_range(node, onnx_input(node, i), &low[i], &high[i]))
            return -1;
    if (low[2] > 0)
        steps = ceil((high[1] - low[0]) / low[2]);
    else if (high[2] < 0)
        steps = ceil((high[0] - low[1]) / -high[2]);
    else
        return -1;
    return !(steps <= MOST_ELEMENTS) ? -1 : steps > 0 ? (int64_t)steps : 0;
}

bool range_open(struct onnx_node *node, struct value *const *in, struct value *length)
{
    const struct ints one = { 1, { 1 } };
    const int64_t most = most_of_range(node);
    struct open_axes axes = { { NULL } };
    struct value *steps, *way;

    if (most < 1)
        return onnx_undeclared(node, onnx_is_known(node, 1) ? onnx_is_known(node, 0) ? 2 : 0 : 1);
    length = length ? reshape_to(node, length, &one, "count") : NULL;
    steps = open_indices(node, most, 1, 0);
    steps = steps ? cast_to(node, steps, in[0]->type.dtype, "steps") : NULL;
    way = apply2(node, OP_MULTIPLY, "way", steps, in[2]);
    axes.at[0] = length ? open_new(node, length, most) : NULL;
    return axes.at[0] && give_open(node, apply2(node, OP_ADD, "", way, in[0]), &axes);
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* The room for dims of a shape; an open one becomes an axis. */
static bool read_shape(struct onnx_node *node, int input, struct ints *dims, struct open_axes *axes)
{
    struct open_number numbers[MAX_RANK];
    int n;

    *axes = (struct open_axes){ { NULL } };
    if (!open_numbers(node, input, numbers, &n))
        return false;
    *dims = ints_fill(n, 0);
    for (int i = 0; i < n; i++) {
        dims->at[i] = numbers[i].number;
        if (numbers[i].is_known)
            continue;
        axes->at[i] = numbers[i].number > 0 ? open_of_number(node, &numbers[i]) : NULL;
        if (!axes->at[i])
            return onnx_undeclared(node, input);
    }
    return true;
}

bool constant_of_shape_open(struct onnx_node *node, struct value *number)
{
    union attrs attrs = { .shape = { .shape = { 0 } } };
    struct open_axes axes;

    if (!read_shape(node, 0, &attrs.shape.shape, &axes))
        return false;
    for (int i = 0; i < attrs.shape.shape.n; i++)
        if (attrs.shape.shape.at[i] < 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "the shape has %lld at position %d",
                              (long long)attrs.shape.shape.at[i], i);
    return number && give_open(node, onnx_build1(node, OP_BROADCAST_TO, &attrs, "", number), &axes);
}

bool expand_open(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    const struct open_axes in = open_of(node->import, x);
    union attrs attrs = { .shape = { .shape = { 0 } } };
    struct ints *dims = &attrs.shape.shape;
    struct open_axes axes;

    if (!onnx_check_inputs(node, 2, 2) || !read_shape(node, 1, dims, &axes) ||
        dims->n < x->type.rank)
        return onnx_ok(node) && onnx_undeclared(node, 1);
    for (int d = 0; d < x->type.rank; d++) {
        const int at = d + dims->n - x->type.rank;

        if (in.at[d] ? axes.at[at] && axes.at[at] != in.at[d] : axes.at[at] && x->type.dim[d] != 1)
            return onnx_undeclared(node, 1);
        if (in.at[d])
            axes.at[at] = in.at[d];
        if (dims->at[at] == 1 || in.at[d])
            dims->at[at] = x->type.dim[d];
    }
    return give_open(node, onnx_build1(node, OP_BROADCAST_TO, &attrs, "", x), &axes);
}

bool open_expand(struct onnx_node *node, struct open_use *use)
{
    use->done = true;
    return expand_open(node);
}

bool tile_open(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *at;
    struct open_axes axes;
    struct ints repeats;

    if (!read_shape(node, 1, &repeats, &axes) || repeats.n != x->type.rank)
        return onnx_ok(node) && onnx_undeclared(node, 1);
    for (int d = 0; d < repeats.n && x; d++) {
        const union attrs along = { .axis = { .axis = d } };
        const int64_t extent = x->type.dim[d];

        if (repeats.at[d] == 1 && !axes.at[d])
            continue;
        at = apply2(node, OP_MOD, "places", open_indices(node, extent * repeats.at[d], 1, 0),
                    open_int(node, extent));
        x = at ? onnx_build2(node, OP_TAKE, &along, "tiled", x, at) : NULL;
        if (axes.at[d] && !(axes.at[d] = open_times(node, axes.at[d], extent)))
            return false;
    }
    return x && give_open(node, x, &axes);
}
