/* lp_normalize.c - vectors along an axis divided by their L1 or L2 norm: rows of f32, neighbouring
 * vectors of f32, and any floats. */
#include "codegen_c/core/anchor.h"

static bool bind_lp_normalize(struct bind *bind)
{
    const struct lp_normalize_attrs *attrs = &bind->region->anchor->attrs.lp_normalize;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, attrs->axis);
    bind_lp(bind, attrs->p);
    return bind_epilogue_at(bind, "v", "at");
}

/* Rows are runs of f32. */
static bool accepts_lp_normalize_rows(const struct region *region, const char **why)
{
    const struct type *x = anchor_input(region, 0);
    const int axis = type_axis(x, region->anchor->attrs.lp_normalize.axis);

    *why = "the axis is not the last, shorter than 16, or not of f32";
    return takes_sizes(region, why) && type_span(x, axis + 1, x->rank) == 1 &&
           reads_rows(region, x->dim[axis]);
}

static bool bind_lp_normalize_rows(struct bind *bind)
{
    const struct lp_normalize_attrs *attrs = &bind->region->anchor->attrs.lp_normalize;
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, attrs->axis);

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_lp(bind, attrs->p);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, attrs->p == 1 ? "row_magnitudes_f32" : "row_squares_f32");
    if (attrs->p == 1)
        bind_helper(bind, "choose_f32");
    return bind_epilogue_at(bind, "v", "at");
}

/* Neighbouring vectors, stored as f32. */
static bool accepts_lp_normalize_columns(const struct region *region, const char **why)
{
    enum { FEWEST = 16 };
    const struct type *x = anchor_input(region, 0);
    const int axis = type_axis(x, region->anchor->attrs.lp_normalize.axis);

    *why = "less than 16 vectors of f32 lie side by side";
    return takes_sizes(region, why) && type_span(x, axis + 1, x->rank) >= FEWEST &&
           x->dtype == DTYPE_F32 && !anchor_decoder(region->anchor, 0);
}

static bool bind_lp_normalize_columns(struct bind *bind)
{
    enum { SIDE = 64 }; /* a strip of 64 rows stays in the L1 */
    const struct lp_normalize_attrs *attrs = &bind->region->anchor->attrs.lp_normalize;
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t inner = type_span(x, type_axis(x, attrs->axis) + 1, x->rank);

    bind_input(bind, "x", 0);
    bind_axis(bind, attrs->axis);
    bind_lp(bind, attrs->p);
    bind_int(bind, "side", inner < SIDE ? inner : SIDE);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "choose_f32");
    return bind_epilogue_at(bind, "v", "at");
}

const struct kernel kernel_lp_normalize_columns = {
    .name = "lp_normalize_columns",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_LP_NORMALIZE), accepts_lp_normalize_columns, bind_lp_normalize_columns } },
};

const struct kernel kernel_lp_normalize_rows = {
    .name = "lp_normalize_rows",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_LP_NORMALIZE), accepts_lp_normalize_rows, bind_lp_normalize_rows } },
};

const struct kernel kernel_lp_normalize = {
    .name = "lp_normalize",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_LP_NORMALIZE), takes_float, bind_lp_normalize } },
};
