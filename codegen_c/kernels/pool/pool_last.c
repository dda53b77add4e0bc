/* pool_last.c - max, average and Lp pooling, channels last, and global pooling. 1-D is bound as 2-D
 * of height 1.
 *
 * method   a block of neighbouring channels has its sums, or maxima, in an array: all loops over it
 *          are long and without branches, so that compilers vectorise them */
#include <inttypes.h>
#include <math.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/lead.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/pool/pool.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "relay_ir/layout.h"

enum {
    CHUNK = 64,             /* channels; on the stack */
    MOST_SUMS = 8,          /* vectors of sums in registers, which hides the latency of an
                               addition */
    MOST_COLUMNS = 8,       /* windows at a time … */
    MOST_UNDER = 18 * CHUNK /* … with so many floats on the stack */
};

static bool takes_channels_last(const char *layout, const char **why)
{
    *why = "the channels are not last";
    return layout_is_last(layout);
}

static bool accepts_pool_last(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_float(region, why) && takes_window(&w, why) &&
           takes_channels_last(region->anchor->attrs.pool.layout, why);
}

static bool accepts_max_pool_last(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_number(region, why) && takes_window(&w, why) &&
           takes_channels_last(region->anchor->attrs.pool.layout, why);
}

/* Windows of a row computed together; 0: one is too wide. */
static int64_t columns_of(const struct window *w)
{
    const int64_t most = MOST_UNDER / row_chunk(w->in_c, CHUNK) - (w->k[2] - 1) * w->dil[2] - 1;
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

/* --- accumulation ----------------------------------------------------------------------------- */

/* A maximum starts below every value, and keeps NaN. */
static void bind_maximum(struct bind *bind, const char *at)
{
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;
    const bool is_float = dtype_is_float(dtype);

    bind_text(bind, "sum", "best");
    keys_offer(bind->keys, "start", bind_literal(bind, dtype, -INFINITY));
    keys_offer(bind->keys, "step",
               is_float ? "best[i] = v > best[i] || v != v ? v : best[i];"
                        : "best[i] = v > best[i] ? v : best[i];");
    bind_text(bind, "finish", "best[%s]", at);
}

static void bind_sum(struct bind *bind, const char *step, const char *finish)
{
    bind_text(bind, "sum", "sum");
    keys_offer(bind->keys, "start", ""); /* 0, by initialiser: gcc 12.2 -O2 clears an array in
                                            the red zone by a loop as if it were aligned */
    keys_offer(bind->keys, "step", arena_printf(bind->arena, "sum[i] += %s;", step));
    bind_text(bind, "finish", "%s", finish);
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
        bind_sum(bind, arena_printf(arena, "fabs%s(v)", f), "sum[i]");
    else if (p == 2)
        bind_sum(bind, "v * v", is_f32 ? "sqrt_f32(sum[i])" : "sqrt(sum[i])");
    else
        bind_sum(bind, arena_printf(arena, "pow%s(fabs%s(v), %" PRId64 ")", f, f, p),
                 arena_printf(arena, "pow%s(sum[i], 1 / (%s)%" PRId64 ")", f, t, p));
}

/* --- windows ---------------------------------------------------------------------------------- */

static const char *const letters[] = { "d", "h", "w" };

/* "kd_counted * kh_counted * kw_counted", for the dims in use. */
static const char *product_of(struct bind *bind, const struct window *w, const char *format)
{
    struct str out = { .arena = bind->arena };

    for (int i = w->rank == 3 ? 0 : 1; i < 3; i++) {
        str_add(&out, out.n ? " * " : "");
        str_printf(&out, format, letters[i], letters[i]);
    }
    return str_text(&out);
}

/* PADDED_D ..: extents including padding; and whether some window (ceil_mode) reaches beyond, where
 * taps never count. */
static bool bind_padding_behind(struct bind *bind, const struct window *w)
{
    const struct ints *padding = &bind->region->anchor->attrs.pool.padding;
    struct str text = { .arena = bind->arena };
    bool beyond = false;

    for (int i = w->rank == 3 ? 0 : 1; i < 3; i++) {
        const int own = i - (3 - w->rank);
        const int64_t after = own < 0 || padding->n == 0 ? 0 : padding->at[w->rank + own];
        const int64_t last = (w->out[i] - 1) * w->stride[i] + (w->k[i] - 1) * w->dil[i];

        str_printf(&text, "%sPADDED_%c = %" PRId64, text.n ? ", " : "", "DHW"[i],
                   w -> in[i] + after);
        beyond = beyond || last - w->pad[i] >= w->in[i] + after;
    }
    bind_text(bind, "padded_extents", "%s", str_text(&text));
    return beyond;
}

/* The divisor of a sum, and the statement that counts it. */
static void bind_average(struct bind *bind, const struct window *w, const char *at)
{
    static const char *const firsts[] = { "front", "top", "left" };
    const char *t = dtype_c_type(anchor_input(bind->region, 0)->dtype);
    const bool counts = bind->region->anchor->attrs.pool.count_include_pad;
    const bool beyond = bind_padding_behind(bind, w), clips = w->padded && counts && beyond;
    /* Only dilated windows can miss an input between their taps. */
    const bool may_miss = w->dil[0] > 1 || w->dil[1] > 1 || w->dil[2] > 1;
    struct str count = { .arena = bind->arena };

    bind_flag(bind, "clips_padding", clips);
    bind_text(bind, "what", "%s",
              w->padded && counts ? "Average over the window; padding counts as zeros."
              : w->padded         ? "Average over the window; padding does not count."
                                  : "Average over the window.");
    if (clips) {
        for (int i = w->rank == 3 ? 0 : 1; i < 3; i++)
            str_printf(&count, "const int k%s_counted = window_end(%s, DIL_%c, K_%c, PADDED_%c);\n",
                       letters[i], firsts[i], "DHW"[i], "DHW"[i], "DHW"[i]);
        str_printf(&count, "const int n_counted = %s;", product_of(bind, w, "k%s_counted"));
    } else if (w->padded && !counts) {
        str_printf(&count, "const int n_counted = %s;",
                   product_of(bind, w, "(k%s_end - k%s_begin)"));
    }
    bind_text(bind, "count", "%s", str_text(&count));
    if (!count.n)
        bind_sum(bind, "v",
                 arena_printf(bind->arena, "sum[%s] / (%s)(%s)", at, t,
                              w->rank == 3 ? "K_D * K_H * K_W" : "K_H * K_W"));
    else
        bind_sum(bind, "v",
                 arena_printf(bind->arena,
                              may_miss && !counts ? "n_counted > 0 ? sum[%s] / (%s)n_counted : 0"
                                                  : "sum[%s] / (%s)n_counted",
                              at, t));
}

/* "((n * IN_D + id) * IN_H + ih)", for the dims in use. */
static const char *row_text(struct bind *bind, const struct window *w, const char *extent,
                            const char *prefix)
{
    const bool batched = w->batch > 1, deep = w->rank == 3;
    struct arena *arena = bind->arena;
    const char *depth = !deep     ? NULL
                        : batched ? arena_printf(arena, "(n * %s_D + %sd)", extent, prefix)
                                  : arena_printf(arena, "%sd", prefix);
    const char *outer = deep ? depth : batched ? "n" : NULL;

    return outer ? arena_printf(arena, "(%s * %s_H + %sh)", outer, extent, prefix)
                 : arena_printf(arena, "%sh", prefix);
}

static void bind_position(struct bind *bind, const struct window *w, struct position *position)
{
    const char *pixel =
        arena_printf(bind->arena, "(%s * OUT_W + ow)", row_text(bind, w, "OUT", "o"));
    static const char *const names[] = { "od", "oh", "ow" };

    bind_at(bind, pixel, "CHANNELS", "c", position);
    if (w->batch > 1)
        position->coord[0] = "n";
    for (int i = 0; i < w->rank; i++)
        if (w->out[3 - w->rank + i] > 1)
            position->coord[1 + i] = names[3 - w->rank + i];
    if (w->in_c > 1)
        position->coord[1 + w->rank] = "c";
}

/* Keys of both templates. */
static void bind_frame(struct bind *bind, const struct window *w)
{
    bind_input(bind, "x", 0);
    bind_window(bind, w);
    bind_flag(bind, "batched", w->batch > 1);
    bind_int(bind, "batch", w->batch);
    bind_int(bind, "channels", w->in_c);
    bind_int(bind, "chunk", row_chunk(w->in_c, CHUNK));
    bind_pixel_strides(bind);
    bind_text(bind, "in_pixel_stride", "%s", pixel_stride_of_x(bind->region, "CHANNELS"));
}

/* Short loops of comparisons, which gcc would unroll before it vectorises. */
static bool compares_shortly(const struct bind *bind, const struct window *w)
{
    enum { LONGEST = 16 };
    const enum op op = bind->region->anchor->op;

    return (op == OP_MAX_POOL1D || op == OP_MAX_POOL2D || op == OP_MAX_POOL3D) &&
           anchor_input(bind->region, 0)->dtype == DTYPE_F32 && bind->machine->lanes != 1 &&
           row_chunk(w->in_c, CHUNK) > 1 && row_chunk(w->in_c, CHUNK) <= LONGEST;
}

static bool bind_windows(struct bind *bind, const struct window *w)
{
    struct position position;

    bind_frame(bind, w);
    bind_type(bind);
    bind_flag(bind, "deep", w->rank == 3);
    bind_flag(bind, "compares", compares_shortly(bind, w));
    if (w->padded)
        bind_helper(bind, "window");
    bind_text(bind, "row", "%s", row_text(bind, w, "IN", "i"));
    bind_position(bind, w, &position);
    return bind_epilogue(bind, "v", &position);
}

static void bind_no_count(struct bind *bind)
{
    bind_text(bind, "count", "%s", "");
    bind_flag(bind, "clips_padding", false);
}

static bool bind_max_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_maximum(bind, "i");
    bind_no_count(bind);
    bind_text(bind, "what", "Maximum over the window. Padding is ignored; NaN wins.");
    return bind_windows(bind, &w);
}

