/* convert_unique.c - Unique: of the elements of x, or of its slices along an axis, each once. How many there are is
 * known at compile time, declared by the file, or open (open_length.c); then the last kinds are slices of the first
 * one, of which there are 0. */
#include "frontend/onnx/convert_helpers.h"

enum { VALUES, INDICES, INVERSE, COUNTS, N_OUTPUTS };

/* x as rows, of numbers: the axis in front, the rest behind it; without an axis a row for each element. */
static struct value *as_rows(struct onnx_node *node, struct value *x, int axis)
{
    struct ints order = { 1, { axis } }, rows = { 2, { 0, 1 } };

    if (x->type.dtype == DTYPE_BOOL)
        x = cast_to(node, x, DTYPE_U8, "bytes");
    if (!x)
        return NULL;
    rows.at[0] = axis < 0 ? type_elements(&x->type) : x->type.dim[axis];
    if (axis >= 0 && rows.at[0])
        rows.at[1] = type_elements(&x->type) / rows.at[0];
    for (int d = 0; d < x->type.rank; d++)
        if (d != axis)
            order.at[order.n++] = d;
    if (axis > 0)
        x = transpose_to(node, x, &order, "slices");
    return x ? reshape_to(node, x, &rows, "rows") : NULL;
}

/* The number of kinds that the file declares; 0 = it does not. */
static int64_t declared_kinds(struct onnx_node *node, int axis)
{
    struct type type;

    for (int i = 0; i < N_OUTPUTS; i++) {
        const int at = i == VALUES && axis > 0 ? axis : 0;

        if (i != INVERSE && onnx_declared(node, i, &type) && at < type.rank && type.dim[at] > 0)
            return type.dim[at];
    }
    return 0;
}

/* What the outputs are made of. */
struct kinds {
    struct value *x;
    int axis;
    int64_t n; /* 0 = open */
    bool is_known;
    struct value *first, *kind, *size, *count; /* see relay_ir/ops/unique.c */
};

/* Of a list with an element for each kind, those that there are. */
static struct value *of_kinds(struct onnx_node *node, const struct kinds *kinds, struct value *list,
                              const char *suffix)
{
    if (!list || !kinds->n)
        return list;
    list = slice_to(node, list, 0, 0, kinds->n, suffix);
    return kinds->is_known ? list : onnx_if_count(node, list, kinds->count, kinds->n);
}

/* The first place of each kind; -1 where there is none. */
static struct value *indices_of(struct onnx_node *node, const struct kinds *kinds)
{
    struct value *zero = scalar_like(node, kinds->size, 0, "zero"), *inputs[3];

    if (kinds->n)
        return of_kinds(node, kinds, kinds->first, "indices");
    inputs[0] = zero ? apply2(node, OP_GREATER, "is_kind", kinds->size, zero) : NULL;
    inputs[1] = kinds->first;
    inputs[2] = scalar_like(node, kinds->first, -1, "none");
    return inputs[0] && inputs[2] ? onnx_build(node, OP_WHERE, NULL, "indices", 3, inputs) : NULL;
}

static struct value *result_of(struct onnx_node *node, const struct kinds *kinds, int i)
{
    const union attrs take = { .axis = { .axis = kinds->axis < 0 ? 0 : kinds->axis } };
    struct value *first;

    switch (i) {
    case INDICES: return indices_of(node, kinds);
    case INVERSE: return kinds->kind;
    case COUNTS: return of_kinds(node, kinds, kinds->size, "sizes");
    default:
        first = of_kinds(node, kinds, kinds->first, "kinds");
        return first ? onnx_build2(node, OP_TAKE, &take, "", kinds->x, first) : NULL;
    }
}

static bool find_kinds(struct onnx_node *node, struct kinds *kinds)
{
    const union attrs attrs = { .unique = { .sorted = onnx_int(node, "sorted", 1) != 0 } };
    struct arena *arena = &node->ctx->perm;
    const char *stem = output_stem(node);
    const char *const names[] = { arena_printf(arena, "%s:first", stem),
                                  arena_printf(arena, "%s:kind", stem),
                                  arena_printf(arena, "%s:size", stem),
                                  arena_printf(arena, "%s:kinds", stem) };
    struct value *rows = onnx_ok(node) ? as_rows(node, kinds->x, kinds->axis) : NULL;
    const struct node_args args = { .op = OP_UNIQUE,
                                    .n_inputs = 1,
                                    .inputs = &rows,
                                    .names = names,
                                    .attrs = &attrs,
                                    .origin = node->origin };
    struct node *unique = rows ? node_new(node->fn, &args) : NULL;

    if (!unique)
        return false;
    kinds->first = unique->outputs[0];
    kinds->kind = unique->outputs[1];
    kinds->size = unique->outputs[2];
    kinds->count = unique->outputs[3];
    kinds->is_known = onnx_is_number(node, kinds->count, &kinds->n);
    return true;
}

bool convert_unique(struct onnx_node *node)
{
    const struct ints flat = {
        1, { onnx_input(node, 0) ? type_elements(&node->inputs[0]->type) : 0 }
    };
    struct kinds kinds = { .x = onnx_input(node, 0), .axis = -1 };
    bool ok = true;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_ANY))
        return false;
    if (onnx_has(node, "axis"))
        kinds.axis = normal_axis_attr(node, 0, kinds.x->type.rank);
    if (onnx_has(node, "axis") && kinds.axis < 0)
        return false;
    if (!find_kinds(node, &kinds))
        return false;
    if (kinds.axis < 0)
        kinds.x = reshape_to(node, kinds.x, &flat, "flat");
    if (!kinds.is_known)
        kinds.n = declared_kinds(node, kinds.axis);
    if (kinds.n > type_elements(&kinds.first->type))
        return onnx_unsupported(node, "the file declares %lld elements, of %lld",
                                (long long)kinds.n, (long long)type_elements(&kinds.first->type));
    if (!kinds.n && onnx_is_inside(node))
        return onnx_undeclared(node, 0);
    for (int i = 0; i < N_OUTPUTS && kinds.x; i++)
        if (wants_output(node, i) && ok)
            ok = kinds.n || i == INVERSE
                     ? onnx_output(node, i, result_of(node, &kinds, i))
                     : onnx_output_open(node, i, i == VALUES && kinds.axis > 0 ? kinds.axis : 0,
                                        result_of(node, &kinds, i), kinds.count);
    return ok && kinds.x;
}
