/* lp_pool2d.c - Lp pools by planes. 1-D is bound as 2-D of height 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"

static bool bind_lp_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);
    const int64_t p = bind->region->anchor->attrs.pool.p;

    bind_lp(bind, p);
    return bind_pool_epilogue(bind, &w, "sum");
}

const struct kernel kernel_lp_pool2d = {
    .name = "lp_pool2d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_LP_POOL1D, OP_LP_POOL2D), accepts_pool, bind_lp_pool } },
};

const struct kernel kernel_lp_pool3d = {
    .name = "lp_pool3d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_LP_POOL3D), accepts_pool, bind_lp_pool } },
};
