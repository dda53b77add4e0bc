/* pool_tiles.c - max and average pools of f32, channels last, by vectors: first down each input
 * column, then across the columns of each window. 1-D is bound as 2-D of height 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/pool/pool.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    MOST_COLUMNS = 8,            /* windows at a time */
    MOST_UNDER = 18 * POOL_BLOCK /* their floats on the stack */
};

/* Windows of a row computed together; 0: one is too wide. */
static int64_t columns_of(const struct window *w)
{
    const int64_t most =
        MOST_UNDER / row_block(w->in_c, POOL_BLOCK) - (w->k[2] - 1) * w->dil[2] - 1;
    const int64_t n = most < 0 ? 0 : most / w->stride[2] + 1;

    return n < MOST_COLUMNS ? n : MOST_COLUMNS;
}

/* f32 windows, by vectors. */
static bool accepts_pool_tiles(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    if (!accepts_pool_last(region, why))
        return false;
    *why = "it is not f32";
    if (anchor_source(region, 0)->type.dtype != DTYPE_F32)
        return false;
    *why = "the window has a depth, is too wide, or misses the input somewhere";
    return w.rank < 3 && columns_of(&w) > 0 && windows_reach(&w, 1);
}

/* Requests the maximum of two vectors, NaN if either is NaN. */
static const char *vector_max(struct bind *bind, const struct row_vector *vector)
{
    const char *name = arena_printf(bind->arena, "max_%s", vector->type);
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    if (bind->machine->lanes > 1)
        bind_bytes_helper(bind, "vector_u32"); /* no warnings about vectors as results */
    keys_init(&keys, bind->arena);
    keys_set(&keys, "vector", vector->type);
    keys_set(&keys, "lanes", vector->lanes);
    keys_set_flag(&keys, "scalar", vector->most == 1);
    keys_set_flag(&keys, "helium", bind->machine->dot == DOT_MVE);
    return bind_new_helper(bind, name, "templates/helpers/vector_max_f32.c.tmpl", &keys);
}

/* Requests the maximum, or sum, over the rows of a column. */
static const char *vector_rows(struct bind *bind, const struct row_vector *vector, const char *max)
{
    const char *name = arena_printf(bind->arena, "%s_rows_%s", max ? "max" : "sum", vector->type);
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "what", max ? "maximum" : "sum");
    keys_set(&keys, "vector", vector->type);
    keys_set(&keys, "sum", max ? "best" : "sum");
    keys_set(&keys, "add", max ? arena_printf(bind->arena, "= %s(best, v)", max) : "+= v");
    return bind_new_helper(bind, name, "templates/helpers/vector_rows_f32.c.tmpl", &keys);
}

const char *bind_greatest_rows(struct bind *bind, const struct row_vector *vector)
{
    return vector_rows(bind, vector, vector_max(bind, vector));
}

/* Input columns under the windows that are computed together. */
static int64_t width_of(const struct window *w)
{
    return (columns_of(w) - 1) * w->stride[2] + (w->k[2] - 1) * w->dil[2] + 1;
}

/* The array of a function for several windows has room for the widest. */
static void bind_width(struct bind *bind, const struct window *w)
{
    const int64_t own = width_of(w);
    const struct region *other;
    int64_t most = own;
    bool alone = true;

    for (int i = 0; functions_are_shared(bind) && (other = bind_region_at(bind, i)); i++) {
        struct window x;

        if (other->config.kernel != bind->region->config.kernel || !other->anchor ||
            other->anchor->op != bind->region->anchor->op)
            continue;
        x = window_of_pool(other);
        if (row_block(x.in_c, POOL_BLOCK) != row_block(w->in_c, POOL_BLOCK))
            continue;
        alone = alone && width_of(&x) == own;
        most = width_of(&x) > most ? width_of(&x) : most;
    }
    if (alone)
        bind_text(bind, "width", "(COLUMNS - 1) * STRIDE_W + (K_W - 1) * DIL_W + 1");
    else
        bind_int(bind, "width", most);
}

static bool bind_pool_tiles(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);
    const enum op op = bind->region->anchor->op;
    const bool is_max = op == OP_MAX_POOL1D || op == OP_MAX_POOL2D;
    const struct row_vector vector = bind_row_vector(bind, row_block(w.in_c, POOL_BLOCK));
    const char *const max = is_max ? vector_max(bind, &vector) : NULL;
    const char *column;
    struct position position;

    bind_pool_frame(bind, &w);
    bind_helper(bind, "window");
    bind_text(bind, "rows", "%s", vector_rows(bind, &vector, max));
    if (is_max) {
        bind_include(bind, "math.h");
        bind_pool_maximum(bind, "i");
        bind_pool_no_count(bind);
        bind_text(bind, "what", "Maximum over the window. Padding is ignored; NaN wins.");
    } else {
        bind_pool_average(bind, &w, "i");
    }
    bind_flag(bind, "max", is_max);
    bind_int(bind, "columns", columns_of(&w));
    bind_width(bind, &w);
    bind_text(bind, "nothing", is_max ? "lowest" : "{ 0 }");
    column = arena_printf(
        bind->arena, "*(const %s *)&column[(left - from + kw * DIL_W) * CHUNK + c]", vector.type);
    if (is_max)
        bind_text(bind, "add", "= %s(v, %s)", max, column);
    else
        bind_text(bind, "add", "+= %s", column);
    bind_text(bind, "row", w.dil[1] > 1 ? "(%stop + kh_begin * DIL_H)" : "(%stop + kh_begin)",
              w.batch > 1 ? "n * IN_H + " : "");
    bind_text(bind, "vector", "%s", vector.type);
    bind_text(bind, "lanes", "%s", vector.lanes);
    bind_text(bind, "channel",
              vector.overlaps ? "block + %s < CHUNK ? block : CHUNK - %s" : "block", vector.lanes,
              vector.lanes);
    bind_pool_position(bind, &w, &position);
    return bind_epilogue(bind, "v", &position);
}

static bool overlaps_pool_tiles(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_pool(region);

    overlap->bytes = overlap_of_windows(region, &w, GROUP_OF_ROW);
    return window_is_last(&w);
}

const struct kernel kernel_pool_tiles = {
    .name = "pool_tiles",
    .sums = SUMS_COLUMNS,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .overlaps = overlaps_pool_tiles,
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_MAX_POOL1D, OP_MAX_POOL2D),
                 accepts_pool_tiles, bind_pool_tiles } },
};
