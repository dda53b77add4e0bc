/* conv_tiles.c - convolutions by register tiles of output pixels by channels. Weights are constant;
 * conv also packs others at run time (conv_packs.c).
 *
 * All shapes: 1-D (as 2-D of height 1) to 3-D, strides, dilation, padding, groups, x and y channels
 * last or first.
 *
 * conv: f32; also rows times a constant matrix if the L3 is slow. Channels last, inputs are
 * addressed by indirection pointers, to pixels or to runs of them; padding points to zeros. Nothing
 * is padded, and only runs that reach beyond a side are copied, if channels are few. Channels
 * first, inputs are read at offsets or gathered tile by tile.
 *
 * conv_small: quantised weights or x, dequantised a KC block at a time; also rows times a constant
 * matrix. */
#include <assert.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/lead.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/conv/conv_packs.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_tiles.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_features.h"

enum {
    CHUNK = 32,         /* KC block: weights of a channel, dequantised on the stack */
    MOST_OFFSETS = 256, /* offsets in x, channels first; on the stack */
    SHORTEST_SPAN = 4,
    MOST_RUN = 192 /* inputs of a kernel row read as one run: more gain nothing */
};

bool accepts_dense_small(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_small(region, why);
}

bool accepts_matmul_dense_small(const struct region *region, const char **why)
{
    if (!accepts_matmul_dense_rows(region, why) || !accepts_conv_small(region, why))
        return false;
    *why = "blocks of weights that share scales lie across the sums";
    return region->anchor->attrs.matmul.transpose_b || !type_has_blocks(anchor_input(region, 1));
}

bool accepts_conv(const struct region *region, const char **why)
{
    if (!accepts_conv_small(region, why))
        return false;
    *why = "weights or data have to be decoded";
    return !weight_is_small(region) && !data_is_small(region);
}

bool conv_is_pointwise(const struct window *w)
{
    return window_k_len(w) == 1 && !w->padded && window_in_len(w) == window_out_len(w);
}

struct panels conv_panels(const struct window *w, int64_t width)
{
    const int64_t in_c = w->in_c / w->groups, taps = window_k_len(w);
    struct panels panels = { .groups = w->groups,
                             .n_rows = w->out_c / w->groups,
                             .len = taps * in_c,
                             .group_step = w->out_c / w->groups * in_c * taps,
                             .row_step = in_c * taps,
                             .len_step = taps,
                             .inner = in_c,
                             .outer_step = 1,
                             .width = width,
                             .ragged = true };

    panels.slack = panels.width - panels_last_width(&panels);
    return panels;
}

struct panels conv_panels_of_anchor(const struct bind *bind, const struct window *w, int64_t width)
{
    struct panels panels = conv_panels(w, width);
    struct dense dense;

    if (window_is_dense(bind->region, &dense) && dense.transposed) {
        panels.row_step = 1;
        panels.len_step = dense.out_c;
    }
    return panels;
}

void bind_conv_width(struct bind *bind, const struct panels *panels, const char *from)
{
    const int64_t rows = panels_rows(panels), last = panels_last_width(panels);

    if (last == panels->width || rows == last)
        bind_int(bind, "width", last);
    else
        bind_text(bind, "width", "%s < %d ? %d : %d", from, (int)(rows - last), (int)panels->width,
                  (int)last);
}

const char *bind_conv_weight_shape(struct bind *bind, const struct panels *panels)
{
    const bool grouped = panels->groups > 1;
    const int width = (int)panels->width, rows = (int)panels_rows(panels);

    if (rows < width && !grouped)
        bind_text(bind, "weight_shape", "[kernel, IN_C, %d]", rows);
    else
        bind_text(bind, "weight_shape", "[%sOUT_C / %d, kernel, IN_C, %d]",
                  grouped ? "GROUPS, " : "", width, width);
    return arena_printf(bind->arena, "[%sout_c / %d, kernel, in_c, %d of out_c]",
                        grouped ? "groups, " : "", width, width);
}

void bind_conv_weights(struct bind *bind, const struct panels *panels)
{
    bind_weight_tiles(bind, panels, bind_conv_weight_shape(bind, panels));
}