static bool bind_avg_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);

    bind_average(bind, &w, "i");
    return bind_windows(bind, &w);
}

static bool bind_lp_pool_last(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);
    const int64_t p = bind->region->anchor->attrs.pool.p;

    bind_norm(bind, p);
    bind_no_count(bind);
    bind_text(bind, "what", "The %" PRId64 "-norm of each window.", p);
    return bind_windows(bind, &w);
}

/* --- windows of f32 --------------------------------------------------------------------------- */

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

static bool bind_pool_tiles(struct bind *bind)
{
    const struct window w = window_of_pool(bind->region);
    const enum op op = bind->region->anchor->op;
    const bool is_max = op == OP_MAX_POOL1D || op == OP_MAX_POOL2D;
    const struct row_vector vector = bind_row_vector(bind, row_chunk(w.in_c, CHUNK));
    const char *const max = is_max ? vector_max(bind, &vector) : NULL;
    const char *column;
    struct position position;

    bind_frame(bind, &w);
    bind_helper(bind, "window");
    bind_text(bind, "rows", "%s", vector_rows(bind, &vector, max));
    if (is_max) {
        bind_include(bind, "math.h");
        bind_maximum(bind, "i");
        bind_no_count(bind);
        bind_text(bind, "what", "Maximum over the window. Padding is ignored; NaN wins.");
    } else {
        bind_average(bind, &w, "i");
    }
    bind_flag(bind, "max", is_max);
    bind_int(bind, "columns", columns_of(&w));
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
    bind_position(bind, &w, &position);
    return bind_epilogue(bind, "v", &position);
}

