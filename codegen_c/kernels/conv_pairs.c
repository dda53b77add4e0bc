/* conv_pairs.c - convolutions of extent 1 in f32 on processors whose additions have units of their
 * own: two products by one multiplication (pairs.h). */
#include <math.h>

#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/conv_places.h"
#include "codegen_c/kernels/conv_tiles.h"
#include "codegen_c/kernels/dense.h"
#include "codegen_c/kernels/limits.h"
#include "codegen_c/kernels/operands.h"
#include "codegen_c/kernels/pairs.h"
#include "codegen_c/kernels/pitch.h"
#include "codegen_c/kernels/tile.h"

enum {
    FEWEST_PIXELS = 6, /* of a tile */

    /* Numbers that lie so far apart are in one set of the first cache, which has as many sets of
     * lines on every processor with pairs (64 lines of 64 bytes), and eight lines in each. */
    SET_STEP = 1024,
    GAP = 16 /* a line */
};

static bool takes_pairs(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!accepts_conv(region, why))
        return false;
    *why = "--winograd off";
    if (region->winograd == WINOGRAD_OFF)
        return false;
    *why = "the machine has no vectors of 16 numbers";
    if (region->machine->lanes != PAIRS_LANES)
        return false;
    *why = "its channels fill no vector of 16 numbers";
    if (w.out_c / w.groups <= PAIRS_LANES / 2)
        return false;
    *why = "the kernel is not of extent 1, or padded, or x is in planes, or of few channels";
    if (!w.channels_last || w.padded || window_k_len(&w) > 1 || w.in_c / w.groups < PAIRS_LANES)
        return false;
    *why = "a weight is no finite number";
    return pairs_are_finite(region->anchor->inputs[1]);
}

/* Vectors of 16 lanes that tiles of 32 make of the channels, in halves; the tiles of conv have one
 * of 24. */
static double vectors_of(int64_t out_c, bool pairs)
{
    if (!pairs && out_c > 16 && out_c <= 24)
        return 1.5;
    return (double)((out_c + PAIRS_LANES - 1) / PAIRS_LANES);
}

/* Cycles for each pixel, if products alone counted: of products; and with those of pairs, what
 * sum_pairs takes before. */
static bool pays(const struct window *w)
{
    const double len = (double)(w->in_c / w->groups);
    const int64_t out_c = w->out_c / w->groups;
    const double products = vectors_of(out_c, false) * len;
    const double pairs =
        vectors_of(out_c, true) * len * 2 / 3 + pairs_sum_cycles(w->in_c / w->groups);

    return window_out_len(w) >= FEWEST_PIXELS && pairs < 0.95 * products;
}

bool accepts_conv_pairs(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!takes_pairs(region, why))
        return false;
    *why = "additions have no units of their own, or too few channels are made of each input";
    return region->machine->adders && pays(&w);
}

bool accepts_dense_pairs(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_pairs(region, why);
}

bool accepts_matmul_pairs(const struct region *region, const char **why)
{
    return accepts_matmul_dense_rows(region, why) && accepts_conv_pairs(region, why);
}

bool accepts_conv_pairs_anyway(const struct region *region, const char **why)
{
    return takes_pairs(region, why);
}

/* Weights over their scales, the scales, whose name is returned, and for each channel the
 * alternating sum of the products of pairs. */
static const char *bind_weights(struct bind *bind, const struct window *w,
                                const struct panels *panels)
{
    struct value *value = bind->region->anchor->inputs[1], scaled = *value;
    const int64_t n = panels->len, group_rows = panels->n_rows, rows = panels_rows(panels);
    const float *from = value->data;
    const int64_t n_weights = w->out_c * n;
    float *numbers = arena_array(bind->arena, float, n_weights);
    struct type per_channel = type_scalar(DTYPE_F32), type = per_channel;
    const char *scale;
    float *scales, *pairs;

    per_channel.rank = 1;
    per_channel.dim[0] = w->out_c;
    scales = constant_alloc(bind->region->fn, &per_channel);
    scale = bind_codes(bind, arena_printf(bind->arena, "%s.scale", value->name), &per_channel,
                       scales, "powers of two");
    per_channel.dim[0] = w->groups * rows + panels->slack;
    pairs = constant_alloc(bind->region->fn, &per_channel);
    for (int64_t oc = 0; oc < w->out_c; oc++) {
        const int64_t group = oc / group_rows, row = oc % group_rows, step = panels->len_step;
        const int64_t at = group * panels->group_step + row * panels->row_step;

        scales[oc] = pairs_scale(&from[at], step, n, 1);
        for (int64_t k = 0; k < n; k++)
            numbers[at + k * step] = from[at + k * step] / scales[oc];
        pairs[group * rows + row] = pairs_sum(&numbers[at], step, n);
    }
    scaled.data = numbers;
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, panels_make(bind, &scaled, panels, &type),
                          arena_printf(bind->arena, "%s, over scales",
                                       bind_conv_weight_shape(bind, panels))));
    bind_text(bind, "scale", "%s", scale);
    bind_text(bind, "pairs_at", "%s[%sblock]",
              bind_codes(bind, arena_printf(bind->arena, "%s.pairs", value->name), &per_channel,
                         pairs, "alternating sums of products of neighbours"),
              conv_group_start(bind, w, panels, "1"));
    return scale;
}

