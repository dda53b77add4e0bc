/* conv_transpose.c - transposed convolutions, channels last, with constant weights. 1-D is bound as
 * 2-D of height 1.
 *
 * conv_transpose_tiles: f32 without groups, by register tiles. Polyphase decomposition: output
 * pixels a stride apart read the same taps, so that each such set is a convolution without strides.
 *
 * conv_transpose: all others, pixel by pixel. */
#include <assert.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/tile.h"

enum {
    BLOCK = 64,     /* output channels; their sums are on the stack */
    MOST_TAPS = 128 /* of a pixel: pointers to their inputs are on the stack */
};

static bool accepts_conv_transpose_last(const struct region *region, const char **why)
{
    const struct window w = window_of_conv_transpose(region);

    if (!takes_operands(region, why) || !takes_window(&w, why) || !takes_constant(region, 1, why))
        return false;
    *why = "the channels are not last";
    if (!w.channels_last || !w.out_channels_last)
        return false;
    *why = "blocks of the weights share a scale";
    return !anchor_input(region, 1)->quant || anchor_input(region, 1)->quant->kind != QTYPE_BLOCKS;
}

/* "((n * IN_D + id) * IN_H + ih)", for the dims in use. */
static const char *row_text(struct bind *bind, const struct window *w, const char *extent,
                            const char *prefix)
{
    struct arena *arena = bind->arena;
    const char *outer = w->batch > 1 ? "n" : NULL;

    if (w->rank == 3)
        outer = outer ? arena_printf(arena, "(%s * %s_D + %sd)", outer, extent, prefix)
                      : arena_printf(arena, "%sd", prefix);
    return outer ? arena_printf(arena, "(%s * %s_H + %sh)", outer, extent, prefix)
                 : arena_printf(arena, "%sh", prefix);
}

/* The constant is [in_c, out_c of a group, kernel]. */
static void bind_turned_weight(struct bind *bind, const struct window *w)
{
    const int64_t taps = window_k_len(w), out_c = w->out_c / w->groups;
    const struct panels panels = { .groups = taps,
                                   .n_rows = out_c,
                                   .len = w->in_c,
                                   .group_step = 1,
                                   .row_step = taps,
                                   .len_step = out_c * taps,
                                   .width = out_c };

    bind_weight_taps(bind, &panels, "[kernel, in_c, out_c]");
}

/* Appends the position's coordinates: od, oh and ow, oc. */
static void set_position(const struct window *w, struct position *position)
{
    static const char *const names[] = { "od", "oh", "ow" };

    if (w->batch > 1)
        position->coord[0] = "n";
    for (int i = 0; i < w->rank; i++)
        if (w->out[3 - w->rank + i] > 1)
            position->coord[1 + i] = names[3 - w->rank + i];
    if (w->out_c > 1)
        position->coord[1 + w->rank] = "oc";
}

static bool bind_conv_transpose_last(struct bind *bind)
{
    const struct window w = window_of_conv_transpose(bind->region);
    const bool deep = w.rank == 3, grouped = w.groups > 1;
    struct position position;

    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_turned_weight(bind, &w);
    bind_flag(bind, "deep", deep);
    bind_flag(bind, "batched", w.batch > 1);
    bind_flag(bind, "grouped", grouped);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_int(bind, "in_pixel", w.in_c);
    bind_int(bind, "out_pixel", w.out_c);
    bind_int(bind, "c_block", row_block(w.out_c / w.groups, BLOCK));
    bind_text(bind, "row", "%s", row_text(bind, &w, "IN", "i"));
    bind_text(bind, "out_row", "%s", row_text(bind, &w, "OUT", "o"));
    bind_text(bind, "channel", grouped ? "g * IN_C + ic" : "ic");
    bind_text(bind, "tap", deep ? "((kd * K_H + kh) * K_W + kw)" : "(kh * K_W + kw)");
    bind_text(bind, "oc", grouped ? "g * OUT_C + first + i" : "first + i");
    position_by_division(bind, "at", &position);
    set_position(&w, &position);
    return bind_epilogue(bind, "sum[i]", &position);
}

/* --- by register tiles ------------------------------------------------------------------------ */

/* The kernel's taps as stored: sorted by residue. */
struct taps {
    int n, most; /* of all pixels, and of one */
    int *tap;    /* kh * K_W + kw of each */
};

/* Whether tap k of this dim reaches coordinate o. */
static bool reaches(const struct window *w, int dim, int64_t o, int64_t k)
{
    return (o + w->pad[dim] - k * w->dil[dim]) % w->stride[dim] == 0;
}

/* In the template's order of pixels. */
static struct taps taps_of(struct arena *arena, const struct window *w)
{
    struct taps taps = { .tap = arena_array(arena, int, window_k_len(w)) };

