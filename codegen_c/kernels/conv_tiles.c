/* conv_tiles.c - convolutions with constant weights: register tiles of output pixels and channels.
 *
 * All shapes: 1-D (as 2-D of height 1) to 3-D, strides, dilation, padding, groups, x and y channels
 * last or first. conv         f32. Channels lie side by side, so the pixels under the kernel are
 * told by pointers, those outside point to zeros, and nothing is copied or padded; x that is
 * channels first is gathered tile by tile conv_small   weights or x that are decoded, chunk by
 * chunk */
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/conv_places.h"
#include "codegen_c/kernels/operands.h"
#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/tile.h"

enum {
    CACHED = 256 << 10, /* bytes of weights, where the machine has no second cache to tell */
    CHUNK = 32,         /* weights of a channel that are decoded at a time, on the stack … */
    GROUP = 4,         /* … for so many tiles: decoding costs about an eighth of their products */
    MOST_CHUNKS = 12,  /* values of the knob */
    MOST_OFFSETS = 256 /* of x that is channels first; they are on the stack */
};

bool accepts_conv_small(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!takes_operands(region, why) || !takes_window(&w, why) || !takes_constant(region, 1, why))
        return false;
    *why = "it is not computed in f32";
    if (anchor_output(region, 0)->dtype != DTYPE_F32)
        return false;
    *why = "nothing is added up";
    return w.in_c * window_k_len(&w) > 0;
}

bool accepts_conv(const struct region *region, const char **why)
{
    if (!accepts_conv_small(region, why))
        return false;
    *why = "weights or data have to be decoded";
    return !weight_is_small(region) && !data_is_small(region);
}

/* A kernel of extent 1 that visits every input position once. */
static bool is_pointwise(const struct window *w)
{
    return window_k_len(w) == 1 && !w->padded && window_in_len(w) == window_out_len(w);
}

static struct panels panels_of(struct bind *bind, const struct window *w)
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
                             .width = tile_panel(bind->machine),
                             .ragged = true };

    panels.slack = panels.width - panels_last_width(&panels);
    return panels;
}

/* Sets `width`: the channels of the panel in which channel `from` lies. */
static void bind_width(struct bind *bind, const struct panels *panels, const char *from)
{
    const int64_t rows = panels_rows(panels), last = panels_last_width(panels);

    if (last == panels->width || rows == last)
        bind_int(bind, "width", last);
    else
        bind_text(bind, "width", "%s < %d ? %d : %d", from, (int)(rows - last), (int)panels->width,
                  (int)last);
}

static void bind_weights(struct bind *bind, const struct panels *panels)
{
    const bool grouped = panels->groups > 1;
    const int width = (int)panels->width, rows = (int)panels_rows(panels);

    bind_weight_tiles(bind, panels,
                      arena_printf(bind->arena, "[%sout_c / %d, kernel, in_c, %d of out_c]",
                                   grouped ? "groups, " : "", width, width));
    if (rows < width && !grouped)
        bind_text(bind, "weight_shape", "[kernel, IN_C, %d]", rows);
    else
        bind_text(bind, "weight_shape", "[%sOUT_C / %d, kernel, IN_C, %d]",
                  grouped ? "GROUPS, " : "", width, width);
}

/* The group's weights as an addend of their index: "g % GROUPS * 40 * TAPS * IN_C + ". */
static const char *group_start(struct bind *bind, const struct window *w, const struct panels *p,
                               const char *row_len)
{
    if (w->groups == 1)
        return "";
    return arena_printf(bind->arena, "%s * %d * %s + ", w->batch > 1 ? "g % GROUPS" : "g",
                        (int)panels_rows(p), row_len);
}

/* Usually as many output channels as have their weights in half of the second cache, in whole
 * panels; out_c where there is no loop over chunks. */
static int64_t usual_chunk(const struct machine *machine, int64_t out_c,
                           const struct panels *panels)
{
    const int64_t cache = machine->l2_bytes ? (int64_t)machine->l2_bytes / 2 : CACHED;
    const int64_t fit = cache / (panels->len * (int64_t)sizeof(float)) / panels->width;
    const int64_t chunk = (fit > 0 ? fit : 1) * panels->width;

    return chunk < out_c && (machine->lanes != 1 || machine->l2_bytes > 0) ? chunk : out_c;
}

