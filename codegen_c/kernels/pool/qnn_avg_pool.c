/* qnn_avg_pool.c - average pools of quantised values, of both layouts. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/average.h"
#include "codegen_c/kernels/pool/pool.h"

static bool accepts_qnn_avg_pool(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_sizes(region, why) && takes_window(&w, why) &&
           takes_qnn_scales(region, window_k_len(&w), why);
}

/* Element n of a table of n_max + 1 entries, as C. */
static const char *entry(struct bind *bind, const char *ending, enum dtype dtype, int64_t n_max,
                         const void *data)
{
    const int64_t n = n_max + 1;
    const struct type type = type_make(dtype, 1, &n);
    const char *name =
        arena_printf(bind->arena, "%s_%s", bind->region->anchor->outputs[0]->name, ending);

    return arena_printf(bind->arena, "%s[n]",
                        bind_operand(bind, constant_new(bind->region->fn, name, &type, data)));
}

/* A table of factors for every number of elements under a window. */
static const char *average_by_table(struct bind *bind, int64_t n)
{
    int32_t *multipliers = table_new(bind, DTYPE_I32, n + 1);
    int8_t *shifts = table_new(bind, DTYPE_I8, n + 1);
    const char *multiplier;

    for (int64_t i = 0; i <= n; i++) {
        const struct fixed_point factor = average_factor(bind->region->anchor, i);

        multipliers[i] = factor.multiplier;
        shifts[i] = (int8_t)factor.shift;
    }
    multiplier = entry(bind, "multiplier", DTYPE_I32, n, multipliers);
    return rescaled_sum_by(bind, "sum", multiplier, entry(bind, "shift", DTYPE_I8, n, shifts));
}

/* How a window's elements are counted. */
struct counting {
    bool padded, counts; /* some tap is outside; padding counts */
    bool varies;         /* the number varies between windows */
    bool may_be_none;
};

/* Turns the sum of values into one less the zero point. */
static void bind_shift(struct bind *bind, const struct counting *c, int64_t zero)
{
    const bool inside = c->padded && c->counts;
    const bool shifted = !type_minifloat(anchor_input(bind->region, 0));

    bind_flag(bind, "shifted", shifted);
    bind_flag(bind, "counts_inside", shifted && inside);
    bind_text(bind, "shift", "-= %s * %s",
              inside      ? "n_inside"
              : c->varies ? "n"
                          : "N",
              number_i32(bind->arena, bind->region->anchor, "x_zero", zero));
}

static const char *average_text(struct bind *bind, const struct counting *c,
                                const struct qnn_scales *scales, int64_t n, bool plain)
{
    const char *average;

    if (!plain && c->varies)
        return average_by_table(bind, n);
    if (!plain)
        return rescaled_sum(bind, "sum", average_factor(bind->region->anchor, n));
    average = plain_average(bind, "sum", n, c->varies ? "n" : NULL);
    return c->may_be_none ? arena_printf(bind->arena, "(%s)(n == 0 ? %s : %s)",
                                         dtype_c_type(anchor_output(bind->region, 0)->dtype),
                                         number_i32(bind->arena, bind->region->anchor, "y_zero",
                                                    scales->out_zero),
                                         average)
                          : average;
}

static bool bind_qnn_avg_pool(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct qnn_scales scales = known_qnn_scales(node);
    const bool plain = qnn_average_is_plain(node, &scales);
    const struct window w = bind_pool_window(bind);
    const bool beyond = bind_padded_extents(bind, &w);
    struct counting c = { .padded = w.padded, .counts = node->attrs.pool.count_include_pad };

    c.varies = w.padded && (!c.counts || beyond);
    c.may_be_none = w.padded && !c.counts && (w.dil[0] > 1 || w.dil[1] > 1 || w.dil[2] > 1);
    bind_flag(bind, "deep", w.rank == 3);
    bind_pool_places(bind, &w, w.rank == 3);
    bind_flag(bind, "includes_padding", c.padded && c.counts);
    bind_flag(bind, "counts", c.counts);
    bind_flag(bind, "clips_padding", c.varies && c.counts);
    bind_flag(bind, "plain", plain);
    bind_text(bind, "tsum", "%s", bind_average_sum(bind, window_k_len(&w)));
    bind_shift(bind, &c, scales.in_zero);
    bind_text(bind, "ty", "%s", dtype_c_type(anchor_output(bind->region, 0)->dtype));
    bind_text(bind, "mean", "%s", average_text(bind, &c, &scales, window_k_len(&w), plain));
    return bind_pool_epilogue(bind, &w, "mean");
}

const struct kernel kernel_qnn_avg_pool = {
    .name = "qnn_avg_pool",
    .sums = SUMS_NONE,
    .overlaps = overlaps_pool,
    .forms = { { OPS(OP_QNN_AVG_POOL1D, OP_QNN_AVG_POOL2D, OP_QNN_AVG_POOL3D), accepts_qnn_avg_pool,
                 bind_qnn_avg_pool } },
};
