/* open_move.c - open axes of operators that move elements, and Shape, which says how many there are. */
#include "frontend/onnx/open.h"

static struct open_axes input_axes(struct onnx_node *node, int i)
{
    return open_of(node->import, onnx_input(node, i));
}

bool open_transpose(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const int rank = onnx_input(node, 0)->type.rank;
    const struct ints order = onnx_ints(node, "perm");

    for (int d = 0; d < rank; d++) {
        const int64_t from = order.n == rank ? order.at[d] : rank - 1 - d;

        use->out.at[d] = from >= 0 && from < rank ? in.at[from] : NULL;
    }
    return onnx_ok(node);
}

/* --- shapes ----------------------------------------------------------------------------------- */

bool open_shape(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const union attrs list = { .axis = { .axis = 0 } };
    const struct value *x = onnx_input(node, 0);
    const int64_t start = onnx_int(node, "start", 0), end = onnx_int(node, "end", MAX_RANK);
    const int64_t rank = x->type.rank;
    const int64_t from = start < 0 ? start + rank : start, to = end < 0 ? end + rank : end;
    struct value *dims[MAX_RANK];
    int n = 0;

    for (int d = 0; d < rank; d++) {
        if (d < from || d >= to)
            continue;
        dims[n] = in.at[d] ? open_count(node, in.at[d]) : open_int(node, x->type.dim[d]);
        if (!dims[n++])
            return false;
    }
    use->done = true;
    if (n == 0)
        return onnx_output(node, 0, onnx_from_ints(node, NULL, 0, ""));
    return onnx_output(node, 0,
                       n == 1 ? dims[0] : onnx_build(node, OP_CONCATENATE, &list, "", n, dims));
}

bool open_unsqueeze(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const int rank = onnx_input(node, 0)->type.rank;
    struct ints axes;
    bool given;

    if (!list_of(node, "axes", 1, &axes, &given) || rank + axes.n > MAX_RANK ||
        !normal_axes(node, &axes, rank + axes.n))
        return false;
    for (int d = 0, from = 0, i = 0; d < rank + axes.n; d++) {
        if (i < axes.n && axes.at[i] == d)
            i++;
        else
            use->out.at[d] = in.at[from++];
    }
    return true;
}

bool open_squeeze(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const struct value *x = onnx_input(node, 0);
    struct ints axes;
    bool given;

    if (!list_of(node, "axes", 1, &axes, &given) || !normal_axes(node, &axes, x->type.rank))
        return false;
    for (int d = 0, at = 0; d < x->type.rank; d++) {
        bool gone = !given && x->type.dim[d] == 1;

        for (int i = 0; i < axes.n; i++)
            gone = gone || axes.at[i] == d;
        if (gone && in.at[d])
            return open_refuse(node, in.at[d]);
        if (!gone)
            use->out.at[at++] = in.at[d];
    }
    return true;
}

/* An open axis that becomes one with those behind it, and with extents of 1 in front. */
static struct open_length *flat(struct onnx_node *node, const struct type *x,
                                const struct open_axes *in, int first, int last)
{
    struct open_length *length = NULL;
    int64_t factor = 1;

    for (int d = first; d < last; d++) {
        if (in->at[d] && (length || factor != 1)) {
            open_refuse(node, in->at[d]);
            return NULL;
        }
        if (in->at[d])
            length = in->at[d];
        else
            factor *= x->dim[d];
    }
    return length ? open_times(node, length, factor) : NULL;
}

bool open_flatten(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    const struct type *x = &onnx_input(node, 0)->type;
    int64_t axis = onnx_int(node, "axis", 1);

    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis > x->rank)
        return bad_attribute(node, "attribute axis is %lld, of %d dims", (long long)axis, x->rank);
    use->out.at[0] = flat(node, x, &in, 0, (int)axis);
    use->out.at[1] = flat(node, x, &in, (int)axis, x->rank);
    return onnx_ok(node);
}

/* The dims that a Reshape asks for, an open one with its room. */
static bool read_dims(struct onnx_node *node, const struct type *x,
                      const struct open_number *numbers, int n, struct ints *dims)
{
    const int64_t total = type_elements(x);
    int64_t others = 1;
    int rest = -1;

    *dims = ints_fill(n, 1);
    for (int i = 0; i < n; i++) {
        int64_t number = numbers[i].number;

        if (numbers[i].is_known && number == 0 && !onnx_int(node, "allowzero", 0) && i < x->rank)
            number = x->dim[i];
        if (numbers[i].is_known && number == -1) {
            rest = i;
            continue;
        }
        if (number < 1)
            return onnx_undeclared(node, 1);
        dims->at[i] = number;
        others *= number;
    }
    if (rest >= 0)
        dims->at[rest] = total / others;
    if (others * (rest < 0 ? 1 : dims->at[rest]) != total || total == 0)
        return onnx_undeclared(node, 1);
    return true;
}

/* What becomes of an open axis: the dim that begins where it does, which is as long, longer by what lies behind it, or
 * shorter by a factor that its length has. NULL after an error. */
static struct open_length *reshaped(struct onnx_node *node, const struct type *x, int axis,
                                    struct open_length *length, const struct ints *dims, int *at)
{
    const int64_t before = type_span(x, 0, axis), extent = x->dim[axis];
    int64_t product = 1, behind = 1, dim;

