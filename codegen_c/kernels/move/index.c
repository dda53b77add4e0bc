/* index.c - indexed reads and writes: take, gather, gather_nd, one_hot, and the two scatters.
 * Elements are only moved, so that any type will do. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/microkernel/accumulate.h"

static bool accepts_index(const struct region *region, const char **why)
{
    return takes_sizes(region, why);
}

static bool accepts_tuples(const struct region *region, const char **why)
{
    const struct type *indices = anchor_input(region, 1);

    if (!takes_sizes(region, why))
        return false;
    if (indices->dim[indices->rank - 1] > 0)
        return true;
    *why = "the index tuples have no entries";
    return false;
}

static void bind_index_type(struct bind *bind)
{
    bind_input(bind, "indices", 1);
    bind_text(bind, "tindex", "%s", dtype_c_type(anchor_input(bind->region, 1)->dtype));
}

/* Binds the indices and their type; requests the helper that keeps an index within its axis. */
static void bind_indices(struct bind *bind)
{
    bind_index_type(bind);
    bind_helper(bind, "index_within");
}

/* The same, and x. */
static void bind_indexed(struct bind *bind)
{
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_indices(bind);
}

/* Constant 4-bit values are stored two per byte, the first in the lower half. */
static bool bind_halves(struct bind *bind)
{
    const struct value *x = bind->region->anchor->inputs[0];
    const bool halves = x->kind == VALUE_CONSTANT && type_packed_bits(&x->type) == 4;
    const bool is_signed = x->type.dtype == DTYPE_I4;

    bind_flag(bind, "halves", halves);
    bind_flag(bind, "whole", !halves);
    keys_offer(bind->keys, "ty", dtype_c_type(x->type.dtype));
    keys_offer(bind->keys, "sign", is_signed ? " ^ 8" : "");
    keys_offer(bind->keys, "least", is_signed ? " - 8" : "");
    if (halves) {
        bind_text(bind, "tx", "uint8_t");
        bind_text(bind, "x", "%s", bind_quantized(bind, x->name, &x->type, x->data, ""));
    }
    return halves;
}

static bool bind_take(struct bind *bind)
{
    if (bind_halves(bind))
        bind_indices(bind);
    else
        bind_indexed(bind);
    bind_axis(bind, bind->region->anchor->attrs.axis.axis);
    bind_int(bind, "n", type_elements(anchor_input(bind->region, 1)));
    return true;
}

/* Loops over the coordinates of `type`, and the row-major index in a tensor of shape `extents` with
 * `replacement` for the axis' coordinate. */
static void bind_coordinates(struct bind *bind, const struct type *type, const struct type *extents,
                             int axis, const char *replacement)
{
    const char *coord[MAX_RANK], *place[MAX_RANK], *extent[MAX_RANK], *other[MAX_RANK];
    struct str dims = { .arena = bind->arena };

    for (int i = 0; i < type->rank; i++) {
        str_printf(&dims, "%sN%d = %" PRId64 ", D%d = %" PRId64, i ? ", " : "", i, type->dim[i], i,
                   extents->dim[i]);
        coord[i] = arena_printf(bind->arena, "i%d", i);
        place[i] = i == axis ? replacement : coord[i];
        extent[i] = arena_printf(bind->arena, "N%d", i);
        other[i] = arena_printf(bind->arena, "D%d", i);
    }
    bind_text(bind, "dims", "%s", str_text(&dims));
    bind_int(bind, "rank", type->rank);
    bind_text(bind, "at", "%s", row_major(bind, type->rank, coord, extent));
    bind_text(bind, "place", "%s", row_major(bind, type->rank, place, other));
    bind_int(bind, "axis", axis);
}

/* Whether the indices are a constant of non-negative ones within the axis: no clamping needed. */
static bool are_within(const struct value *indices, int64_t len)
{
    struct tensor tensor;
    bool within = indices->kind == VALUE_CONSTANT;

    if (!within)
        return false;
    tensor = value_tensor(indices);
    for (int64_t i = 0; within && i < type_elements(&tensor.type); i++)
        within = tensor_at(&tensor, i) >= 0 && tensor_at(&tensor, i) < (double)len;
    return within;
}

static bool bind_gather(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);
    const bool within = are_within(bind->region->anchor->inputs[1], x->dim[axis]);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_index_type(bind);
    bind_helper(bind, within ? "one_by_one" : "index_within");
    bind_text(bind, "one_by_one", within ? " ONE_BY_ONE" : "");
    bind_flag(bind, "within", within);
    bind_coordinates(bind, anchor_input(bind->region, 1), x, axis, "index");
    return true;
}

/* Keys for index tuples: n_tuples of tuple_len entries; entry k indexes an axis of extent${k} and
 * stride step${k}; `inner` elements per tuple. */
