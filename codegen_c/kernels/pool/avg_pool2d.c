/* avg_pool2d.c - average pools by planes. 1-D is bound as 2-D of height 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"

static bool bind_avg_pool(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);
    const bool counts = bind->region->anchor->attrs.pool.count_include_pad;
    const bool beyond = bind_padded_extents(bind, &w);

    /* Only dilated windows can miss an input between their taps. */
    bind_flag(bind, "may_miss",
              w.padded && !counts && (w.dil[0] > 1 || w.dil[1] > 1 || w.dil[2] > 1));
    bind_flag(bind, "includes_padding", w.padded && counts);
    bind_flag(bind, "excludes_padding", w.padded && !counts);
    bind_flag(bind, "clips_padding", w.padded && counts && beyond);
    bind_flag(bind, "counts_all", !w.padded || (counts && !beyond));
    return bind_pool_epilogue(bind, &w, "sum");
}

const struct kernel kernel_avg_pool2d = {
    .name = "avg_pool2d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D), accepts_pool, bind_avg_pool } },
};

const struct kernel kernel_avg_pool3d = {
    .name = "avg_pool3d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_AVG_POOL3D), accepts_pool, bind_avg_pool } },
};
