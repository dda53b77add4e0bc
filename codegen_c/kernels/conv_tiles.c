/* conv_tiles.c - convolutions with constant weights: tiles of output pixels and channels.
 *
 * One kernel for all shapes: 1-D (as 2-D of height 1) to 3-D, strides, dilation, padding, groups, x
 * and y channels last or first. Channels lie side by side, so the pixels under the kernel are told
 * by pointers, those outside point to zeros, and nothing is copied or padded; x that is channels
 * first, or has to be decoded, is gathered tile by tile. */
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/operands.h"
#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/tile.h"
#include "codegen_c/kernels/window.h"

enum { CACHED = 256 << 10 /* bytes of weights, where the machine has no second cache to tell */ };

bool accepts_conv(const struct region *region, const char **why)
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

/* What of x is under a tile: pointed to, or copied. */
static bool is_gathered(const struct bind *bind, const struct window *w)
{
    return !w->channels_last || data_is_small(bind->region);
}

/* A kernel of extent 1 that visits every input position once. */
static bool is_pointwise(const struct window *w)
{
    return window_k_len(w) == 1 && !w->padded && window_in_len(w) == window_out_len(w);
}

/* "IN_D = 4, IN_H = 5, IN_W = 6"; those that are all `usual` are left out. */
static void add_extents(struct str *out, const struct window *w, const char *stem,
                        const int64_t *extents, int64_t usual)
{
    static const char axis[] = "DHW";

    for (int i = w->rank == 3 ? 0 : 1; i < 3; i++)
        if (extents[i] != usual)
            str_printf(out, "%s%s_%c = %lld", out->n ? ", " : "", stem, axis[i],
                       (long long)extents[i]);
}

static void bind_extents(struct bind *bind, const char *key, const struct window *w,
                         const char *stem, const int64_t *extents)
{
    struct str out = { .arena = bind->arena };

    add_extents(&out, w, stem, extents, -1);
    bind_text(bind, key, "%s", str_text(&out));
}

static void bind_geometry(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3;
    struct str steps = { .arena = bind->arena };

    bind_extents(bind, "in_extents", w, "IN", w->in);
    bind_extents(bind, "out_extents", w, "OUT", w->out);
    bind_extents(bind, "kernel_extents", w, "K", w->k);
    add_extents(&steps, w, "STRIDE", w->stride, 1);
    add_extents(&steps, w, "DIL", w->dil, 1);
    add_extents(&steps, w, "PAD", w->pad, 0);
    bind_text(bind, "steps", "%s",
              steps.n ? arena_printf(bind->arena, "%s,", str_text(&steps)) : "");
    bind_text(bind, "taps", deep ? "K_D * K_H * K_W" : "K_H * K_W");
    bind_text(bind, "out_len", deep ? "OUT_D * OUT_H * OUT_W" : "OUT_H * OUT_W");
    bind_flag(bind, "deep", deep);
    bind_flag(bind, "padded", w->padded);
}

/* Where the kernel begins at position p of y, and where tap (kd, kh, kw) of it lies. */
static void bind_places(struct bind *bind, const struct window *w)
{
    static const char *const begin[] = { "front", "top", "left" };
    static const char *const position[] = { "p / (OUT_H * OUT_W)", "p / OUT_W", "p % OUT_W" };
    static const char *const pad[] = { "PAD_D", "PAD_H", "PAD_W" };
    static const char *const stride[] = { "STRIDE_D", "STRIDE_H", "STRIDE_W" };
    static const char *const index[] = { "id", "ih", "iw" }, *const tap[] = { "kd", "kh", "kw" };
    static const char *const dil[] = { "DIL_D", "DIL_H", "DIL_W" };
    static const char *const in[] = { "IN_D", "IN_H", "IN_W" };
    const bool deep = w->rank == 3;
    struct str begins = { .arena = bind->arena }, places = begins, outside = begins;

    for (int i = deep ? 0 : 1; i < 3; i++) {
        const char *at = i == 1 && deep ? "p / OUT_W % OUT_H" : position[i];

        str_printf(&begins, "%s%s = %s", begins.n ? ", " : "const int ", begin[i], at);
        if (w->stride[i] > 1)
            str_printf(&begins, " * %s", stride[i]);
        if (w->pad[i] > 0)
            str_printf(&begins, " - %s", pad[i]);
        str_printf(&places, "%s%s = %s + %s", places.n ? ", " : "const int ", index[i], begin[i],
                   tap[i]);
        if (w->dil[i] > 1)
            str_printf(&places, " * %s", dil[i]);
        str_printf(&outside, "%s%s < 0 || %s >= %s", outside.n ? " || " : "", index[i], index[i],
                   in[i]);
    }
    bind_text(bind, "origins", "%s;", str_text(&begins));
    bind_text(bind, "places", "%s;", str_text(&places));
    bind_text(bind, "is_outside", "%s", str_text(&outside));
    bind_text(bind, "outside", "%s",
              w->padded ? arena_printf(bind->arena, "%s ? zeros : ", str_text(&outside)) : "");
    bind_text(bind, "tap", deep ? "((kd * K_H + kh) * K_W + kw)" : "(kh * K_W + kw)");
}

