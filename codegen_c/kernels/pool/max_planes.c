/* max_planes.c - max pools of f32, channels first: vectors lie along the rows of x. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/pool/pool.h"

enum {
    FEWEST = 4,         /* columns of x: the shortest vectors */
    WHOLE = 16,         /* windows at a time that leave no rest, for all vector lengths */
    ROWS = 4,           /* rows of y: a stored row is loaded only after the others */
    MOST_COLUMNS = 256, /* of each row on the stack, which then has 5 KiB, about five rows of x */
    MOST_COLUMNS_DEEP = 1024
};

/* Columns under `places` windows, padding included. */
static int64_t columns_under(const struct window *w, int64_t places)
{
    return places + (w->k[2] - 1) * w->dil[2];
}

static int64_t places(const struct window *w)
{
    return (w->out[2] - 1) * w->stride[2] + 1;
}

static int64_t whole_places(const struct window *w)
{
    return (places(w) + WHOLE - 1) / WHOLE * WHOLE;
}

/* Columns of x under some window. */
static int64_t columns_of_x(const struct window *w)
{
    const int64_t n = columns_under(w, places(w)) - w->pad[2];

    return n < w->in[2] ? n : w->in[2];
}

static bool accepts_max_pool_planes(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);
    const int most = machine_has_deep_stack(region->machine) ? MOST_COLUMNS_DEEP : MOST_COLUMNS;

    if (!accepts_max_pool(region, why))
        return false;
    *why = "it is for vectors of f32";
    if (region->machine->lanes == 1 || anchor_input(region, 0)->dtype != DTYPE_F32 ||
        anchor_decoder(region->anchor, 0))
        return false;
    *why = "its rows are short, or long";
    return columns_of_x(&w) >= FEWEST && columns_under(&w, whole_places(&w)) <= most;
}

static bool bind_max_pool_planes(struct bind *bind)
{
    const struct window w = bind_pool_window(bind);
    const int64_t used = columns_of_x(&w);
    struct row_vector vector;

    bind_vector(bind);
    vector = bind_row_vector(bind, used);
    bind_include(bind, "math.h");
    bind_text(bind, "vector", "%s", vector.type);
    bind_text(bind, "lanes", "%s", vector.lanes);
    bind_text(bind, "greatest_rows", "%s", bind_greatest_rows(bind, &vector));
    bind_int(bind, "width", columns_under(&w, whole_places(&w)));
    bind_int(bind, "whole", whole_places(&w));
    bind_int(bind, "used", used);
    bind_int(bind, "rows", w.out[1] < ROWS ? w.out[1] : ROWS);
    return bind_pool_epilogue(bind, &w, w.stride[2] == 1 ? "best[ow]" : "best[ow * STRIDE_W]");
}

const struct kernel kernel_max_pool_planes = {
    .name = "max_pool_planes",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D), accepts_max_pool_planes,
                 bind_max_pool_planes } },
};
