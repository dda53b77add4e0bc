/* max_pool2d.c - max pools by planes; with indices, of both layouts. 1-D is bound as 2-D of height
 * 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"

static bool bind_max_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);

    bind_lowest(bind);
    return bind_pool_epilogue(bind, &w, "best");
}

/* For any rank: lower ranks have a depth of 1. */
static bool bind_max_pool_indices(struct bind *bind)
{
    struct window w = window_of_pool(bind->region);

    w.rank = 3;
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_int(bind, "planes", w.batch * w.in_c);
    bind_helper(bind, "window");
    bind_lowest(bind);
    bind_flag(bind, "column_major", bind->region->anchor->attrs.pool.storage_order == 1);
    return true;
}

const struct kernel kernel_max_pool2d = {
    .name = "max_pool2d",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D), accepts_max_pool, bind_max_pool } },
};

const struct kernel kernel_max_pool3d = {
    .name = "max_pool3d",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_MAX_POOL3D), accepts_max_pool, bind_max_pool } },
};

const struct kernel kernel_max_pool_indices = {
    .name = "max_pool_indices",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_MAX_POOL_INDICES), accepts_max_pool, bind_max_pool_indices } },
};
