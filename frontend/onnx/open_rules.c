/* open_rules.c - what operators make of open axes (open.def), but for those that only move elements (open_move.c). */
#include <math.h>
#include <string.h>

#include "frontend/onnx/open.h"
#include "relay_ir/walk.h"

static struct open_axes input_axes(struct onnx_node *node, int i)
{
    return open_of(node->import, onnx_input(node, i));
}

struct value *open_int(struct onnx_node *node, int64_t number)
{
    return onnx_from_ints(node, &number, 1, "number");
}

struct value *open_indices(struct onnx_node *node, int64_t n, int rank, int axis)
{
    struct type type = { .dtype = DTYPE_I64, .rank = rank };
    int64_t *data;

    if (!onnx_granted(node, DTYPE_I64, (double)n))
        return NULL;
    for (int d = 0; d < rank; d++)
        type.dim[d] = d == axis ? n : 1;
    data = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < n; i++)
        data[i] = i;
    return onnx_from_tensor(node, &(struct tensor){ type, data }, "indices");
}

/* A scalar; of integers an infinite one is the least or greatest that there is. */
static struct value *number_like(struct onnx_node *node, const struct value *x, double number)
{
    const struct type type = type_scalar(x->type.dtype);
    struct tensor tensor = { type, constant_alloc(node->fn, &type) };

    if (!isinf(number) || dtype_is_float(type.dtype))
        return scalar_like(node, x, number, "not_there");
    tensor_put_wide(&tensor, 0, number < 0 ? dtype_least(type.dtype) : dtype_greatest(type.dtype));
    return onnx_from_tensor(node, &tensor, "not_there");
}

struct value *open_mask(struct onnx_node *node, struct value *x, int axis,
                        const struct open_length *length, double number)
{
    struct value *inputs[3] = { NULL, x, NULL }, *indices;

    if (!x)
        return NULL;
    indices = open_indices(node, x->type.dim[axis], x->type.rank - axis, 0);
    inputs[0] = indices ? apply2(node, OP_LESS, "is_there", indices, length->count) : NULL;
    inputs[2] = number_like(node, x, number);
    return inputs[0] && inputs[2] ? onnx_build(node, OP_WHERE, NULL, "masked", 3, inputs) : NULL;
}

/* Two lengths that must be one: the first stays, that the other is as long is checked at run time. */
static bool meet(struct onnx_node *node, struct open_length **at, struct open_length *length,
                 int input)
{
    if (!*at || *at == length) {
        *at = length;
        return true;
    }
    node->inputs[input] =
        open_expect(node, node->inputs[input],
                    apply2(node, OP_EQUAL, "same_length", (*at)->count, length->count));
    return node->inputs[input] != NULL;
}

static bool refuse_others(struct onnx_node *node, int first)
{
    for (int i = first; i < node->n_inputs; i++)
        for (int d = 0; d < MAX_RANK; d++)
            if (input_axes(node, i).at[d])
                return open_refuse(node, input_axes(node, i).at[d]);
    return true;
}

/* --- element by element ----------------------------------------------------------------------- */

/* Results have the axes of the first input; others are numbers. */
bool open_first(struct onnx_node *node, struct open_use *use)
{
    use->out = input_axes(node, 0);
    return strcmp(node->op_type, "CastLike") == 0 || refuse_others(node, 1);
}

/* One axis of operands that are broadcast: it is open in all that do not repeat one element. Those with more room
 * than others lose it. */
static bool meet_axis(struct onnx_node *node, const struct open_axes *axes, int rank, int axis,
                      struct open_length **out)
{
    int64_t room = INT64_MAX;

    for (int i = 0; i < node->n_inputs; i++) {
        const int d = onnx_input(node, i) ? axis - rank + node->inputs[i]->type.rank : -1;

        if (d < 0 || !axes[i].at[d])
            continue;
        if (!meet(node, out, axes[i].at[d], i))
            return false;
        if (node->inputs[i]->type.dim[d] < room)
            room = node->inputs[i]->type.dim[d];
    }
    for (int i = 0; i < node->n_inputs && *out; i++) {
        const int d = onnx_input(node, i) ? axis - rank + node->inputs[i]->type.rank : -1;

        if (d < 0)
            continue;
        if (!axes[i].at[d] && node->inputs[i]->type.dim[d] != 1)
            return open_refuse(node, *out);
        if (axes[i].at[d])
            node->inputs[i] = slice_to(node, node->inputs[i], d, 0, room, "room");
        if (!node->inputs[i])
            return false;
    }
    return true;
}

static int greatest_rank(struct onnx_node *node)
{
    int rank = 0;

    for (int i = 0; i < node->n_inputs; i++)
        if (onnx_input(node, i) && node->inputs[i]->type.rank > rank)
            rank = node->inputs[i]->type.rank;
    return rank;
}

static struct open_axes *all_axes(struct onnx_node *node)
{
    struct open_axes *axes = arena_array(&node->ctx->perm, struct open_axes, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++)
        axes[i] = input_axes(node, i);
    return axes;
}

