/* convert_select.c - Compress, NonZero and NonMaxSuppression: how many elements the result has depends
 * on the data. The file declares how many (or all is known at compile time), and that there are as
 * many is checked at run time. Without a declared number the result has room for as many elements as there
 * can be (open_length.c). */
#include <math.h>

#include "frontend/onnx/convert_helpers.h"

enum { OPEN = -2 }; /* in place of a number that is declared */

/* The number of true elements: of a constant, else what the file declares along an axis of the result, or OPEN.
 * -1 after an error. */
static int64_t count_wanted(struct onnx_node *node, int condition, int axis)
{
    struct tensor tensor;
    struct type y;
    int64_t n = 0;

    if (onnx_is_known(node, condition)) {
        if (!onnx_constant(node, condition, &tensor))
            return -1;
        for (int64_t i = 0; i < type_elements(&tensor.type); i++)
            n += tensor_at(&tensor, i) != 0;
        return n;
    }
    if (onnx_declared(node, 0, &y) && axis < y.rank && y.dim[axis] >= 1)
        return y.dim[axis];
    if (!onnx_is_inside(node))
        return OPEN;
    onnx_undeclared(node, condition);
    return -1;
}

/* The first n of the indices of a list's true elements and, behind them, of its false ones. */
static struct value *true_first(struct onnx_node *node, struct value *condition, int64_t n)
{
    const union attrs attrs = { .true_first = { .k = n } };

    return onnx_build1(node, OP_TRUE_FIRST, &attrs, "indices", condition);
}

/* The number of true elements of a list: one i64. */
static struct value *count_true(struct onnx_node *node, struct value *condition)
{
    const struct ints axis = { 1, { 0 } };
    struct value *numbers = cast_to(node, condition, DTYPE_I64, "numbers");

    return numbers ? reduce_with(node, OP_SUM, numbers, &axis, true, "count") : NULL;
}

/* Where the true elements of a list are. That there are n of them is checked; OPEN: those of false ones stand behind
 * them. */
static struct value *true_indices(struct onnx_node *node, struct value *condition, int64_t n)
{
    const int64_t most = type_elements(&condition->type);

    if (n > most) {
        onnx_unsupported(node, "the file declares %lld elements, of %lld", (long long)n,
                         (long long)most);
        return NULL;
    }
    if (n == OPEN)
        return true_first(node, condition, most);
    return onnx_if_count(node, true_first(node, condition, n), count_true(node, condition), n);
}

/* Without an axis of a list of all elements. */
bool convert_compress(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *indices;
    union attrs attrs = { .axis = { .axis = 0 } };
    struct ints flat = { 1, { 0 } };
    int64_t n;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 1, TAKES_BOOL) ||
        !onnx_check_rank(node, 1, 1, 1))
        return false;
    flat.at[0] = type_elements(&x->type);
    if (onnx_has(node, "axis"))
        attrs.axis.axis = normal_axis_attr(node, 0, x->type.rank);
    else
        x = reshape_to(node, x, &flat, "flat");
    if (!x || attrs.axis.axis < 0)
        return false;
    if (node->inputs[1]->type.dim[0] > x->type.dim[attrs.axis.axis])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the condition has %lld elements for an axis of %lld",
                          (long long)node->inputs[1]->type.dim[0],
                          (long long)x->type.dim[attrs.axis.axis]);
    n = count_wanted(node, 1, (int)attrs.axis.axis);
    indices = n == -1 ? NULL : true_indices(node, node->inputs[1], n);
    x = indices ? onnx_build2(node, OP_TAKE, &attrs, "", x, indices) : NULL;
    return x && (n == OPEN ? onnx_output_open(node, 0, (int)attrs.axis.axis, x,
                                              count_true(node, node->inputs[1]))
                           : onnx_output(node, 0, x));
}

/* Coordinate k of elements of x whose row-major indices these are. */
static struct value *coordinate(struct onnx_node *node, const struct type *x, struct value *indices,
                                int k)
{
    const int64_t after = type_span(x, k + 1, x->rank);

    if (after > 1)
        indices = apply2(node, OP_DIVIDE, "rest", indices,
                         scalar_like(node, indices, (double)after, "after"));
    if (k > 0 && indices)
        indices = apply2(node, OP_MOD, "coordinate", indices,
                         scalar_like(node, indices, (double)x->dim[k], "extent"));
    return indices;
}

/* 0 .. n - 1; NULL after an error. */
static struct value *places(struct onnx_node *node, int64_t n)
{
    const struct type type = type_make(DTYPE_I64, 1, &n);
    int64_t *at;

    if (!onnx_granted(node, DTYPE_I64, (double)n))
        return NULL;
    at = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < n; i++)
        at[i] = i;
    return onnx_from_tensor(node, &(struct tensor){ type, at }, "places");
}

