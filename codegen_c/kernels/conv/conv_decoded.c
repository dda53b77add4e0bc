/* conv_decoded.c - dequantising convolutions with constant weights, and rows times a constant
 * matrix, on CPUs with vectors and a deep stack: weights, and perhaps data, are quantised.
 *
 * x channels last, or few channels first; y channels last; all strides, dilations and paddings;
 * no groups. (conv_small takes the rest, and everything on microcontrollers.)
 *
 * rows      the rows of x under a band of rows of y are dequantised once, with their padding, so
 *           that a kernel row is one run for every output pixel
 * points    1x1: the inputs of many pixels are dequantised once
 * gathered  if these would take too much stack: inputs are dequantised tap by tap, a KC block at
 *           a time, for as many output channels as have their sums on the stack
 *
 * Weights are always dequantised a KC block at a time, for as many pixels as are computed
 * together. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    MOST_UNDER = 48 << 10, /* bytes of dequantised inputs, */
    MOST_SUMS = 64 << 10,  /* and of sums, on the stack */
    MOST_N = 256,          /* output pixels at a time, or a row of them */
    ENOUGH_N = 64,         /* enough pixels to make dequantising weights a tenth of the work */
    KC = 64,               /* KC block: weights of a channel dequantised at a time */
    NUMBER = 4             /* bytes */
};

enum form { FORM_ROWS, FORM_POINTS, FORM_GATHERED };

/* Columns of a padded row, and rows for n rows of y, that windows cover. */
static int64_t band_width(const struct window *w)
{
    return (w->out[2] - 1) * w->stride[2] + w->k[2];
}

static int64_t band_height(const struct window *w, int64_t n)
{
    return (n - 1) * w->stride[1] + (w->k[1] - 1) * w->dil[1] + 1;
}

static int64_t band_bytes(const struct window *w, int64_t n)
{
    return band_height(w, n) * band_width(w) * w->in_c * NUMBER;
}

static bool takes_rows(const struct window *w)
{
    return w->rank < 3 && w->dil[2] == 1 && w->stride[2] <= w->k[2] && band_width(w) > w->pad[2] &&
           band_bytes(w, 1) <= MOST_UNDER && w->out[2] <= MOST_N;
}

static int64_t points_that_fit(const struct window *w)
{
    const int64_t fit = MOST_UNDER / NUMBER / w->in_c;

    return fit < MOST_N ? fit : MOST_N;
}

static enum form form_of(const struct window *w)
{
    const int64_t n = window_out_len(w), fit = points_that_fit(w);

    if (!conv_is_pointwise(w))
        return takes_rows(w) ? FORM_ROWS : FORM_GATHERED;
    return w->channels_last && (fit >= ENOUGH_N || fit >= n + MOST_TILE_PIXELS) ? FORM_POINTS
                                                                                : FORM_GATHERED;
}

/* Output channels whose sums are kept, in whole panels. */
static int64_t part_of(const struct bind *bind, const struct window *w)
{
    const int64_t width = tile_panel(bind->machine), fit = MOST_SUMS / NUMBER / ENOUGH_N;

    return w->out_c < fit ? (w->out_c + width - 1) / width * width : fit / width * width;
}

/* Pixels of y that are computed while their inputs may be read again; 0 if x is dequantised
 * completely before a result is written. */
static int64_t decoded_group(const struct window *w)
{
    return form_of(w) == FORM_GATHERED && w->out_c > MOST_SUMS / NUMBER / ENOUGH_N ? ENOUGH_N : 0;
}

/* Pixels after which results are written: 1, or a row of them; or a multiple. */
static int64_t decoded_step(const struct window *w)
{
    return form_of(w) == FORM_ROWS ? w->out[2] : 1;
}

/* --- accepts ---------------------------------------------------------------------------------- */