bool open_broadcast(struct onnx_node *node, struct open_use *use)
{
    const int rank = greatest_rank(node);
    const struct open_axes *axes = all_axes(node);

    for (int axis = 0; axis < rank; axis++)
        if (!meet_axis(node, axes, rank, axis, &use->out.at[axis]))
            return false;
    return true;
}

/* --- along an axis ---------------------------------------------------------------------------- */

bool open_softmax(struct onnx_node *node, struct open_use *use)
{
    const int rank = onnx_input(node, 0)->type.rank;
    const int axis = normal_axis_attr(node, node->opset < 13 ? 1 : -1, rank);

    use->out = input_axes(node, 0);
    for (int d = 0; d < rank && axis >= 0; d++)
        if (use->out.at[d] && (node->opset < 13 ? d >= axis : d == axis))
            node->inputs[0] = open_mask(node, node->inputs[0], d, use->out.at[d], -INFINITY);
    return axis >= 0 && node->inputs[0];
}

bool open_running(struct onnx_node *node, struct open_use *use)
{
    const int rank = onnx_input(node, 0)->type.rank;
    struct ints given;
    int axis;

    if (!onnx_check_inputs(node, 2, 2) || !refuse_others(node, 1) ||
        !onnx_constant_ints(node, 1, &given) || given.n != 1)
        return false;
    axis = normal_axis(node, given.at[0], rank);
    use->out = input_axes(node, 0);
    if (axis >= 0 && use->out.at[axis] && onnx_int(node, "reverse", 0))
        node->inputs[0] = open_mask(node, node->inputs[0], axis, use->out.at[axis], 0);
    return axis >= 0 && node->inputs[0];
}

/* Rows from an axis on are normalised: open ones lie in front of it. */
bool open_rows(struct onnx_node *node, struct open_use *use)
{
    const int rank = onnx_input(node, 0)->type.rank, axis = normal_axis_attr(node, -1, rank);

    use->out = input_axes(node, 0);
    for (int d = axis < 0 ? rank : axis; d < rank; d++)
        if (use->out.at[d])
            return open_refuse(node, use->out.at[d]);
    return axis >= 0 && refuse_others(node, 1);
}

/* Examples are computed one by one. */
bool open_batch(struct onnx_node *node, struct open_use *use)
{
    const bool trains = strcmp(node->op_type, "BatchNormalization") == 0 &&
                        (node->n_outputs > 1 || onnx_int(node, "training_mode", 0));

    use->out = input_axes(node, 0);
    for (int d = trains ? 0 : 1; d < MAX_RANK; d++)
        if (use->out.at[d])
            return open_refuse(node, use->out.at[d]);
    return refuse_others(node, 1);
}

/* The parts are along another axis. */
bool open_split(struct onnx_node *node, struct open_use *use)
{
    const int axis = normal_axis_attr(node, 0, onnx_input(node, 0)->type.rank);

    use->out = input_axes(node, 0);
    if (axis >= 0 && use->out.at[axis])
        return open_refuse(node, use->out.at[axis]);
    return axis >= 0 && refuse_others(node, 1);
}

/* --- reductions ------------------------------------------------------------------------------- */

/* What changes nothing. */
static double neutral(const char *op_type)
{
    if (strcmp(op_type, "ReduceMax") == 0 || strcmp(op_type, "ReduceLogSumExp") == 0 ||
        strcmp(op_type, "ArgMax") == 0)
        return -INFINITY;
    if (strcmp(op_type, "ReduceMin") == 0 || strcmp(op_type, "ArgMin") == 0)
        return INFINITY;
    return strcmp(op_type, "ReduceProd") == 0;
}

/* Masks the axes that are reduced, and says what is open of the result. */
static bool mask_reduced(struct onnx_node *node, struct open_use *use, const struct ints *axes)
{
    const struct open_axes in = input_axes(node, 0);
    const bool keepdims = onnx_int(node, "keepdims", 1) != 0;
    const int rank = onnx_input(node, 0)->type.rank;

    for (int d = 0, at = 0; d < rank; d++) {
        bool gone = false;

        for (int i = 0; i < axes->n; i++)
            gone = gone || axes->at[i] == d;
        if (gone && in.at[d])
            node->inputs[0] = open_mask(node, node->inputs[0], d, in.at[d], neutral(node->op_type));
        if (!gone)
            use->out.at[at] = in.at[d];
        at += !gone || keepdims;
    }
    return node->inputs[0] && refuse_others(node, 1);
}

