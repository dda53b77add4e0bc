/* conv_bf16.c - convolutions of 8-bit floats with constant weights, and rows times a constant
 * matrix, by bf16 products (bf16.h).
 *
 * 1-D and 2-D, all strides, dilations and paddings, x channels last or first, y channels last; no
 * groups.
 *
 * Weights are converted once for all pixels, of as many channels as fit on the stack. The inputs
 * under the kernel are gathered for each pixel of a tile, padding as zeros, and converted there, by
 * 9 instructions for 64 of them; contiguous inputs are converted in place. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/bf16.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    MOST_WEIGHTS = 80 << 10, /* bytes of converted weights, on the stack */
    MOST_IMAGE = 96 << 10,   /* of these and of x, if channels first: it is copied there channels
                                last; otherwise gathered for each window */
    WORD = 4,
    PANEL = 2 * BF16_LANES,
    /* Pixels whose sums are in registers: with one vector, enough to hide the latency of an
     * addition; with two, 5 registers are left. */
    WIDE_PIXELS = 12,
    NARROW_PIXELS = 16,
    FEWEST_PIXELS = 6
};

static int64_t words_of(const struct window *w)
{
    return (window_k_len(w) * w->in_c + 1) / 2;
}

static int64_t rounded_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Channels whose weights are converted at a time, in whole panels. */
static int64_t nc_of(const struct window *w)
{
    const int64_t all = rounded_up(w->out_c, BF16_LANES);
    const int64_t fit = MOST_WEIGHTS / (words_of(w) * WORD) / PANEL * PANEL;

    return fit < all ? fit : all;
}

/* Whether the weights of all channels fit on the stack when dequantised. */
static bool bf16_takes_all_channels(const struct window *w)
{
    return nc_of(w) >= w->out_c;
}

/* --- accepts ---------------------------------------------------------------------------------- */

static bool accepts_conv_bf16(const struct region *region, const char **why)
{
    struct window w;

    if (!accepts_conv_small(region, why) || !takes_bf16(region, why))
        return false;
    w = window_of_conv(region);
    *why = "there are groups, or three dimensions, or the result is in planes";
    if (w.groups > 1 || w.rank > 2 || !w.out_channels_last)
        return false;
    *why = "there are too many weights for each channel";
    return nc_of(&w) > 0;
}

static bool accepts_dense_bf16(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_bf16(region, why);
}

