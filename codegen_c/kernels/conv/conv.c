/* conv.c - f32 convolutions by register tiles of output pixels by channels; also rows times a constant
 * matrix if the L3 is slow. Weights are constant, or packed at run time (conv_packs.c).
 *
 * All shapes: 1-D (as 2-D of height 1) to 3-D, strides, dilation, padding, groups, x and y channels
 * last or first. Channels last, inputs are addressed by indirection pointers, to pixels or to runs
 * of them; padding points to zeros. Nothing is padded, and only runs that reach beyond a side are
 * copied, if channels are few. Channels first, inputs are read at offsets or gathered tile by tile. */
#include <assert.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/matrix.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/conv/conv_packs.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/kernels/dense/dense_tiles.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_time.h"

enum {
    MOST_OFFSETS = 256, /* offsets in x, channels first; on the stack */
    MOST_RUN = 192      /* inputs of a kernel row read as one run: more gain nothing */
};

static bool has_offsets(const struct window *w, const struct panels *panels)
{
    return !w->channels_last && !w->padded && panels->len <= MOST_OFFSETS;
}

/* Whether x is gathered by vectors of 8 floats or more (shorter ones are not worth a call), for
 * long sums. */
static bool gathers_long(const struct machine *machine, const struct window *w,
                         const struct panels *panels)
{
    return machine->lanes >= 8 && !w->channels_last && !has_offsets(w, panels) &&
           panels->len > MOST_OFFSETS;
}

/* The tile's form: weights that exceed the L2 are prefetched into it an NC block ahead. Otherwise,
 * if so few channels are computed per input that the CPU would wait for inputs, those of the next
 * tiles are prefetched. */
static struct tile_form bind_form(struct bind *bind, const struct window *w,
                                  const struct panels *panels, int64_t nc)
{
    const int64_t number = (int64_t)sizeof(float);
    const int64_t cache = conv_near_bytes(bind->machine);
    const bool single = w->groups == 1 && w->batch == 1 && bind->machine->lanes != 1;
    const bool weights = single && conv_fetches_weights(bind->machine, panels, nc);
    const bool inputs = single && nc == panels->n_rows && panels->n_rows <= panels->width &&
                        w->in_c >= w->out_c && w->channels_last && conv_is_pointwise(w) &&
                        window_in_len(w) * w->in_c * number > cache;
    const bool fetches = !has_offsets(w, panels) && (weights || inputs);
    const bool paced = fetches && weights && bind->machine->far_l3;

    bind_flag(bind, "fetches_weights", fetches && weights);
    bind_flag(bind, "fetches_inputs", fetches && inputs);
    bind_flag(bind, "paced", paced);
    bind_text(bind, "ahead", paced ? " ahead, FETCH," : fetches ? " ahead," : "");
    if (paced)
        bind_text(bind, "line", "FETCH");
    else
        bind_int(bind, "line", tile_line());
    return (struct tile_form){ .input = has_offsets(w, panels) ? TILE_OFFSETS : TILE_POINTERS,
                               .fetch = paced     ? FETCH_PACED
                                        : fetches ? FETCH_LINE
                                                  : FETCH_NOTHING };
}

/* Whether the inputs under a kernel row are one run of x. */
static bool has_runs(const struct window *w)
{
    return w->channels_last && w->groups == 1 && w->dil[2] == 1 && w->k[2] > 1 &&
           w->k[2] * w->in_c <= MOST_RUN;
}

/* How many of n neighbouring pixels reach beyond x at its sides, at most. */
static int64_t most_edges(const struct window *w, int64_t n)
{
    int64_t most = 0;

    for (int64_t start = 0; start < w->out[2]; start++) {
        int64_t edges = 0;

        for (int64_t i = 0; i < n; i++) {
            const int64_t left = (start + i) % w->out[2] * w->stride[2] - w->pad[2];

            edges += left < 0 || left + w->k[2] > w->in[2];
        }
        most = edges > most ? edges : most;
    }
    return most;
}

/* Binds the copies of runs that reach beyond x at its sides. */
static void bind_runs(struct bind *bind, const struct window *w, int most_pixels)
{
    const int64_t positions = window_out_len(w) < most_pixels ? window_out_len(w) : most_pixels;
    const int64_t edges = most_edges(w, positions);

    bind_flag(bind, "edges", edges > 0);
    bind_int(bind, "n_edges", edges);
    if (edges > 0)
        bind_scratch_numbers(bind, edges * window_k_len(w) * w->in_c);
}

/* Whether at least half of all taps, over all pixels, lie in the padding. */
static bool misses_x(const struct window *w)
{
    double inside = 1;

    for (int i = 0; i < 3; i++) {
        int64_t n = 0;

        for (int64_t o = 0; o < w->out[i]; o++)
            for (int64_t k = 0; k < w->k[i]; k++) {
                const int64_t at = o * w->stride[i] + k * w->dil[i] - w->pad[i];

                n += at >= 0 && at < w->in[i];
            }
        inside *= (double)n / (double)(w->out[i] * w->k[i]);
    }
    return inside <= 0.5;
}