static void bind_input_places(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3, grouped = w->groups > 1;
    const char *pixel = deep ? "((id * IN_H + ih) * IN_W + iw)" : "(ih * IN_W + iw)";
    const char *len = deep ? "IN_D * IN_H * IN_W" : "IN_H * IN_W";
    const char *pitch = grouped ? "(GROUPS * IN_C)" : "IN_C";
    const char *x = bind_operand(bind, bind->region->anchor->inputs[0]);

    bind_text(bind, "x", "%s", x);
    bind_text(bind, "pixel", "%s", pixel);
    bind_text(bind, "pitch", "%s", pitch);
    if (w->channels_last) {
        bind_text(bind, "element", "%s * %s + ic", pixel, pitch);
        bind_text(bind, "in_shape", deep ? "[IN_D, IN_H, IN_W, IN_C]" : "[IN_H, IN_W, IN_C]");
        bind_text(bind, "image",
                  grouped ? "&%s[g / GROUPS * %s * GROUPS * IN_C + g %% GROUPS * IN_C]"
                          : "&%s[g * %s * IN_C]",
                  x, len);
    } else {
        bind_text(bind, "element",
                  deep ? "((ic * IN_D + id) * IN_H + ih) * IN_W + iw"
                       : "(ic * IN_H + ih) * IN_W + iw");
        bind_text(bind, "in_shape", deep ? "[IN_C, IN_D, IN_H, IN_W]" : "[IN_C, IN_H, IN_W]");
        bind_text(bind, "image", "&%s[g * IN_C * %s]", x, len);
    }
}

static struct panels panels_of(const struct window *w)
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
                             .width = TILE_PANEL,
                             .ragged = true };

    panels.slack = TILE_PANEL - panels_last_width(&panels);
    return panels;
}

/* A tile reads the weights of its channels out of a panel, and at the end beyond it. */
static void bind_weight_places(struct bind *bind, const struct window *w)
{
    const struct panels panels = panels_of(w);
    const long long rows = panels_rows(&panels), width = panels_last_width(&panels);
    const char *group = w->groups > 1 ? w->batch > 1 ? "g % GROUPS" : "g" : "";
    struct str at = { .arena = bind->arena };

    str_add(&at, "&weight[");
    if (w->groups > 1)
        str_printf(&at, "%s * %lld * TAPS * IN_C + ", group, rows);
    if (rows > TILE_PANEL)
        str_printf(&at, "block / %d * %d * TAPS * IN_C + block %% %d]", TILE_PANEL, TILE_PANEL,
                   TILE_PANEL);
    else
        str_add(&at, "block]");
    bind_text(bind, "weight_at", "%s", str_text(&at));
    if (width == TILE_PANEL || rows < TILE_PANEL)
        bind_int(bind, "width", width);
    else
        bind_text(bind, "width", "block < %lld ? %d : %lld", rows - width, TILE_PANEL, width);
    bind_panels(bind, "weight", 1, &panels,
                arena_printf(bind->arena, "[%sout_c / %d, kernel, in_c, %d of out_c]",
                             w->groups > 1 ? "groups, " : "", TILE_PANEL, TILE_PANEL));
    if (rows < TILE_PANEL && w->groups == 1)
        bind_text(bind, "weight_shape", "[TAPS, IN_C, %lld]", rows);
    else
        bind_text(bind, "weight_shape", "[%sOUT_C / %d, TAPS, IN_C, %d]",
                  w->groups > 1 ? "GROUPS, " : "", TILE_PANEL, TILE_PANEL);
}