const char *conv_group_start(struct bind *bind, const struct window *w, const struct panels *p,
                             const char *row_len)
{
    if (w->groups == 1)
        return "";
    return arena_printf(bind->arena, "%s * %d * %s + ", w->batch > 1 ? "g % GROUPS" : "g",
                        (int)panels_rows(p), row_len);
}

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
static enum tile_form bind_form(struct bind *bind, const struct window *w,
                                const struct panels *panels, int64_t chunk)
{
    const int64_t number = (int64_t)sizeof(float);
    const int64_t cache = conv_near_bytes(bind->machine);
    const bool single = w->groups == 1 && w->batch == 1 && bind->machine->lanes != 1;
    const bool weights = single && conv_fetches_weights(bind->machine, panels, chunk);
    const bool inputs = single && chunk == panels->n_rows && panels->n_rows <= panels->width &&
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
    return has_offsets(w, panels) ? TILE_OFFSETS
           : paced                ? TILE_PACED
           : fetches              ? TILE_AHEAD
                                  : TILE_TAPS;
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
        bind_text(bind, "n_pointers", "%s * %s", taps, tile->pixels);
    bind_text(bind, "tile_len", planar ? "TAPS * IN_C" : runs ? "K_W * IN_C" : "IN_C");
    bind_flag(bind, "edges", false);
    if (runs)
        bind_runs(bind, w, tile->most_pixels);
    if (planar && !offsets)
        bind_scratch_numbers(bind, panels->len * tile->most_pixels);
}

/* Tiles with only some real channels write these in loops of a known length, which are
 * vectorised. */
static void bind_span(struct bind *bind, int64_t channels, const struct tile *tile)
{
    int span = 1;

    while (4 * span <= tile->most_channels && tile->most_channels % (2 * span) == 0)
        span *= 2;
    while (channels % span != 0)
        span /= 2;
    bind_flag(bind, "spans", channels > 0 && span >= SHORTEST_SPAN);
    bind_text(bind, "span", "%s < %d ? %s : %d", tile->channels, span, tile->channels, span);
}

void bind_conv_channels(struct bind *bind, const struct panels *panels, const struct tile *tile)
{
    const bool ragged = panels->n_rows % tile->most_channels != 0;

    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile->channels);
    bind_span(bind, ragged ? panels->n_rows : 0, tile);
}

void bind_conv_weight_at(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const char *group = conv_group_start(bind, w, panels, "TAPS * IN_C");
    const int width = (int)panels->width;

    if (panels->n_rows > panels->width)
        bind_text(bind, "weight_at", "&weight[%sblock / %d * %d * TAPS * IN_C + block %% %d]",
                  group, width, width, width);
    else
        bind_text(bind, "weight_at", "&weight[%sblock]", group);
}

/* Whether sums, without an epilogue, are stored channels first by a helper with 16-lane vectors.
 * <<<* its lead the overlap distance counts on it */
static bool stores_planes(const struct bind *bind, const struct window *w)
{
    const struct machine *machine = bind->machine;
    const struct function *fn = bind->region->fn;

    return !w->out_channels_last && machine->arch == ARCH_X86_64 && machine->lanes >= 16 &&
           fn->first == bind->region->anchor && !fn->first->next &&
           fn->ret->inputs[0]->type.dtype == DTYPE_F32;
}

static void bind_store_planes(struct bind *bind, const struct window *w)
{
    static const char name[] = "store_planes";
    struct keys keys;

    keys_init(&keys, bind->arena);
    if (!bind_own_helper(bind, name))
        bind_new_helper(bind, name, "templates/helpers/store_planes.c.tmpl", &keys);
    bind_conv_planes_at(bind, w);
}

bool bind_conv_tiles(struct bind *bind, const struct window *w, const struct panels *panels,
                     const struct tile *tile)
{
    const bool planes = !tile->stores && stores_planes(bind, w);

    bind_planes_apart(bind, w);
    bind_conv_places(bind, w);
    bind_conv_width(bind, panels, "block");
    bind_conv_weight_at(bind, w, panels);
    bind_conv_channels(bind, panels, tile);
    bind_flag(bind, "by_element", !tile->stores && !planes);
    bind_flag(bind, "to_planes", planes);
    if (planes)
        bind_store_planes(bind, w);
    if (tile->stores || planes)
        return true;
    if (w->out_channels_last)
        bind_helper(bind, "keep_loop");
    return bind_conv_position(bind, w,
                              arena_printf(bind->arena, "sum[j * %s + i]", tile->channels));
}