/* --- global pooling --------------------------------------------------------------------------- */

/* f32 sums with a variable per vector, on CPUs with vectors: gcc keeps sums in an array in memory,
 * where each addition waits for the last. */
static void bind_vector_sums(struct bind *bind, int64_t chunk)
{
    const int64_t n = chunk / bind->machine->lanes;
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
    const int64_t chunk = row_chunk(channels, vectors ? MOST_SUMS * lanes : CHUNK);
    struct position position;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_flag(bind, "vectors", vectors);
    bind_flag(bind, "cleared", !vectors && bind->region->anchor->op == OP_GLOBAL_AVG_POOL);
    bind_text(bind, "wide", "%s", vectors ? "WIDE " : "");
    if (vectors)
        bind_vector_sums(bind, chunk);
    if (bind->region->anchor->op == OP_GLOBAL_MAX_POOL) {
        bind_maximum(bind, "i");
        bind_text(bind, "what", "The maximum of each channel; NaN wins.");
    } else {
        bind_sum(bind, "v", arena_printf(bind->arena, "sum[i] / (%s)LEN", dtype_c_type(x->dtype)));
        bind_text(bind, "what", "The average of each channel.");
    }
    bind_flag(bind, "batched", batched);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "len", type_span(x, 1, x->rank - 1));
    bind_int(bind, "channels", channels);
    bind_int(bind, "chunk", chunk);
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

const struct kernel kernel_pool_tiles = {
    .name = "pool_tiles",
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .leads = leads_pool_tiles,
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_MAX_POOL1D, OP_MAX_POOL2D),
                 accepts_pool_tiles, bind_pool_tiles } },
};

const struct kernel kernel_pool = {
    .name = "pool",
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .leads = leads_pool,
    .forms = { { OPS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D), accepts_pool_last,
                 bind_avg_pool_last },
               { OPS(OP_LP_POOL1D, OP_LP_POOL2D, OP_LP_POOL3D), accepts_pool_last,
                 bind_lp_pool_last },
               { OPS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D), accepts_max_pool_last,
                 bind_max_pool_last } },
};

const struct kernel kernel_global_pool = {
    .name = "global_pool",
    .reads_strided = reads_pixels,
    .writes_strided = writes_side_by_side,
    .forms = { { OPS(OP_GLOBAL_AVG_POOL), accepts_global_avg_last, bind_global_last },
               { OPS(OP_GLOBAL_MAX_POOL), accepts_global_max_last, bind_global_last } },
};