/* Whether each tile skips the taps before the first and after the last that lie in x: if that is
 * worth looking at all of them. */
static bool skips_taps(const struct window *w, const struct panels *panels, bool runs)
{
    const bool even = panels_last_width(panels) == panels->width ||
                      panels_last_width(panels) == panels_rows(panels);

    return w->channels_last && w->padded && !runs && even && misses_x(w);
}

/* Binds how x is read: by pointers to pixels; or, channels first, at offsets from the kernel's
 * first element, from a copy if the kernel reaches into the padding or is large. */
static void bind_reading(struct bind *bind, const struct window *w, const struct panels *panels,
                         const struct tile *tile)
{
    const bool planar = !w->channels_last, offsets = has_offsets(w, panels);
    const bool runs = has_runs(w) && !operand_input(bind->region, 0).apart;
    const char *taps = planar ? "1" : !runs ? "TAPS" : w->rank == 3 ? "K_D * K_H" : "K_H";
    const bool skips = skips_taps(w, panels, runs);

    bind_text(bind, "tile_fn", "%s", tile->fn);
    bind_flag(bind, "pointed", !planar);
    bind_flag(bind, "offsets", offsets);
    bind_flag(bind, "copied", planar && !offsets);
    bind_flag(bind, "pointwise", conv_is_pointwise(w) && !planar);
    bind_flag(bind, "runs", runs);
    bind_flag(bind, "zeros",
              !planar && (runs ? window_reaches_out(w, 0) || window_reaches_out(w, 1) : w->padded));
    bind_text(bind, "run", runs ? "K_W * IN_C" : "IN_C");
    bind_flag(bind, "skips", skips);
    keys_offer(bind->keys, "taps_read",
               skips ? arena_printf(bind->arena, "&tap[begin * %s]", tile->pixels) : "tap");
    keys_offer(
        bind->keys, "skipped",
        skips ? arena_printf(bind->arena, " + begin * IN_C * %d", (int)panels_last_width(panels))
              : "");
    bind_text(bind, "n_tile_taps", "%s", skips ? "end - begin" : taps);
    if (planar || window_k_len(w) == 1)
        bind_text(bind, "n_pointers", "%s", tile->pixels);
    else
        bind_text(bind, "n_pointers", runs ? "%s * (int)%s" : "%s * %s", taps, tile->pixels);
    bind_text(bind, "tile_len", planar ? "TAPS * IN_C" : runs ? "K_W * IN_C" : "IN_C");
    bind_flag(bind, "edges", false);
    if (runs)
        bind_runs(bind, w, tile->most_pixels);
    if (planar && !offsets)
        bind_scratch_numbers(bind, panels->len * tile->most_pixels);
}

static bool bind_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t columns = w.out_c / w.groups;
    const struct panels panels =
        conv_panels_of_anchor(bind, &w, tile_panel_of(bind->machine, columns));
    const struct tiled tiled = tiled_conv(&w, false);
    const int64_t nc = bind_nc_block(
        bind, &w, &panels,
        conv_usual_nc(bind->machine, &w, &panels, !w.channels_last && !has_offsets(&w, &panels)));
    const bool packs = bind->region->anchor->inputs[1]->kind != VALUE_CONSTANT;
    const struct tile_stores stores = { &w, conv_tile_place(bind, &w),
                                        gathers_long(bind->machine, &w, &panels) };
    const struct tile tile = bind_tile_of_rows(bind, window_out_len(&w), panels.n_rows,
                                               bind_form(bind, &w, &panels, nc), &stores);

    assert(tile.most_pixels <= tile_most_pixels(bind->region, columns)); /* its overlap */
    keys_offer(
        bind->keys, "fetch",
        arena_printf(bind->arena, "%d", (int)conv_fetch(&panels, nc, &tile, window_out_len(&w))));
    bind_reading(bind, &w, &panels, &tile);
    bind_flag(bind, "packs", packs);
    if (packs)
        bind_conv_packing(bind, &w, &panels);
    else
        bind_conv_weights(bind, &panels);
    tile_tell_features(bind, &tiled);
    return bind_conv_tiles(bind, &w, &panels, &tile);
}

/* Tiles of pixels, all channels of one before the next. With overlap bind drops NC blocks, so not
 * where that is much slower. */
static bool overlaps_conv(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);
    struct dense dense;

    overlap->bytes = overlap_of_windows(region, &w, tile_most_pixels(region, w.out_c));
    /* Matrix products take this kernel for its NC blocks, which read all of x again. */
    return window_is_last(&w) && w.groups == 1 && !window_is_dense(region, &dense) &&
           !conv_weights_are_far(region, &w);
}

const struct kernel kernel_conv = {
    .name = "conv",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv, bind_conv },
               { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_packed, bind_conv,
                 .late = true },
               { OPS(OP_DENSE), accepts_dense_conv, bind_conv },
               { OPS(OP_MATMUL), accepts_matmul_dense_conv, bind_conv } },
};