static bool bind_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t columns = w.out_c / w.groups;
    const struct panels panels =
        conv_panels_of_anchor(bind, &w, tile_panel_of(bind->machine, columns));
    const struct tiled tiled = tiled_conv(&w, false);
    const int64_t chunk =
        bind_conv_chunk(bind, &w, &panels,
                        conv_usual_chunk(bind->machine, &w, &panels,
                                         !w.channels_last && !has_offsets(&w, &panels)));
    const bool packs = bind->region->anchor->inputs[1]->kind != VALUE_CONSTANT;
    const struct tile_stores stores = { &w, conv_tile_place(bind, &w),
                                        gathers_long(bind->machine, &w, &panels) };
    const struct tile tile = bind_tile_of_rows(bind, window_out_len(&w), panels.n_rows,
                                               bind_form(bind, &w, &panels, chunk), &stores);

    assert(tile.most_pixels <= tile_most_pixels(bind->region, columns)); /* its lead */
    keys_offer(bind->keys, "fetch",
               arena_printf(bind->arena, "%d",
                            (int)conv_fetch(&panels, chunk, &tile, window_out_len(&w))));
    bind_reading(bind, &w, &panels, &tile);
    bind_flag(bind, "packs", packs);
    if (packs)
        bind_conv_packing(bind, &w, &panels);
    else
        bind_conv_weights(bind, &panels);
    tile_tell_features(bind, &tiled);
    return bind_conv_tiles(bind, &w, &panels, &tile);
}

static bool bind_conv_small(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels_of_anchor(bind, &w, tile_panel(bind->machine));
    const struct tile tile = bind_tile_f32(bind, 0, panels.n_rows, TILE_MORE);
    const int64_t in_c = w.in_c / w.groups;
    const bool wide = in_c >= CHUNK;
    int pixels, channels;

    tile_extents(bind->machine, 0, panels.n_rows, &pixels, &channels);
    assert(tile.most_pixels <= (bind->region->choice ? MOST_TILE_PIXELS : pixels)); /* its lead */
    bind_data(bind);
    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_conv_width(bind, &panels, "block");
    bind_text(bind, "tile_more", "%s", tile.fn);
    bind_int(bind, "panel", panels.width);
    bind_flag(bind, "together", bind->region->place.leads && panels.n_rows > panels.width);
    bind_flag(bind, "wide", wide);
    bind_int(bind, "chunk", CHUNK);
    bind_int(bind, "chunk_taps", wide ? 1 : CHUNK / in_c);
    bind_text(bind, "under", wide ? "CHUNK" : "CHUNK_TAPS * IN_C");
    bind_int(bind, "group", tile_group(bind->region));
    bind_flag(bind, "zeros_behind",
              machine_has_deep_stack(bind->machine) &&
                  panels_last_width(&panels) % tile.most_channels != 0);
    bind_text(bind, "panel_at", "%sblock * LEN", conv_group_start(bind, &w, &panels, "LEN"));
    bind_text(bind, "scale_row",
              w.groups == 1  ? "block"
              : w.batch == 1 ? "g * OUT_C + block"
                             : "g %% GROUPS * OUT_C + block");
    return bind_conv_position(bind, &w,
                              arena_printf(bind->arena, "sum[i / %s][j * %s + i %% %s]",
                                           tile.channels, tile.channels, tile.channels));
}

const struct kernel kernel_conv = {
    .name = "conv",
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .leads = leads_conv,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv, bind_conv },
               { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_packed, bind_conv,
                 .late = true },
               { OPS(OP_DENSE), accepts_dense_conv, bind_conv },
               { OPS(OP_MATMUL), accepts_matmul_dense_conv, bind_conv } },
};

const struct kernel kernel_conv_small = {
    .name = "conv_small",
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .leads = leads_conv_small,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_small, bind_conv_small },
               { OPS(OP_DENSE), accepts_dense_small, bind_conv_small },
               { OPS(OP_MATMUL), accepts_matmul_dense_small, bind_conv_small } },
};
