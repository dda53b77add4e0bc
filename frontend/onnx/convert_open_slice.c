/* convert_open_slice.c - Slice with starts and ends of run time, or of an axis that is open (open.h). */
#include "frontend/onnx/open.h"
#include "relay_ir/range.h"

static struct value *choose(struct onnx_node *node, struct value *condition, struct value *yes,
                            struct value *no, const char *suffix)
{
    struct value *inputs[] = { condition, yes, no };

    return condition && yes && no ? onnx_build(node, OP_WHERE, NULL, suffix, 3, inputs) : NULL;
}

struct slicing {
    struct open_number starts[MAX_RANK], ends[MAX_RANK];
    struct ints axes, steps;
    int n;
};

static void of_ints(const struct ints *ints, struct open_number *numbers)
{
    for (int i = 0; i < ints->n && i < MAX_RANK; i++)
        numbers[i] = (struct open_number){ .is_known = true, .number = ints->at[i] };
}

static bool read_slicing(struct onnx_node *node, int rank, struct slicing *how)
{
    bool given, has_steps = false;
    struct ints starts, ends;
    int n_ends;

    if (node->opset < 10) {
        starts = onnx_ints(node, "starts");
        ends = onnx_ints(node, "ends");
        of_ints(&starts, how->starts);
        of_ints(&ends, how->ends);
        how->n = starts.n;
        n_ends = ends.n;
    } else if (!onnx_check_inputs(node, 3, 5) || !open_numbers(node, 1, how->starts, &how->n) ||
               !open_numbers(node, 2, how->ends, &n_ends)) {
        return false;
    }
    if (!list_of(node, "axes", 3, &how->axes, &given))
        return false;
    for (int i = 0; i < how->n && !given; i++)
        how->axes.at[how->axes.n++] = i;
    if (node->opset >= 10 && !list_of(node, "steps", 4, &how->steps, &has_steps))
        return false;
    if (!has_steps)
        how->steps = ints_fill(how->n, 1);
    if (how->n > rank || n_ends != how->n || how->axes.n != how->n || how->steps.n != how->n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "starts, ends, axes and steps have %d, %d, %d and %d numbers", how->n,
                          n_ends, how->axes.n, how->steps.n);
    for (int i = 0; i < how->n; i++)
        if ((how->axes.at[i] = normal_axis(node, how->axes.at[i], rank)) < 0)
            return false;
    return true;
}

/* One i64, counted from the front: from 0 to the extent. */
static struct value *place(struct onnx_node *node, const struct open_number *number,
                           struct value *extent, const char *suffix)
{
    struct value *at = number->is_known ? open_int(node, number->number) : number->value;
    struct value *zero = open_int(node, 0);

    at = choose(node, apply2(node, OP_LESS, "is_from_end", at, zero),
                apply2(node, OP_ADD, "from_end", at, extent), at, "from_start");
    return apply2(node, OP_MAXIMUM, suffix, apply2(node, OP_MINIMUM, "inside", at, extent), zero);
}

static bool range_of_number(const struct open_number *number, struct range *range)
{
    *range = (struct range){ number->number, number->number };
    return number->is_known || range_of_value(number->value, NULL, range);
}

/* The most elements that there can be, of `extent`. */
static int64_t most_of(const struct open_number *start, const struct open_number *end,
                       int64_t extent, int64_t step)
{
    int64_t first = 0, last = extent;
    struct range range;

    if (range_of_number(start, &range) && range.low > 0)
        first = range.low < extent ? (int64_t)range.low : extent;
    if (range_of_number(end, &range) && range.low >= 0 && range.high < extent)
        last = (int64_t)range.high;
    return last > first ? (last - first + step - 1) / step : 1;
}

/* How much further the end is than the start, if that is known: end = start + a constant. 0 = it is not. */
static int64_t known_window(struct onnx_node *node, const struct open_number *start,
                            const struct open_number *end)
{
    const struct value *at[2] = { start->value, end->value };
    struct tensor known;

    if (start->is_known || end->is_known)
        return 0;
    for (int i = 0; i < 2; i++)
        while (at[i]->kind == VALUE_OUTPUT && type_elements(&at[i]->type) == 1 &&
               (at[i]->def->op == OP_RESHAPE || at[i]->def->op == OP_CAST))
            at[i] = at[i]->def->inputs[0];
    if (at[1]->kind != VALUE_OUTPUT || at[1]->def->op != OP_ADD)
        return 0;
    for (int i = 0; i < 2; i++) {
        const struct value *other = at[1]->def->inputs[i];

        while (other->kind == VALUE_OUTPUT && type_elements(&other->type) == 1 &&
               (other->def->op == OP_RESHAPE || other->def->op == OP_CAST))
            other = other->def->inputs[0];
        if (other == at[0] && import_known(node->import, at[1]->def->inputs[1 - i], &known) &&
            type_elements(&known.type) == 1)
            return tensor_int_at(&known, 0);
    }
    return 0;
}