/* Numbers of which those from `count` on become -1. */
static struct value *or_none(struct onnx_node *node, struct value *numbers, struct value *count)
{
    struct value *at = places(node, numbers->type.dim[numbers->type.rank - 1]), *inputs[3];

    inputs[0] = at && count ? apply2(node, OP_LESS, "is_within", at, count) : NULL;
    inputs[1] = numbers;
    inputs[2] = scalar_like(node, numbers, -1, "none");
    return inputs[0] && inputs[2] ? onnx_build(node, OP_WHERE, NULL, "kept", 3, inputs) : NULL;
}

/* Of the elements of x with these indices, a row for each dim. */
static struct value *coordinates(struct onnx_node *node, const struct type *x,
                                 struct value *indices, struct value *count)
{
    const struct ints row = { 2, { 1, type_elements(&indices->type) } };
    const union attrs first = { .axis = { .axis = 0 } };
    struct value *rows[MAX_RANK];

    for (int k = 0; k < x->rank; k++) {
        rows[k] = coordinate(node, x, indices, k);
        if (count && rows[k])
            rows[k] = or_none(node, rows[k], count);
        rows[k] = rows[k] ? reshape_to(node, rows[k], &row, "row") : NULL;
        if (!rows[k])
            return NULL;
    }
    return x->rank == 1 ? rows[0] : onnx_build(node, OP_CONCATENATE, &first, "", x->rank, rows);
}

bool convert_non_zero(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *condition, *indices, *count = NULL, *y;
    struct ints flat = { 1, { 0 } };
    int64_t n;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 1, MAX_RANK) ||
        !onnx_check_kind(node, 0, TAKES_ANY))
        return false;
    n = count_wanted(node, 0, 1);
    if (n == -1)
        return false;
    flat.at[0] = type_elements(&x->type);
    condition = x->type.dtype == DTYPE_BOOL
                    ? x
                    : apply2(node, OP_NOT_EQUAL, "is_not_0", x, scalar_like(node, x, 0, "zero"));
    condition = condition ? reshape_to(node, condition, &flat, "list") : NULL;
    indices = condition ? true_indices(node, condition, n) : NULL;
    if (indices && n == OPEN)
        count = count_true(node, condition);
    if (!indices || (n == OPEN && !count))
        return false;
    y = coordinates(node, &x->type, indices, count);
    return y && (count ? onnx_output_open(node, 0, 1, y, count) : onnx_output(node, 0, y));
}

/* --- NonMaxSuppression ------------------------------------------------------------------------ */

/* Thresholds are f32; absent ones are `missing`. Those of run time are left to others. */
static bool read_threshold(struct onnx_node *node, int i, double missing, double *out)
{
    *out = missing;
    return !onnx_input(node, i) || !onnx_is_known(node, i) || onnx_constant_real(node, i, out);
}

static bool read_suppression(struct onnx_node *node, struct non_max_suppression_attrs *attrs)
{
    const int64_t n = onnx_input(node, 1)->type.dim[2];
    double most = onnx_is_known(node, 2) ? 0 : (double)n;

    if (!read_threshold(node, 2, most, &most) ||
        !read_threshold(node, 3, 0, &attrs->iou_threshold) ||
        !read_threshold(node, 4, -INFINITY, &attrs->score_threshold))
        return false;
    attrs->keeps_equal = !onnx_input(node, 4);
    attrs->center = onnx_int(node, "center_point_box", 0) != 0;
    attrs->max_output = most < 0 ? 0 : most < (double)n ? (int64_t)most : n;
    if (attrs->max_output == 0)
        return onnx_unsupported(node, "max_output_boxes_per_class is 0: there is no result");
    return onnx_ok(node);
}

/* One number of run time, input i, as a scalar. NULL after an error. */
static struct value *one_number(struct onnx_node *node, int i, enum dtype dtype, const char *suffix)
{
    static const struct ints scalar = { 0 };
    struct value *number = onnx_input(node, i);

    if (type_elements(&number->type) != 1) {
        diag_error(node->ctx, DIAG_SHAPE, node->origin,
                   "input %d has shape %s, expected one number", i,
                   shape_text(&node->ctx->perm, &number->type));
        return NULL;
    }
    number = cast_to(node, number, dtype, suffix);
    return number ? reshape_to(node, number, &scalar, suffix) : NULL;
}

/* Scores that are not above a threshold of run time are -inf, which is above none. */
static struct value *above_threshold(struct onnx_node *node, struct value *scores)
{
    struct value *threshold, *inputs[3];