static void bind_chunk(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const int64_t out_c = w->out_c / w->groups;
    int64_t values[MOST_CHUNKS], chunk;
    bool chunked;
    int n = 0;

    values[n++] = out_c;
    for (chunk = panels->width; chunk < out_c && n < MOST_CHUNKS; chunk *= 2)
        values[n++] = chunk;
    chunk = bind_knob(bind, KNOB_CHUNK, usual_chunk(bind->machine, out_c, panels), n, values);
    chunked = chunk < out_c;

    bind_flag(bind, "chunked", chunked);
    bind_int(bind, "chunk_c", chunk);
    bind_text(bind, "first_block", chunked ? "chunk" : "0");
    if (!chunked)
        bind_text(bind, "last_block", "OUT_C");
    else
        bind_text(bind, "last_block",
                  out_c % chunk ? "chunk + CHUNK && block < OUT_C" : "chunk + CHUNK");
}

static bool has_offsets(const struct window *w, const struct panels *panels)
{
    return !w->channels_last && panels->len <= MOST_OFFSETS;
}

/* Of the tiles that do not reach into the padding. */
static enum tile_form form_of(const struct window *w, const struct panels *panels)
{
    return has_offsets(w, panels) ? TILE_OFFSETS : TILE_TAPS;
}

/* How x is read: by pointers to pixels, or, channels first, at offsets from the kernel's first
 * element and, where the kernel reaches into the padding or is large, from a copy. */
static void bind_reading(struct bind *bind, const struct window *w, const struct panels *panels)
{
    const bool planar = !w->channels_last, offsets = has_offsets(w, panels);
    const struct tile tile = bind_tile_f32(bind, panels->n_rows, form_of(w, panels));
    const bool patched = planar && (w->padded || !offsets);

    if (offsets)
        bind_text(bind, "tile_offsets", "%s", tile.fn);
    if (!offsets || w->padded)
        bind_text(bind, "tile_taps", "%s", bind_tile_f32(bind, panels->n_rows, TILE_TAPS).fn);
    bind_flag(bind, "pointed", !planar);
    bind_flag(bind, "offsets", offsets);
    bind_flag(bind, "copied", planar && !offsets);
    bind_flag(bind, "patched", patched);
    bind_flag(bind, "inside_asked", offsets && w->padded);
    bind_flag(bind, "pointwise", is_pointwise(w) && !planar);
    bind_flag(bind, "zeros", w->padded && !planar);
    bind_text(bind, "n_pointers", planar || window_k_len(w) == 1 ? "%s" : "TAPS * %s", tile.pixels);
    bind_text(bind, "n_tile_taps", planar ? "1" : "TAPS");
    bind_text(bind, "tile_len", planar ? "TAPS * IN_C" : "IN_C");
    if (patched)
        bind_scratch_numbers(bind, panels->len * tile.most_pixels);
}

bool bind_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = panels_of(bind, &w);
    const struct tile tile = bind_tile_f32(bind, panels.n_rows, form_of(&w, &panels));
    const bool ragged = panels.n_rows % panels.width != 0;
    const char *group = group_start(bind, &w, &panels, "TAPS * IN_C");
    const int width = (int)panels.width;

    bind_conv_places(bind, &w);
    bind_reading(bind, &w, &panels);
    bind_weights(bind, &panels);
    bind_width(bind, &panels, "block");
    bind_chunk(bind, &w, &panels);
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile.channels);
    if (panels.n_rows > panels.width)
        bind_text(bind, "weight_at", "&weight[%sblock / %d * %d * TAPS * IN_C + block %% %d]",
                  group, width, width, width);
    else
        bind_text(bind, "weight_at", "&weight[%sblock]", group);
    return bind_conv_position(bind, &w,
                              arena_printf(bind->arena, "sum[j * %s + i]", tile.channels));
}

bool bind_conv_small(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = panels_of(bind, &w);
    const struct tile tile = bind_tile_f32(bind, panels.n_rows, TILE_MORE);
    const int64_t in_c = w.in_c / w.groups;
    const bool wide = in_c >= CHUNK;

    bind_data(bind);
    bind_conv_places(bind, &w);
    bind_weights(bind, &panels);
    bind_width(bind, &panels, "block");
    bind_text(bind, "tile_more", "%s", tile.fn);
    bind_int(bind, "panel", panels.width);
    bind_flag(bind, "wide", wide);
    bind_int(bind, "chunk", CHUNK);
    bind_int(bind, "chunk_taps", wide ? 1 : CHUNK / in_c);
    bind_text(bind, "under", wide ? "CHUNK" : "CHUNK_TAPS * IN_C");
    bind_int(bind, "group", GROUP);
    bind_text(bind, "panel_at", "%sblock * LEN", group_start(bind, &w, &panels, "LEN"));
    bind_text(bind, "scale_row",
              w.groups == 1  ? "block"
              : w.batch == 1 ? "g * OUT_C + block"
                             : "g %% GROUPS * OUT_C + block");
    return bind_conv_position(bind, &w,
                              arena_printf(bind->arena, "sum[i / %s][j * %s + i %% %s]",
                                           tile.channels, tile.channels, tile.channels));
}