static void bind_tuples(struct bind *bind, int first_axis)
{
    const struct type *x = anchor_input(bind->region, 0), *indices = anchor_input(bind->region, 1);
    const int len = (int)indices->dim[indices->rank - 1];

    bind_int(bind, "n_tuples", type_span(indices, 0, indices->rank - 1));
    bind_int(bind, "tuple_len", len);
    bind_int(bind, "inner", type_span(x, first_axis + len, x->rank));
    for (int k = 0; k < len; k++) {
        bind_int(bind, arena_printf(bind->arena, "extent%d", k), x->dim[first_axis + k]);
        bind_int(bind, arena_printf(bind->arena, "step%d", k),
                 type_span(x, first_axis + k + 1, x->rank));
    }
}

static bool bind_gather_nd(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0), *indices = anchor_input(bind->region, 1);
    const int batch = (int)bind->region->anchor->attrs.gather_nd.batch_dims;

    bind_indexed(bind);
    bind_tuples(bind, batch);
    bind_flag(bind, "batched", batch > 0);
    bind_int(bind, "per_batch", type_span(indices, batch, indices->rank - 1));
    bind_int(bind, "x_batch", type_span(x, batch, x->rank));
    return true;
}

static bool bind_one_hot(struct bind *bind)
{
    const struct one_hot_attrs *attrs = &bind->region->anchor->attrs.one_hot;
    const struct type *x = anchor_input(bind->region, 0), *y = anchor_output(bind->region, 0);
    const int axis = type_axis(y, attrs->axis);

    bind_type(bind);
    bind_input(bind, "indices", 0);
    bind_input(bind, "values", 1);
    bind_int(bind, "outer", type_span(y, 0, axis));
    bind_int(bind, "depth", attrs->depth);
    bind_int(bind, "inner", type_span(y, axis + 1, y->rank));
    bind_flag(bind, "float", dtype_is_float(x->dtype));
    bind_flag(bind, "wraps", x->dtype == DTYPE_U64);
    if (dtype_is_float(x->dtype))
        bind_math(bind, "trunc", "trunc");
    return true;
}

/* How an update `v` and the element `old` are combined. */
static void bind_update(struct bind *bind)
{
    const char *reduction = bind->region->anchor->attrs.scatter.reduction;
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;
    const bool adds = strcmp(reduction, "add") == 0, multiplies = strcmp(reduction, "mul") == 0;
    const bool max = strcmp(reduction, "max") == 0, min = strcmp(reduction, "min") == 0;
    const char *order = max ? ">" : "<";

    bind_input(bind, "updates", 2);
    bind_int(bind, "len", type_elements(anchor_input(bind->region, 0)));
    bind_flag(bind, "reduces", adds || multiplies || max || min);
    bind_text(bind, "updated", "v");
    if (max || min)
        bind_text(bind, "updated",
                  dtype_is_float(dtype) ? "v %s old || !(v <= v) ? v : old" : "v %s old ? v : old",
                  order);
    else if ((adds || multiplies) && dtype == DTYPE_BOOL)
        bind_text(bind, "updated", adds ? "old | v" : "old & v");
    else if ((adds || multiplies) && dtype_is_float(dtype))
        bind_text(bind, "updated", "old %c v", adds ? '+' : '*');
    else if (adds || multiplies)
        bind_text(bind, "updated", "(%s)((%s)old %c (%s)v)", dtype_c_type(dtype),
                  dtype_bytes(dtype) == 8 ? "uint64_t" : "uint32_t", adds ? '+' : '*',
                  dtype_bytes(dtype) == 8 ? "uint64_t" : "uint32_t");
}

static bool bind_scatter_elements(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);

    bind_indexed(bind);
    bind_coordinates(bind, anchor_input(bind->region, 1), x,
                     type_axis(x, bind->region->anchor->attrs.scatter.axis), "index");
    bind_update(bind);
    return true;
}

static bool bind_scatter_nd(struct bind *bind)
{
    bind_indexed(bind);
    bind_tuples(bind, 0);
    bind_update(bind);
    return true;
}

const struct kernel kernel_gather = {
    .name = "gather",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_GATHER), accepts_index, bind_gather } },
};

const struct kernel kernel_gather_nd = {
    .name = "gather_nd",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_GATHER_ND), accepts_tuples, bind_gather_nd } },
};

const struct kernel kernel_one_hot = {
    .name = "one_hot",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_ONE_HOT), accepts_index, bind_one_hot } },
};

const struct kernel kernel_scatter_elements = {
    .name = "scatter_elements",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_SCATTER_ELEMENTS), accepts_index, bind_scatter_elements } },
};

const struct kernel kernel_scatter_nd = {
    .name = "scatter_nd",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_SCATTER_ND), accepts_tuples, bind_scatter_nd } },
};

const struct kernel kernel_take = {
    .name = "take",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_TAKE), accepts_index, bind_take } },
};