static bool takes_decoded(const struct region *region, const char **why)
{
    const struct type *x = &anchor_source(region, 0)->type;
    struct window w;

    *why = "it is for vectors, and stacks, of PCs";
    if (!machine_has_deep_stack(region->machine))
        return false;
    *why = "no weights have to be decoded";
    if (!weight_is_small(region))
        return false;
    *why = "the data are neither f32 nor codes of a byte";
    if (anchor_decoder(region->anchor, 0) ||
        (x->dtype != DTYPE_F32 && (!decode_takes(x) || type_packed_bits(x) != 8)))
        return false;
    w = window_of_conv(region);
    *why = "there are groups";
    if (w.groups > 1)
        return false;
    *why = "x is in planes, and too large or of too many, or the result is";
    return w.out_channels_last && (w.channels_last || form_of(&w) == FORM_ROWS);
}

static bool accepts_conv_decoded(const struct region *region, const char **why)
{
    return accepts_conv_small(region, why) && takes_decoded(region, why);
}

static bool accepts_dense_decoded(const struct region *region, const char **why)
{
    return accepts_dense_small(region, why) && takes_decoded(region, why);
}

static bool accepts_matmul_dense_decoded(const struct region *region, const char **why)
{
    return accepts_matmul_dense_small(region, why) && takes_decoded(region, why);
}

/* --- keys ------------------------------------------------------------------------------------- */

static int64_t rounded_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Output pixels at a time: whole tiles. */
static int64_t positions(const struct window *w, int64_t most, const struct tile *tile)
{
    const int64_t all = rounded_up(window_out_len(w), tile->most_pixels);
    const int64_t n = most / tile->most_pixels * tile->most_pixels;

    return n == 0 ? tile->most_pixels : all < n ? all : n;
}

static void bind_band(struct bind *bind, const struct window *w, const struct tile *tile)
{
    const int64_t width = band_width(w), pad = w->pad[2];
    const int64_t inside = width - pad < w->in[2] ? width - pad : w->in[2];
    int64_t rows = 1;

    while (rows < w->out[1] && (rows + 1) * w->out[2] <= MOST_N &&
           band_bytes(w, rows + 1) <= MOST_UNDER)
        rows++;
    bind_int(bind, "band", rows);
    bind_text(bind, "n", "BAND * OUT_W");
    bind_int(bind, "band_h", band_height(w, rows));
    bind_int(bind, "band_w", width);
    bind_int(bind, "inside", inside);
    bind_int(bind, "slots", rounded_up(w->out[2], tile->most_pixels));
    bind_int(bind, "surplus", (tile->most_pixels - 1) * w->stride[2] * w->in_c);
    bind_text(bind, "stride_of_row", w->stride[1] > 1 ? " * STRIDE_H" : "");
    bind_text(bind, "stride_of_column", w->stride[2] > 1 ? " * STRIDE_W" : "");
    bind_text(bind, "step_of_column", w->stride[2] > 1 ? "STRIDE_W * " : "");
    bind_text(bind, "dil_of_row", w->dil[1] > 1 ? " * DIL_H" : "");
    bind_text(bind, "pad_of_row", w->pad[1] > 0 ? " - PAD_H" : "");
    bind_flag(bind, "padded_above", window_reaches_out(w, 1));
    bind_flag(bind, "padded_in_front", pad > 0);
    bind_flag(bind, "padded_behind", pad + inside < width);
    bind_text(bind, "pad_w", pad > 0 ? "PAD_W + " : "");
    bind_text(bind, "inside_from", pad > 0 ? "&to[PAD_W * IN_C]" : "to");
    bind_text(bind, "pixel_from", pad > 0 ? "&to[(PAD_W + iw) * IN_C]" : "&to[iw * IN_C]");
    bind_text(bind, "slot",
              w->out[2] % tile->most_pixels ? "(j / OUT_W * SLOTS + j %% OUT_W)" : "j");
}