    if (onnx_is_known(node, 4))
        return scores;
    threshold = one_number(node, 4, scores->type.dtype, "threshold");
    inputs[0] = threshold ? apply2(node, OP_GREATER, "is_above", scores, threshold) : NULL;
    inputs[1] = scores;
    inputs[2] = scalar_like(node, scores, -INFINITY, "below");
    return inputs[0] && inputs[2] ? onnx_build(node, OP_WHERE, NULL, "candidates", 3, inputs)
                                  : NULL;
}

/* Of the boxes of a class, best first, those beyond a number of run time are -1. */
static struct value *at_most(struct onnx_node *node, struct value *chosen)
{
    struct value *most;

    if (onnx_is_known(node, 2))
        return chosen;
    most = one_number(node, 2, DTYPE_I64, "most");
    return most ? or_none(node, chosen, most) : NULL;
}

/* (batch, class, box) of the boxes at these places of `chosen` (batches, classes, boxes of each); -1 where
 * there is none (`open`: there may be such). */
static struct value *triples(struct onnx_node *node, struct value *chosen, struct value *indices,
                             bool open)
{
    const union attrs take = { .axis = { .axis = 0 } }, columns = { .axis = { .axis = 1 } };
    const struct ints flat = { 1, { type_elements(&chosen->type) } };
    const struct ints column = { 2, { type_elements(&indices->type), 1 } };
    struct value *list = reshape_to(node, chosen, &flat, "list"), *parts[3], *none, *is_box;

    list = list ? onnx_build2(node, OP_TAKE, &take, "taken", list, indices) : NULL;
    parts[0] = coordinate(node, &chosen->type, indices, 0);
    parts[1] = coordinate(node, &chosen->type, indices, 1);
    parts[2] = list ? cast_to(node, list, DTYPE_I64, "box") : NULL;
    none = parts[2] ? scalar_like(node, parts[2], -1, "none") : NULL;
    is_box = none && open ? apply2(node, OP_GREATER, "is_box", parts[2], none) : NULL;
    for (int i = 0; i < 3; i++) {
        struct value *inputs[3] = { is_box, parts[i], none };

        if (parts[i] && is_box && i < 2)
            parts[i] = onnx_build(node, OP_WHERE, NULL, "or_none", 3, inputs);
        parts[i] = parts[i] ? reshape_to(node, parts[i], &column, "column") : NULL;
        if (!parts[i])
            return NULL;
    }
    return onnx_build(node, OP_CONCATENATE, &columns, "", 3, parts);
}

/* The declared number of boxes; else as many rows as there can be, of which the last are -1. */
bool convert_non_max_suppression(struct onnx_node *node)
{
    struct value *chosen, *condition, *indices, *inputs[3];
    union attrs attrs = { .non_max_suppression = { .max_output = 0 } };
    struct ints flat = { 1, { 0 } };
    struct node_args args = { .op = OP_NON_MAX_SUPPRESSION,
                              .n_inputs = onnx_is_known(node, 3) ? 2 : 3,
                              .inputs = inputs,
                              .n_outputs = 2,
                              .attrs = &attrs,
                              .origin = node->origin };
    const char *names[] = { arena_printf(&node->ctx->perm, "%s:chosen", output_stem(node)),
                            arena_printf(&node->ctx->perm, "%s:counts", output_stem(node)) };
    struct node *suppression;
    struct type y;
    bool declared;

    args.names = names;
    if (!onnx_check_inputs(node, 2, 5) || !onnx_check_rank(node, 0, 3, 3) ||
        !onnx_check_rank(node, 1, 3, 3) || !read_suppression(node, &attrs.non_max_suppression))
        return false;
    inputs[0] = onnx_input(node, 0);
    inputs[1] = above_threshold(node, onnx_input(node, 1));
    inputs[2] = args.n_inputs > 2 ? one_number(node, 3, DTYPE_F32, "iou_threshold") : inputs[1];
    suppression = inputs[1] && inputs[2] ? node_new(node->fn, &args) : NULL;
    chosen = suppression ? at_most(node, suppression->outputs[0]) : NULL;
    if (!chosen)
        return false;
    declared = onnx_declared(node, 0, &y) && y.rank == 2 && y.dim[0] > 0;
    flat.at[0] = type_elements(&chosen->type);
    condition = reshape_to(node, chosen, &flat, "places");
    condition = condition ? apply2(node, OP_GREATER_EQUAL, "is_chosen", condition,
                                   scalar_like(node, chosen, 0, "zero"))
                          : NULL;
    indices = !condition ? NULL
              : declared ? true_indices(node, condition, y.dim[0])
                         : true_first(node, condition, flat.at[0]);
    if (indices && !declared)
        diag_warn(node->ctx, DIAG_SHAPE, node->origin,
                  "the result has room for all %lld boxes that there can be: rows behind the last "
                  "box are -1",
                  (long long)flat.at[0]);
    return indices && onnx_output(node, 0, triples(node, chosen, indices, !declared));
}
