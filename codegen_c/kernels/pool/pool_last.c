/* pool_last.c - what pools with channels last bind. */
#include <inttypes.h>
#include <math.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/pool/pool.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "relay_ir/layout.h"

bool takes_channels_last(const char *layout, const char **why)
{
    *why = "the channels are not last";
    return layout_is_last(layout);
}

bool accepts_pool_last(const struct region *region, const char **why)
{
    const struct window w = window_of_pool(region);

    return takes_float(region, why) && takes_window(&w, why) &&
           takes_channels_last(region->anchor->attrs.pool.layout, why);
}

void bind_pool_maximum(struct bind *bind, const char *at)
{
    const enum dtype dtype = anchor_input(bind->region, 0)->dtype;
    const bool is_float = dtype_is_float(dtype);

    bind_text(bind, "sum", "best");
    keys_offer_flag(bind->keys, "starts", true);
    keys_offer(bind->keys, "start", bind_literal(bind, dtype, -INFINITY));
    keys_offer(bind->keys, "step",
               is_float ? "best[i] = ((v > best[i]) | !(v <= v)) ? v : best[i];"
                        : "best[i] = v > best[i] ? v : best[i];");
    bind_text(bind, "finish", "best[%s]", at);
}

void bind_pool_sum(struct bind *bind, const char *step, const char *finish)
{
    bind_text(bind, "sum", "sum");
    /* 0, by initialiser: gcc 12.2 -O2 clears an array in the red zone by a loop as if it were aligned. */
    keys_offer_flag(bind->keys, "starts", false);
    keys_offer(bind->keys, "step", arena_printf(bind->arena, "sum[i] += %s;", step));
    bind_text(bind, "finish", "%s", finish);
}

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

void bind_pool_average(struct bind *bind, const struct window *w, const char *at)
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
    } else {
        str_printf(&count, "const int n_counted = %s;",
                   w->rank == 3 ? "K_D * K_H * K_W" : "K_H * K_W");
    }
    bind_text(bind, "count", "%s", str_text(&count));
    bind_pool_sum(bind, "v",
                  arena_printf(bind->arena,
                               may_miss && !counts ? "n_counted > 0 ? sum[%s] / (%s)n_counted : 0"
                                                   : "sum[%s] / (%s)n_counted",
                               at, t));
}

const char *pool_row_text(struct bind *bind, const struct window *w, const char *extent,
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

void bind_pool_position(struct bind *bind, const struct window *w, struct position *position)
{
    const char *pixel =
        arena_printf(bind->arena, "(%s * OUT_W + ow)", pool_row_text(bind, w, "OUT", "o"));
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

void bind_pool_frame(struct bind *bind, const struct window *w)
{
    bind_input(bind, "x", 0);
    bind_window(bind, w);
    bind_flag(bind, "batched", w->batch > 1);
    bind_int(bind, "batch", w->batch);
    bind_int(bind, "channels", w->in_c);
    bind_int(bind, "c_block", row_block(w->in_c, POOL_BLOCK));
    bind_pixel_strides(bind);
    bind_text(bind, "in_pixel_stride", "%s", pixel_stride_of_x(bind->region, "CHANNELS"));
}

void bind_pool_no_count(struct bind *bind)
{
    bind_text(bind, "count", "%s", "");
    bind_flag(bind, "clips_padding", false);
}

bool overlaps_pool(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_pool(region);

    overlap->bytes = overlap_of_windows(region, &w, 1);
    return window_is_last(&w);
}