/* Output channels whose weights fit into half of the second cache, in whole panels. */
static void bind_chunk(struct bind *bind, const struct window *w)
{
    const int64_t out_c = w->out_c / w->groups, patch = w->in_c / w->groups * window_k_len(w);
    const int64_t cache = bind->machine->l2_bytes ? (int64_t)bind->machine->l2_bytes / 2 : CACHED;
    int64_t chunk = cache / (patch * (int64_t)sizeof(float)) / TILE_PANEL * TILE_PANEL;
    const bool uncached = bind->machine->lanes == 1 && bind->machine->l2_bytes == 0;
    bool chunked;

    if (chunk < TILE_PANEL)
        chunk = TILE_PANEL;
    chunked = chunk < out_c && !uncached;
    bind_flag(bind, "chunked", chunked);
    bind_int(bind, "chunk_c", chunk);
    bind_text(bind, "first_block", chunked ? "chunk" : "0");
    if (!chunked)
        bind_text(bind, "last_block", "OUT_C");
    else
        bind_text(bind, "last_block",
                  out_c % chunk ? "chunk + CHUNK && block < OUT_C" : "chunk + CHUNK");
}

/* Which element of y a sum is, and which channel. */
static void bind_output_places(struct bind *bind, const struct window *w)
{
    const bool grouped = w->groups > 1, batched = w->batch > 1;
    const char *channels = grouped ? "(GROUPS * OUT_C)" : "OUT_C";
    const char *image = grouped ? "g / GROUPS" : "g";
    const char *group = batched ? "g % GROUPS" : "g";

    if (grouped)
        bind_text(bind, "oc", "%s * OUT_C + block + i", group);
    else
        bind_text(bind, "oc", "block + i");
    if (w->out_channels_last && batched)
        bind_text(bind, "at", "(%s * OUT_LEN + first + j) * %s + oc", image, channels);
    else if (w->out_channels_last)
        bind_text(bind, "at", "(first + j) * %s + oc", channels);
    else if (batched)
        bind_text(bind, "at", "(%s * %s + oc) * OUT_LEN + first + j", image, channels);
    else
        bind_text(bind, "at", "oc * OUT_LEN + first + j");
}

static bool bind_output(struct bind *bind, const struct window *w, const struct tile *tile)
{
    const bool ragged = w->out_c / w->groups % TILE_PANEL != 0;
    struct position position;

    bind_flag(bind, "out_planar", !w->out_channels_last);
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile->channels);
    bind_output_places(bind, w);
    position_by_division(bind, "at", &position);
    if (w->out_c > 1)
        position.coord[w->out_channels_last ? position.rank - 1 : 1] = "oc";
    return bind_epilogue(bind, arena_printf(bind->arena, "sum[j * %s + i]", tile->channels),
                         &position);
}

bool bind_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool gathered = is_gathered(bind, &w);
    const int64_t patch = w.in_c / w.groups * window_k_len(&w);
    const struct tile tile = bind_tile_f32(bind, w.out_c / w.groups, TILE_TAPS);

    bind_text(bind, "tile_f32", "%s", tile.fn);
    bind_data(bind);
    bind_flag(bind, "gathered", gathered);
    bind_flag(bind, "pointwise", is_pointwise(&w) && !gathered);
    bind_flag(bind, "zeros", w.padded && !gathered);
    bind_flag(bind, "many", w.batch * w.groups > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_geometry(bind, &w);
    bind_places(bind, &w);
    bind_input_places(bind, &w);
    bind_weight_places(bind, &w);
    bind_chunk(bind, &w);
    bind_text(bind, "n_pointers", gathered || window_k_len(&w) == 1 ? "%s" : "TAPS * %s",
              tile.pixels);
    bind_text(bind, "n_tile_taps", gathered ? "1" : "TAPS");
    bind_text(bind, "tile_len", gathered ? "TAPS * IN_C" : "IN_C");
    if (gathered)
        bind_scratch_numbers(bind, patch * tile.most_pixels);
    return bind_output(bind, &w, &tile);
}