/* Whether tiles write their sums straight to y, with a bias and within limits. */
static bool stores_tiles(const struct region *region, const struct window *w, struct limits *limits)
{
    return region_limits(region, limits) && limits->bias && w->out_channels_last &&
           w->groups * w->batch == 1 && w->out_c >= 2 * PAIRS_LANES /* a tile */ &&
           !result_pitch(region, 0);
}

static void bind_limited(struct bind *bind, const struct limits *limits)
{
    bind_include(bind, "math.h"); /* INFINITY */
    bind_text(bind, "bias", "%s", bind_operand(bind, limits->bias));
    bind_text(bind, "low", "%s", bind_literal(bind, DTYPE_F32, limits->low));
    bind_text(bind, "high", "%s", bind_literal(bind, DTYPE_F32, limits->high));
}

/* Copies of inputs: of those that are multiplied by a power of two; and of all, with a gap from
 * each pixel to the next, where they lie so that a tile of them would drive itself out of the cache
 * at every step (1024 inputs: 0.70 to 0.85 of the time, the copies included). */
static void bind_copies(struct bind *bind, const struct window *w, const struct tile *tile)
{
    const int64_t in_c = w->in_c / w->groups, pitch = input_pitch(bind->region, 0);
    const bool one_set = (pitch ? pitch : w->in_c) * w->stride[2] % SET_STEP == 0;
    const int gap = one_set || in_c % SET_STEP == 0 ? GAP : 0;

    bind_flag(bind, "gaps", gap > 0);
    bind_int(bind, "gap", gap);
    bind_text(bind, "scaled_pitch", gap ? "(IN_C + GAP)" : "IN_C");
    bind_text(bind, "copies", one_set ? "factor != 0" : "factor != 0 && factor != 1");
    bind_scratch_numbers(bind, tile->most_pixels * (in_c + gap));
}

bool bind_conv_pairs(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels_of_anchor(bind, &w);
    const int64_t chunk = bind_conv_chunk(bind, &w, &panels);
    const bool ahead = w.groups * w.batch == 1 && conv_fetches_weights(&panels, chunk);
    struct limits limits;
    const bool stores = stores_tiles(bind->region, &w, &limits);
    const char *scale;
    struct tile tile;

    bind_vector(bind);
    bind_sums_of_pairs(bind, PAIRS_MOST_TO_COPY);
    if (stores)
        bind_limit_macros(bind);
    tile = bind_tile_of_pairs(bind, window_out_len(&w), panels.n_rows, ahead, stores);
    bind_conv_places(bind, &w);
    scale = bind_weights(bind, &w, &panels);
    bind_conv_width(bind, &panels, "block");
    bind_flag(bind, "stores", stores);
    if (stores)
        bind_limited(bind, &limits);
    bind_flag(bind, "pointwise", conv_is_pointwise(&w));
    bind_flag(bind, "fetches_weights", ahead);
    bind_text(bind, "ahead", ahead ? "ahead, " : "");
    bind_int(bind, "line", tile_line());
    bind_text(bind, "pairs_fn", "%s", tile.fn);
    bind_conv_channels(bind, &w, &panels, &tile);
    bind_copies(bind, &w, &tile);
    bind->region->pairs = true;
    return bind_conv_position(
        bind, &w,
        arena_printf(bind->arena, "sum[j * %s + i] * back * %s[oc]", tile.channels, scale));
}
