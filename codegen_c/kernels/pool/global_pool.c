/* global_pool.c - averages and maxima of each channel, channels last. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/pool/pool.h"
#include "codegen_c/microkernel/pixel_stride.h"

/* Vectors of sums in registers, which hides the latency of an addition. */
enum { MOST_SUMS = 8 };

static bool accepts_global_avg_last(const struct region *region, const char **why)
{
    return takes_float(region, why) &&
           takes_channels_last(region->anchor->attrs.layout.layout, why);
}

static bool accepts_global_max_last(const struct region *region, const char **why)
{
    return takes_number(region, why) &&
           takes_channels_last(region->anchor->attrs.layout.layout, why);
}

/* f32 sums with a variable per vector, on CPUs with vectors: gcc keeps sums in an array in memory,
 * where each addition waits for the last. */
static void bind_vector_sums(struct bind *bind, int64_t block)
{
    const int64_t n = block / bind->machine->lanes;
    struct str sums = { .arena = bind->arena };

    bind_vector(bind);
    for (int64_t v = 0; v < n; v++)
        str_printf(&sums, "%ssum%" PRId64 " = { 0 }", v ? ", " : "", v);
    bind_text(bind, "vector", "vector_f32");
    bind_text(bind, "vector_sums", "%s", str_text(&sums));
    bind_int(bind, "n_vectors", n);
}

static bool bind_global_last(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t channels = x->dim[x->rank - 1];
    const bool batched = x->dim[0] > 1;
    const int64_t lanes = bind->machine->lanes;
    const bool vectors = bind->region->anchor->op == OP_GLOBAL_AVG_POOL && lanes > 1 &&
                         channels % lanes == 0 &&
                         anchor_source(bind->region, 0)->type.dtype == DTYPE_F32;
    const int64_t block = row_block(channels, vectors ? MOST_SUMS * lanes : POOL_BLOCK);
    struct position position;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_flag(bind, "vectors", vectors);
    bind_flag(bind, "cleared", !vectors && bind->region->anchor->op == OP_GLOBAL_AVG_POOL);
    bind_text(bind, "wide", "%s", vectors ? "WIDE " : "");
    if (vectors)
        bind_vector_sums(bind, block);
    if (bind->region->anchor->op == OP_GLOBAL_MAX_POOL) {
        bind_pool_maximum(bind, "i");
        bind_text(bind, "what", "The maximum of each channel; NaN wins.");
    } else {
        bind_pool_sum(bind, "v",
                      arena_printf(bind->arena, "sum[i] / (%s)LEN", dtype_c_type(x->dtype)));
        bind_text(bind, "what", "The average of each channel.");
    }
    bind_flag(bind, "batched", batched);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "len", type_span(x, 1, x->rank - 1));
    bind_int(bind, "channels", channels);
    bind_int(bind, "c_block", block);
    bind_pixel_strides(bind);
    bind_text(bind, "in_pixel_stride", "%s", pixel_stride_of_x(bind->region, "CHANNELS"));
    bind_text(bind, "image", batched ? "n * LEN * %s + " : "",
              pixel_stride_of_x(bind->region, "CHANNELS"));
    bind_text(bind, "at", batched ? "n * CHANNELS + c" : "c");
    position_by_division(bind, "at", &position);
    if (batched)
        position.coord[0] = "n";
    if (channels > 1)
        position.coord[x->rank - 1] = "c";
    return bind_epilogue(bind, "v", &position);
}

const struct kernel kernel_global_pool = {
    .name = "global_pool",
    .sums = SUMS_PLAIN,
    .reads_strided = reads_pixels,
    .writes_strided = writes_side_by_side,
    .forms = { { OPS(OP_GLOBAL_AVG_POOL), accepts_global_avg_last, bind_global_last },
               { OPS(OP_GLOBAL_MAX_POOL), accepts_global_max_last, bind_global_last } },
};