    for (*at = 0; *at < dims->n && (product < before || dims->at[*at] == 1); ++*at)
        product *= dims->at[*at];
    dim = *at < dims->n && product == before ? dims->at[*at] : 0;
    for (int d = axis + 1; d < x->rank && behind * extent < dim; d++)
        behind *= x->dim[d];
    if (dim && dim == extent * behind)
        return open_times(node, length, behind);
    if (dim && extent % dim == 0 && length->of && length->factor % (extent / dim) == 0) {
        const int64_t factor = extent / dim;

        behind = 1;
        for (int i = *at + 1; i < dims->n && behind < factor; i++)
            behind *= dims->at[i];
        if (behind == factor)
            return length->factor == factor ? (struct open_length *)length->of
                                            : open_times(node, (struct open_length *)length->of,
                                                         length->factor / factor);
    }
    open_refuse(node, length);
    return NULL;
}

bool open_reshape(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes in = input_axes(node, 0);
    struct open_number numbers[MAX_RANK];
    struct value *x = onnx_input(node, 0);
    struct ints dims;
    int n, at;

    if (!onnx_check_inputs(node, 2, 2) || !open_numbers(node, 1, numbers, &n) ||
        !read_dims(node, &x->type, numbers, n, &dims))
        return false;
    for (int d = 0; d < x->type.rank; d++) {
        struct open_length *length;

        if (!in.at[d])
            continue;
        length = reshaped(node, &x->type, d, in.at[d], &dims, &at);
        if (!length)
            return false;
        if (numbers[at].is_known ? numbers[at].number > 0
                                 : open_of_number(node, &numbers[at]) != length)
            return open_refuse(node, length);
        use->out.at[at] = length;
    }
    for (int i = 0; i < n; i++)
        if (!numbers[i].is_known && !use->out.at[i])
            return onnx_undeclared(node, 1);
    use->done = true;
    x = reshape_to(node, x, &dims, "");
    open_set(node->import, x, &use->out);
    return onnx_output(node, 0, x);
}

/* --- joining ---------------------------------------------------------------------------------- */

/* x behind y along the axis, each of which may be open there. */
static struct value *join(struct onnx_node *node, int axis, struct value *y, struct value **count,
                          struct value *x, const struct open_length *length, bool y_is_open,
                          const char *suffix)
{
    const union attrs along = { .axis = { .axis = axis } };
    const int64_t before = y->type.dim[axis], all = before + x->type.dim[axis];
    struct value *joined = concat_with(node, axis, y, x, y_is_open ? "joined" : suffix);
    struct value *at = y_is_open ? open_indices(node, all, 1, 0) : NULL, *moved, *inputs[3];

    if (joined && at) {
        moved = apply2(node, OP_SUBTRACT, "behind", at, *count);
        moved = apply2(node, OP_MINIMUM, "from",
                       apply2(node, OP_ADD, "from_all", moved, open_int(node, before)),
                       open_int(node, all - 1));
        inputs[0] = apply2(node, OP_LESS, "is_first", at, *count);
        inputs[1] = at;
        inputs[2] = moved;
        at = inputs[0] && moved ? onnx_build(node, OP_WHERE, NULL, "places", 3, inputs) : NULL;
        joined = at ? onnx_build2(node, OP_TAKE, &along, suffix, joined, at) : NULL;
    }
    *count = apply2(node, OP_ADD, "count", *count,
                    length ? length->count : open_int(node, x->type.dim[axis]));
    return joined && *count ? joined : NULL;
}

static bool join_all(struct onnx_node *node, struct open_use *use, int axis,
                     const struct open_axes *axes)
{
    struct value *y = node->inputs[0];
    struct value *count =
        axes[0].at[axis] ? axes[0].at[axis]->count : open_int(node, y->type.dim[axis]);
    bool y_is_open = axes[0].at[axis] != NULL;

    for (int i = 1; i < node->n_inputs && y && count; i++) {
        y = join(node, axis, y, &count, node->inputs[i], axes[i].at[axis], y_is_open,
                 i + 1 < node->n_inputs ? "some" : "");
        y_is_open = y_is_open || axes[i].at[axis];
    }
    if (!y || !count)
        return false;
    use->out.at[axis] = open_new(node, count, y->type.dim[axis]);
    use->done = true;
    open_set(node->import, y, &use->out);
    return onnx_output(node, 0, y);
}

bool open_concat(struct onnx_node *node, struct open_use *use)
{
    const int rank = onnx_input(node, 0) ? node->inputs[0]->type.rank : 0;
    const int axis = rank ? normal_axis_attr(node, 0, rank) : -1;
    struct open_axes *axes = arena_array(&node->ctx->perm, struct open_axes, node->n_inputs);
    bool along = false;

    for (int i = 0; i < node->n_inputs; i++) {
        if (!onnx_input(node, i) || node->inputs[i]->type.rank != rank || axis < 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "its inputs are of several ranks");
        axes[i] = input_axes(node, i);
        along = along || axes[i].at[axis];
    }
    for (int d = 0; d < rank; d++)
        for (int i = 0; i < node->n_inputs && d != axis; i++)
            if (axes[i].at[d] != axes[0].at[d]) /* of other lengths, or not open in all */
                return open_refuse(node, axes[i].at[d] ? axes[i].at[d] : axes[0].at[d]);
            else
                use->out.at[d] = axes[0].at[d];
    return !along || join_all(node, use, axis, axes);
}