/* The mean of all that there is room for, times how much of it is there. */
static bool mean(struct onnx_node *node, struct open_use *use, const struct ints *axes,
                 const struct open_axes *in)
{
    const struct ints scalar = { 0 };
    struct value *y, *x = onnx_input(node, 0);

    y = onnx_inner(node, use->convert, node->arg, node->opset, node->n_inputs, node->inputs,
                   "of_all");
    for (int i = 0; i < axes->n && y; i++) {
        const struct open_length *length = in->at[axes->at[i]];
        struct value *count;

        if (!length)
            continue;
        count = cast_to(node, length->count, x->type.dtype, "as_real");
        count = count ? reshape_to(node, count, &scalar, "of_them") : NULL;
        count = count
                    ? apply2(node, OP_DIVIDE, "room_by_count",
                             scalar_like(node, x, (double)x->type.dim[axes->at[i]], "room"), count)
                    : NULL;
        y = count ? apply2(node, OP_MULTIPLY, "mean", y, count) : NULL;
    }
    use->done = true;
    open_set(node->import, y, &use->out);
    return onnx_output(node, 0, y);
}

bool open_reduce(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const int rank = onnx_input(node, 0)->type.rank;
    struct ints axes;
    bool given, any = false;

    if (!list_of(node, "axes", 1, &axes, &given) || !normal_axes(node, &axes, rank))
        return false;
    if (axes.n == 0 && onnx_int(node, "noop_with_empty_axes", 0)) {
        use->out = in;
        return true;
    }
    for (int d = 0; d < rank && !given; d++)
        axes.at[axes.n++] = d;
    for (int i = 0; i < axes.n; i++)
        any = any || in.at[axes.at[i]];
    if (any && strcmp(node->op_type, "ReduceMean") == 0) {
        if (!dtype_is_float(node->inputs[0]->type.dtype))
            return onnx_unsupported(node, "the mean of integers, of which run time says how many");
        return mask_reduced(node, use, &axes) && mean(node, use, &axes, &in);
    }
    return mask_reduced(node, use, &axes);
}

bool open_arg(struct onnx_node *node, struct open_use *use)
{
    struct ints axis = { 1, { normal_axis_attr(node, 0, onnx_input(node, 0)->type.rank) } };

    return axis.at[0] >= 0 && mask_reduced(node, use, &axis);
}

/* --- products --------------------------------------------------------------------------------- */

/* Axis a of operand 0 and axis b of operand 1 are summed over. */
static bool contract(struct onnx_node *node, const struct open_axes *axes, int a, int b)
{
    struct open_length *length = axes[0].at[a];
    int64_t room;

    if (!axes[0].at[a] && !axes[1].at[b])
        return true;
    if (!axes[0].at[a] || !axes[1].at[b])
        return open_refuse(node, axes[0].at[a] ? axes[0].at[a] : axes[1].at[b]);
    if (!meet(node, &length, axes[1].at[b], 1))
        return false;
    room = node->inputs[0]->type.dim[a] < node->inputs[1]->type.dim[b]
               ? node->inputs[0]->type.dim[a]
               : node->inputs[1]->type.dim[b];
    node->inputs[0] =
        open_mask(node, slice_to(node, node->inputs[0], a, 0, room, "room"), a, length, 0);
    node->inputs[1] =
        open_mask(node, slice_to(node, node->inputs[1], b, 0, room, "room"), b, length, 0);
    return node->inputs[0] && node->inputs[1];
}

bool open_product(struct onnx_node *node, struct open_use *use)
{
    const int ra = onnx_input(node, 0)->type.rank;
    const int rb = onnx_input(node, 1) ? node->inputs[1]->type.rank : 0;
    const int rank = ra > rb ? ra : rb, batch = rank > 2 ? rank - 2 : 0;
    const struct open_axes *axes = all_axes(node);

    if (!onnx_check_inputs(node, 2, 2) || ra < 1 || rb < 1)
        return onnx_ok(node) && onnx_unsupported(node, "a product of scalars");
    if (ra > 1)
        use->out.at[batch] = axes[0].at[ra - 2];
    if (rb > 1)
        use->out.at[batch + (ra > 1)] = axes[1].at[rb - 1];
    for (int axis = 0; axis < batch; axis++) /* with two dims behind, in both */
        if (!meet_axis(node, axes, rank, axis, &use->out.at[axis]))
            return false;
    return contract(node, axes, ra - 1, rb > 1 ? rb - 2 : 0);
}

bool open_gemm(struct onnx_node *node, struct open_use *use)
{
    const bool ta = onnx_int(node, "transA", 0) != 0, tb = onnx_int(node, "transB", 0) != 0;
    const struct open_axes *axes = all_axes(node);
    const struct value *c = onnx_input(node, 2);

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_rank(node, 0, 2, 2) ||
        !onnx_check_rank(node, 1, 2, 2))
        return false;
    use->out.at[0] = axes[0].at[ta];
    use->out.at[1] = axes[1].at[!tb];
    for (int d = 0; c && d < c->type.rank && d < 2; d++) {
        const int axis = d + 2 - c->type.rank;

        if (axes[2].at[d] ? axes[2].at[d] != use->out.at[axis]
                          : use->out.at[axis] && c->type.dim[d] != 1)
            return open_refuse(node, axes[2].at[d] ? axes[2].at[d] : use->out.at[axis]);
    }
    return contract(node, axes, !ta, tb);
}
