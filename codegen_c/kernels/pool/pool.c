/* pool.c - max, average and Lp pools, channels last. 1-D is bound as 2-D of height 1.
 *
 * method   a block of neighbouring channels has its sums, or maxima, in an array: all loops over it
 *          are long and without branches, so that compilers vectorise them */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"
#include "codegen_c/microkernel/pixel_stride.h"

static bool accepts_max_pool_last(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_number(region, why) && takes_window(&w, why) &&
           takes_channels_last(region->anchor->attrs.pool.layout, why);
}

static void bind_norm(struct bind *bind, int64_t p)
{
    const bool is_f32 = anchor_input(bind->region, 0)->dtype == DTYPE_F32;
    const char *f = is_f32 ? "f" : "", *t = is_f32 ? "float" : "double";
    struct arena *arena = bind->arena;

    bind_include(bind, "math.h");
    if (is_f32 && p == 2)
        bind_helper(bind, "sqrt_f32");
    if (p == 1)
        bind_pool_sum(bind, arena_printf(arena, "fabs%s(v)", f), "sum[i]");
    else if (p == 2)
        bind_pool_sum(bind, "v * v", is_f32 ? "sqrt_f32(sum[i])" : "sqrt(sum[i])");
    else
        bind_pool_sum(bind, arena_printf(arena, "pow%s(fabs%s(v), %" PRId64 ")", f, f, p),
                      arena_printf(arena, "pow%s(sum[i], 1 / (%s)%" PRId64 ")", f, t, p));
}

/* Short loops of comparisons, which gcc would unroll before it vectorises. */
static bool compares_shortly(const struct bind *bind, const struct window *w)
{
    enum { LONGEST = 16 };
    const enum op op = bind->region->anchor->op;

    return (op == OP_MAX_POOL1D || op == OP_MAX_POOL2D || op == OP_MAX_POOL3D) &&
           anchor_input(bind->region, 0)->dtype == DTYPE_F32 && bind->machine->lanes != 1 &&
           row_block(w->in_c, POOL_BLOCK) > 1 && row_block(w->in_c, POOL_BLOCK) <= LONGEST;
}

static bool bind_windows(struct bind *bind, const struct window *w)
{
    struct position position;

    bind_pool_frame(bind, w);
    bind_type(bind);
    bind_flag(bind, "deep", w->rank == 3);
    bind_flag(bind, "compares", compares_shortly(bind, w));
    if (w->padded)
        bind_helper(bind, "window");
    bind_text(bind, "row", "%s", pool_row_text(bind, w, "IN", "i"));
    bind_pool_position(bind, w, &position);
    return bind_epilogue(bind, "v", &position);
}

static bool bind_max_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_pool_maximum(bind, "i");
    bind_pool_no_count(bind);
    bind_text(bind, "what", "Maximum over the window. Padding is ignored; NaN wins.");
    return bind_windows(bind, &w);
}

static bool bind_avg_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_pool_average(bind, &w, "i");
    return bind_windows(bind, &w);
}

static bool bind_lp_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);
    const int64_t p = bind->region->anchor->attrs.pool.p;

    bind_norm(bind, p);
    bind_pool_no_count(bind);
    bind_text(bind, "what", "The %" PRId64 "-norm of each window.", p);
    return bind_windows(bind, &w);
}

const struct kernel kernel_pool = {
    .name = "pool",
    .sums = SUMS_PLAIN,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .overlaps = overlaps_pool,
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D), accepts_pool_last,
                 bind_avg_pool_last },
               { OPS(OP_LP_POOL1D, OP_LP_POOL2D, OP_LP_POOL3D), accepts_pool_last,
                 bind_lp_pool_last },
               { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_last,
                 bind_max_pool_last } },
};