/* x[start:end:step] along the axis, which may be open (*length). */
static struct value *slice_axis(struct onnx_node *node, struct value *x, int axis,
                                const struct slicing *how, int i, struct open_length **length,
                                const char *suffix)
{
    const union attrs along = { .axis = { .axis = axis } };
    const int64_t extent = x->type.dim[axis], step = how->steps.at[i];
    const int64_t window =
        *length || step != 1 ? 0 : known_window(node, &how->starts[i], &how->ends[i]);
    const bool is_window = window > 0 && window <= extent;
    const int64_t most = is_window ? window : most_of(&how->starts[i], &how->ends[i], extent, step);
    struct value *all = *length ? (*length)->count : open_int(node, extent);
    struct value *start = place(node, &how->starts[i], all, "start");
    struct value *end = place(node, &how->ends[i], all, "end"), *count, *at, *zero;

    count = apply2(node, OP_ADD, "extent", apply2(node, OP_SUBTRACT, "way", end, start),
                   open_int(node, step - 1));
    zero = open_int(node, 0);
    count = apply2(node, OP_MAXIMUM, "count",
                   apply2(node, OP_DIVIDE, "steps", count, open_int(node, step)), zero);
    at = apply2(node, OP_MULTIPLY, "way_of_each", open_indices(node, most, 1, 0),
                open_int(node, step));
    at = apply2(node, OP_MINIMUM, "places", apply2(node, OP_ADD, "way_from_start", at, start),
                open_int(node, extent - 1));
    if (is_window)
        at = open_expect(node, at,
                         apply2(node, OP_EQUAL, "is_window", count, open_int(node, window)));
    if (!at || !count)
        return NULL;
    *length = is_window ? NULL : open_new(node, count, most);
    return is_window || *length ? onnx_build2(node, OP_TAKE, &along, suffix, x, at) : NULL;
}

/* What is known first: it makes x smaller. */
static struct value *slice_known(struct onnx_node *node, struct value *x, const struct slicing *how,
                                 const struct open_axes *in)
{
    union attrs attrs = { .slice = { .begin = ints_fill(x->type.rank, 0),
                                     .strides = ints_fill(x->type.rank, 1),
                                     .size = ints_of_shape(&x->type) } };
    bool any = false;

    for (int i = 0; i < how->n; i++) {
        const int axis = (int)how->axes.at[i];

        if (in->at[axis] || !how->starts[i].is_known || !how->ends[i].is_known)
            continue;
        any = true;
        slice_dim(&attrs.slice, axis, x->type.dim[axis], how->starts[i].number, how->ends[i].number,
                  how->steps.at[i]);
    }
    return any ? onnx_build1(node, OP_STRIDED_SLICE, &attrs, "known", x) : x;
}

bool slice_open(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    struct open_axes axes = open_of(node->import, x);
    struct slicing how = { .n = 0 };
    int left = 0;

    if (!read_slicing(node, x->type.rank, &how))
        return false;
    for (int i = 0; i < how.n; i++) {
        if (how.steps.at[i] == 0)
            return bad_attribute(node, "a step is 0");
        left += axes.at[how.axes.at[i]] || !how.starts[i].is_known || !how.ends[i].is_known;
    }
    x = slice_known(node, x, &how, &axes);
    for (int i = 0; i < how.n && x; i++) {
        const int axis = (int)how.axes.at[i];

        if (!axes.at[axis] && how.starts[i].is_known && how.ends[i].is_known)
            continue;
        if (how.steps.at[i] < 0)
            return onnx_unsupported(node, "a negative step, with a start or an end of run time");
        if (x->type.dim[axis] == 0)
            return onnx_unsupported(node, "a start or an end of run time, of no elements");
        x = slice_axis(node, x, axis, &how, i, &axes.at[axis], --left ? "part" : "");
    }
    if (!x)
        return false;
    open_set(node->import, x, &axes);
    return onnx_output(node, 0, x);
}

bool open_slice(struct onnx_node *node, struct open_use *use)
{
    use->done = true;
    return slice_open(node);
}