    for (int64_t top = 0; top < w->stride[1] && top < w->out[1]; top++)
        for (int64_t left = 0; left < w->stride[2] && left < w->out[2]; left++) {
            const int before = taps.n;

            for (int64_t kh = 0; kh < w->k[1]; kh++)
                for (int64_t kw = 0; kw < w->k[2]; kw++)
                    if (reaches(w, 1, top, kh) && reaches(w, 2, left, kw))
                        taps.tap[taps.n++] = (int)(kh * w->k[2] + kw);
            if (taps.n - before > taps.most)
                taps.most = taps.n - before;
        }
    return taps;
}

static bool accepts_conv_transpose_tiles(const struct region *region, const char **why)
{
    const struct window w = window_of_conv_transpose(region);

    if (!accepts_conv_transpose_last(region, why))
        return false;
    *why = "it has groups, or three dimensions";
    if (w.groups > 1 || w.rank == 3)
        return false;
    *why = "the product, the data or the weights are not f32";
    if (anchor_output(region, 0)->dtype != DTYPE_F32 || weight_is_small(region) ||
        data_is_small(region))
        return false;
    *why = "nothing is added up, or too many taps reach a position";
    return w.in_c * w.out_c > 0 && window_k_len(&w) > 0 && window_k_len(&w) <= MOST_TAPS;
}

/* Packs the constant, [in_c, out_c, kernel]. */
static void bind_tap_panels(struct bind *bind, const struct window *w, const struct taps *taps)
{
    const int64_t width = tile_panel(bind->machine), kernel = window_k_len(w);
    struct panels panels = {
        .groups = 1, .n_rows = w->out_c, .len = taps->n * w->in_c, .width = width, .ragged = true
    };
    struct value *value = bind->region->anchor->inputs[1];
    struct type type = type_scalar(value->type.dtype);
    const float *from = value->data;
    float *to;

    panels.slack = width - panels_last_width(&panels);
    to = panels_new(bind, &panels, &type);
    for (int64_t oc = 0; oc < w->out_c; oc++)
        for (int t = 0; t < taps->n; t++)
            for (int64_t ic = 0; ic < w->in_c; ic++)
                to[panels_place(&panels, 0, oc, t * w->in_c + ic)] =
                    from[(ic * w->out_c + oc) * kernel + taps->tap[t]];
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, to,
                          arena_printf(bind->arena, "[out_c / %d, kernel, in_c, %d of out_c]",
                                       (int)width, (int)width)));
    bind_int(bind, "panel", width);
    if (panels_rows(&panels) % width == 0 || panels_rows(&panels) < width)
        bind_int(bind, "width", panels_last_width(&panels));
    else
        bind_text(bind, "width", "block < %d ? PANEL : %d",
                  (int)(panels_rows(&panels) / width * width), (int)panels_last_width(&panels));
}

/* Pixels of the first residue, which has the most. */
static int64_t most_positions(const struct window *w)
{
    return ((w->out[1] + w->stride[1] - 1) / w->stride[1]) *
           ((w->out[2] + w->stride[2] - 1) / w->stride[2]);
}

static bool bind_conv_transpose_tiles(struct bind *bind)
{
    const struct window w = window_of_conv_transpose(bind->region);
    const struct taps taps = taps_of(bind->arena, &w);
    const struct tile tile = bind_tile_f32(bind, most_positions(&w), w.out_c, TILE_TAPS);
    const bool ragged = w.out_c % tile.most_channels != 0;
    struct position position;

    assert(tile.most_pixels <= MOST_TILE_PIXELS);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    bind_tap_panels(bind, &w, &taps);
    bind_flag(bind, "batched", w.batch > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_int(bind, "out_c", w.out_c);
    bind_int(bind, "taps", taps.n);
    bind_int(bind, "most_taps", taps.most > 0 ? taps.most : 1);
    bind_int(bind, "most_pixels", tile.most_pixels);
    bind_text(bind, "tile_fn", "%s", tile.fn);
    bind_text(bind, "out_row", w.batch > 1 ? "(n * OUT_H + oh)" : "oh");
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile.channels);
    position_by_division(bind, "at", &position);
    set_position(&w, &position);
    return bind_epilogue(bind, arena_printf(bind->arena, "sum[j * %s + i]", tile.channels),
                         &position);
}

const struct kernel kernel_conv_transpose_tiles = {
    .name = "conv_transpose_tiles",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .forms = { { OPS(OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE), accepts_conv_transpose_tiles,
                 bind_conv_transpose_tiles } },
};

const struct kernel kernel_conv_transpose = {
    .name = "conv_transpose",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE, OP_CONV3D_TRANSPOSE),
                 accepts_conv_transpose_last, bind_conv_transpose_last } },
};