static bool accepts_matmul_bf16(const struct region *region, const char **why)
{
    return accepts_matmul_dense_small(region, why) && accepts_conv_bf16(region, why);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The pixels of a tile: the largest number with the least predicted time. A surplus pixel costs as
 * much as others, and the loop over words about as much as one. */
static int pixels_of(const struct window *w)
{
    const int64_t n = window_out_len(w);
    const int most = w->out_c <= BF16_LANES ? NARROW_PIXELS : WIDE_PIXELS;
    int best = most;

    for (int pixels = most; pixels >= FEWEST_PIXELS; pixels--)
        if ((n + pixels - 1) / pixels * (pixels + 1) < (n + best - 1) / best * (best + 1))
            best = pixels;
    return best;
}

/* Packs the weights as [channels / 32, LEN / 2, 32 of channels, 2]; the last panel may have 16. */
static void bind_weights(struct bind *bind, const struct window *w)
{
    struct value *value = bind->region->anchor->inputs[1];
    const int64_t len = window_k_len(w) * w->in_c, words = words_of(w);
    const int64_t rows = rounded_up(w->out_c, BF16_LANES), dims[] = { rows * words * 2 };
    struct panels flat = conv_panels_of_anchor(bind, w, tile_panel(bind->machine));
    struct type type = quantized_type(bind, &value->type, 0, NULL);
    struct type stored = quantized_type(bind, &value->type, 1, dims);
    uint8_t *const to = constant_alloc(bind->region->fn, &stored);
    const uint8_t *from;

    flat.width = w->out_c;
    flat.ragged = false;
    flat.slack = 0;
    from = panels_make(bind, value, &flat, &type);
    for (int64_t row = 0; row < w->out_c; row++) {
        const int64_t block = row / PANEL * PANEL;
        const int64_t width = rows - block < PANEL ? rows - block : PANEL;

        for (int64_t k = 0; k < len; k++)
            to[block * words * 2 + (k / 2 * width + row - block) * 2 + k % 2] =
                from[k * w->out_c + row];
    }
    bind_text(bind, "weight", "%s",
              bind_quantized(bind, value->name, &stored, to,
                             "[out_c / 32, kernel and in_c / 2, 32 of out_c, 2]"));
    bind_helper(bind, "line_aligned");
    bind_text(bind, "unpack_w", "%s", bf16_unpack(bind, &value->type));
}

/* A flag of windows, which not every region has. */
static void offer_flag(struct bind *bind, const char *key, bool on)
{
    keys_offer(bind->keys, key, on ? "1" : "");
}

/* Binds how the inputs under a tile are gathered. */
static void bind_patches(struct bind *bind, const struct window *w)
{
    const bool pointwise = w->channels_last && conv_is_pointwise(w);
    const bool side_by_side =
        pointwise && w->in_c % 2 == 0 && !operand_input(bind->region, 0).apart;
    const bool in_planes = !w->channels_last && w->in_c > 1;
    const bool turned =
        in_planes && w->in_c * window_in_len(w) + nc_of(w) * words_of(w) * WORD <= MOST_IMAGE;
    const bool planes = in_planes && !turned;
    const bool runs =
        !planes && w->dil[2] == 1 && (!w->channels_last || !operand_input(bind->region, 0).apart);

    bind_flag(bind, "side_by_side", side_by_side);
    bind_flag(bind, "pointwise", pointwise && !side_by_side);
    bind_flag(bind, "windows", !pointwise);
    offer_flag(bind, "runs", !pointwise && runs);
    bind_flag(bind, "turned", turned);
    offer_flag(bind, "planes", planes);
    keys_offer(bind->keys, "from", turned ? "image" : "in");
    offer_flag(bind, "by_taps", !pointwise && (!runs || window_reaches_out(w, 2)));
    offer_flag(bind, "rounded_up", window_k_len(w) * w->in_c % 2 != 0);
    keys_offer(bind->keys, "pixel_step",
               w->channels_last ? pixel_stride_of_x(bind->region, "IN_C") : "IN_C");
    keys_offer(bind->keys, "dil_of_column", w->dil[2] > 1 ? " * DIL_W" : "");
    keys_offer(bind->keys, "dil_of_row", w->dil[1] > 1 ? " * DIL_H" : "");
    offer_flag(bind, "padded_rows", window_reaches_out(w, 1));
    offer_flag(bind, "padded_columns", window_reaches_out(w, 2));
    bind_text(bind, "words", window_k_len(w) * w->in_c % 2 ? "(LEN + 1) / 2" : "LEN / 2");
    if (!pointwise)
        bind_include(bind, "string.h");
    bind_text(bind, "unpack_x", "%s", bf16_unpack(bind, &anchor_source(bind->region, 0)->type));
}

/* Requests the tiles of two vectors and of one, as needed. */
static void bind_tiles(struct bind *bind, const struct window *w, const struct epilogue_store *end,
                       bool some)
{
    const int pixels = pixels_of(w);
    const int64_t rest = rounded_up(w->out_c, BF16_LANES) % PANEL;
    const bool wide = w->out_c > BF16_LANES, narrow = rest > 0;

    bind_int(bind, "pixels", pixels);
    bind_flag(bind, "surplus", window_out_len(w) % pixels != 0);
    bind_flag(bind, "narrow", narrow && !wide);
    bind_flag(bind, "both", wide && narrow);
    bind_flag(bind, "only_wide", wide && !narrow);
    keys_offer(bind->keys, "width", wide && narrow ? "width" : "BLOCK");
    bind_int(bind, "tile", wide ? PANEL : BF16_LANES);
    keys_offer(bind->keys, "wide_fn", wide ? bf16_tile(bind, 2, pixels, end, some) : "");
    keys_offer(bind->keys, "narrow_fn", narrow ? bf16_tile(bind, 1, pixels, end, some) : "");
}

static bool bind_conv_bf16(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool some = w.out_c % BF16_LANES != 0;
    const int64_t nc = nc_of(&w), all = rounded_up(w.out_c, BF16_LANES);
    struct tile_place place = conv_tile_place(bind, &w);
    struct epilogue_store end;
    bool stores;

    place.quantized = true;
    place.some = some;
    stores = epilogue_store_of(bind, &w, &place, "vector_f32", "LANES", &end);
    keys_offer(bind->keys, "tin", dtype_c_type(anchor_source(bind->region, 0)->type.dtype));
    bind_conv_places(bind, &w);
    bind_weights(bind, &w);
    bind_patches(bind, &w);
    bind_tiles(bind, &w, stores ? &end : NULL, some);
    bind_int(bind, "stored", all);
    bind_flag(bind, "nc_blocks", nc < all);
    bind_int(bind, "nc", nc);
    bind_text(bind, "nc_or_all", nc < all ? "CHUNK" : "STORED");
    bind_text(bind, "first_block", nc < all ? "chunk" : "0");
    bind_text(bind, "last_block", nc < all ? "last" : "STORED");
    bind_text(bind, "in_block", nc < all ? "(block - chunk)" : "block");
    bind_flag(bind, "stores", stores);
    if (stores) {
        bind_text(bind, "end_args", "%s, n_pixels, OUT_C - block%s", epilogue_store_y(bind, &place),
                  end.args);
        return true;
    }
    return bind_conv_rows(bind, &w, "s[i]", "BLOCK");
}

/* Tiles of pixels, all channels of one before the next; the inputs of a tile are converted before
 * the tile is written. Not with NC blocks. */
static bool overlaps_conv_bf16(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = overlap_of_copies(region, &w, 1);
    return window_is_last(&w) && bf16_takes_all_channels(&w);
}

const struct kernel kernel_conv_bf16 = {
    .name = "conv_bf16",
    .sums = SUMS_PLAIN,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_bf16,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_bf16, bind_conv_bf16 },
               { OPS(OP_DENSE), accepts_dense_bf16, bind_conv_bf16 },
               { OPS(OP_MATMUL), accepts_matmul_bf16, bind_conv_bf16 } },
};