static void bind_form(struct bind *bind, const struct window *w, enum form form,
                      const struct tile *tile)
{
    const bool apart = operand_input(bind->region, 0).apart;

    bind_flag(bind, "rows", form == FORM_ROWS);
    bind_flag(bind, "points", form == FORM_POINTS);
    bind_flag(bind, "gathered", form == FORM_GATHERED);
    bind_flag(bind, "lines", w->channels_last && !apart);
    bind_flag(bind, "pixels_apart", w->channels_last && apart);
    bind_flag(bind, "planes", !w->channels_last);
    if (form == FORM_ROWS)
        bind_band(bind, w, tile);
    if (form == FORM_POINTS) {
        bind_int(bind, "n", positions(w, points_that_fit(w), tile));
        bind_text(bind, "slot", "j");
    }
    if (form == FORM_GATHERED) {
        bind_int(bind, "n", positions(w, ENOUGH_N, tile));
        bind_int(bind, "part", part_of(bind, w));
    }
}

static void bind_unpack_x(struct bind *bind)
{
    const struct type *type = &anchor_source(bind->region, 0)->type;

    if (type->dtype != DTYPE_F32) {
        bind_text(bind, "unpack_x", "%s", decode_unpack(bind, type));
        return;
    }
    bind_helper(bind, "unpack_f32");
    bind_text(bind, "unpack_x", "unpack_f32");
}

/* Channels of loops of a known length, which are vectorised: of the rest, and of a tile. */
static void bind_span(struct bind *bind, int64_t channels, const struct tile *tile)
{
    int64_t span = tile->most_channels;

    while (channels % span != 0 || tile->most_channels % span != 0)
        span--;
    bind_flag(bind, "spans", span > 1);
    if (span > 1)
        bind_helper(bind, "keep_loop");
    bind_int(bind, "span", span);
}

static bool bind_conv_decoded(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels_of_anchor(bind, &w, tile_panel(bind->machine));
    const enum form form = form_of(&w);
    const int64_t n = window_out_len(&w);
    const int64_t most = form == FORM_POINTS ? points_that_fit(&w) : ENOUGH_N;
    const struct tile tile =
        bind_tile_f32(bind,
                      form == FORM_ROWS ? w.out[2]
                      : n <= most       ? n
                                        : 0,
                      panels.n_rows, (struct tile_form){ .input = TILE_ROWS, .adds = true });
    const int64_t width = panels.width < panels.n_rows ? panels.width : panels.n_rows;

    keys_offer(bind->keys, "tin", dtype_c_type(anchor_source(bind->region, 0)->type.dtype));
    bind_unpack_x(bind);
    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_conv_width(bind, &panels, "panel");
    bind_text(bind, "tile_more", "%s", tile.fn);
    bind_int(bind, "panel", panels.width);
    bind_int(bind, "kc", KC);
    bind_flag(bind, "zeros_behind", panels_last_width(&panels) % tile.most_channels != 0);
    bind_int(bind, "parts", (width + tile.most_channels - 1) / tile.most_channels);
    bind_span(bind, panels.n_rows, &tile);
    bind_form(bind, &w, form, &tile);
    return bind_conv_rows(bind, &w, "s[i]", tile.channels);
}

/* Groups of pixels, whose inputs are dequantised before they are written; once more for each part
 * of the channels, if not all sums fit. */
static bool overlaps_conv_decoded(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);
    const int64_t group = decoded_group(&w);

    overlap->bytes = group ? overlap_of_windows(region, &w, group)
                           : overlap_of_copies(region, &w, decoded_step(&w));
    return window_is_last(&w);
}

const struct kernel kernel_conv_decoded = {
    .name = "conv_decoded",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_decoded,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_decoded, bind_conv_decoded },
               { OPS(OP_DENSE), accepts_dense_decoded, bind_conv_decoded },
               { OPS(OP_MATMUL), accepts_matmul_dense_decoded, bind_conv_decoded } },
};
