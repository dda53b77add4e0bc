/* global_avg_pool.c - averages and maxima of whole planes, channels first. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/pool/pool.h"

static bool takes_planes(const struct region *region, const char **why)
{
    const char *layout = region->anchor->attrs.layout.layout;

    return takes_channels_first(layout, layout, why);
}

static bool accepts_global_avg_pool(const struct region *region, const char **why)
{
    return takes_float(region, why) && takes_planes(region, why);
}

static bool accepts_global_max_pool(const struct region *region, const char **why)
{
    return takes_number(region, why) && takes_planes(region, why);
}

static bool bind_global_pool(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const bool is_max = bind->region->anchor->op == OP_GLOBAL_MAX_POOL;
    const bool by_rows = reads_rows(bind->region, type_span(x, 2, x->rank));

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "planes", x->dim[0] * x->dim[1]);
    bind_int(bind, "len", type_span(x, 2, x->rank));
    bind_flag(bind, "by_rows", by_rows);
    if (by_rows)
        bind_helper(bind, is_max ? "row_max_f32" : "row_sum_f32");
    else if (is_max)
        bind_lowest(bind);
    return bind_epilogue_at(bind, is_max ? "best" : "sum", "plane");
}

const struct kernel kernel_global_avg_pool = {
    .name = "global_avg_pool",
    .sums = SUMS_ROWS,
    .forms = { { OPS(OP_GLOBAL_AVG_POOL), accepts_global_avg_pool, bind_global_pool } },
};

const struct kernel kernel_global_max_pool = {
    .name = "global_max_pool",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_GLOBAL_MAX_POOL), accepts_global_max_pool, bind_global_pool } },
};
