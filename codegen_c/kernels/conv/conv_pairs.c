/* conv_pairs.c - 1x1 convolutions in f32 by Winograd inner products (pairs.h), on CPUs whose FPU
 * has separate pipes for additions. Weights may be quantised. */

#include <assert.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"

enum {
    FEWEST_PIXELS = 6, /* pixels of a tile */
    FEW_INPUTS = 32,
    FEW_PIXELS = 24,

    /* Weights that few tiles of pixels read come from beyond the L2 most of the time: the first NC
     * block, which nothing prefetches, should be small (docs/lab/kernels.md). */
    SMALL_IMAGE = 64, /* pixels */
    /* But each NC block computes its pixels' correction sums again, which counts if inputs are in
     * registers and products take half the time (docs/lab/kernels.md). */
    FEWEST_NC = 64,

    /* Quantised weights are dequantised an NC block at a time, at least a panel: bytes of these; on
     * the stack if they are few. */
    MOST_DECODED = 64 << 10,
    MOST_ON_STACK = 96 << 10,
    LINE = 64,
    NUMBER = 4,

    /* Floats this far apart share a set of the L1, which has 64 sets of eight lines of 64 bytes on
     * every CPU with adders. */
    SET_STEP = 1024,
    GAP = 16, /* a cache line */

    STRIP_TILES = 16 /* at most: worker partitions (--parallel) are whole strips, of equal size */
};

/* Whether the weights, if quantised, are so few that all of them are dequantised at once by
 * default. */
static bool pairs_are_decoded_at_once(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const struct panels panels = conv_panels(&w, tile_panel(region->machine));

    return !weight_is_small(region) || conv_channels_within(MOST_DECODED, &panels) >= panels.n_rows;
}

/* f32 weights, or quantised ones that can be dequantised. */
static bool takes_stored(const struct region *region, const char **why)
{
    *why = "x is not stored in f32";
    if (data_is_small(region))
        return false;
    *why = "blocks of weights share scales";
    if (type_has_blocks(anchor_input(region, 1)))
        return false;
    *why = "weights are decoded, and results encoded";
    return !weight_is_small(region) || !decode_takes(&region->fn->ret->inputs[0]->type);
}

static bool takes_pairs(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!accepts_conv_small(region, why) || !takes_stored(region, why))
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
    return decode_are_finite(region->anchor->inputs[1]);
}

static int64_t vectors_of(int64_t out_c)
{
    return (out_c + PAIRS_LANES - 1) / PAIRS_LANES;
}

/* Predicted time per pixel: plain products, of which conv has tiles of 24 channels, against inner
 * products with their correction sums and, on a Zen 5, where products are twice as fast as the
 * rest, the starts and ends of tiles (docs/lab/kernels.md). The tiles of conv_decoded are as wide
 * as these; both dequantise weights equally often but for the largest images. */
static bool pays(const struct machine *machine, const struct window *w, bool decoded)
{
    const int64_t len = w->in_c / w->groups, out_c = w->out_c / w->groups;
    const bool is_24 = !decoded && out_c > 16 && out_c <= 24;
    const double products = (is_24 ? 1.5 : (double)vectors_of(out_c)) * (double)len;
    const double ends = machine->adders == ADDERS_REGISTERS ? 4 * (double)vectors_of(out_c) : 0;
    const double pairs =
        pairs_time(machine, vectors_of(out_c), len) + pairs_sum_time(machine, len) + ends;

    return window_out_len(w) >= FEWEST_PIXELS && pairs < (decoded ? 1.1 : 0.95) * products;
}

static bool accepts_conv_pairs(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!takes_pairs(region, why))
        return false;
    *why = "additions have no units of their own, or too few channels are made of each input";
    return region->machine->adders != ADDERS_NONE &&
           pays(region->machine, &w, weight_is_small(region));
}

static bool accepts_dense_pairs(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_pairs(region, why);
}

static bool accepts_matmul_pairs(const struct region *region, const char **why)
{
    return accepts_matmul_dense_rows(region, why) && accepts_conv_pairs(region, why);
}

static bool accepts_conv_pairs_anyway(const struct region *region, const char **why)
{
    return takes_pairs(region, why);
}

/* Packs the constant in panels: f32, or quantised values. */
static void bind_panels_of(struct bind *bind, struct value *value, const float *numbers,
                           const struct panels *panels)
{
    const char *layout = bind_conv_weight_shape(bind, panels);
    const bool small = weight_is_small(bind->region);
    struct value scaled = *value;
    struct type type = type_scalar(DTYPE_F32);

    keys_offer(bind->keys, "tw", stored_c_type(&value->type));
    if (small) {
        bind_text(bind, "weight", "%s", panels_of_quantized(bind, value, panels, layout));
        return;
    }
    scaled.data = (void *)(uintptr_t)numbers;
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, panels_make(bind, &scaled, panels, &type),
                          arena_printf(bind->arena, "%s, over scales", layout)));
}

/* Floats that vectors read beyond the last panel's scales. */
static int64_t beyond_scales(const struct panels *panels)
{
    const int64_t last = panels->n_rows % panels->width;

    return (PAIRS_LANES - last % PAIRS_LANES) % PAIRS_LANES;
}

/* Packs the weights, divided by their scales unless quantised, and the scales and correction sums
 * of the channels. Returns the scales' name. */
static const char *bind_weights(struct bind *bind, const struct window *w,
                                const struct panels *panels)
{
    struct value *value = bind->region->anchor->inputs[1];
    const int64_t n = panels->len, group_rows = panels->n_rows, rows = panels_rows(panels);
    const bool small = weight_is_small(bind->region);
    float *const numbers = arena_array(bind->arena, float, small ? 1 : w->out_c *n);
    float *const row_numbers = arena_array(bind->arena, float, n);
    struct type per_channel = type_scalar(DTYPE_F32), per_row;
    const char *scale;
    float *scales, *pairs;

    per_channel.rank = 1;
    per_channel.dim[0] = w->out_c + (small ? beyond_scales(panels) : 0);
    scales = constant_alloc(bind->region->fn, &per_channel);
    for (int64_t i = 0; i < per_channel.dim[0]; i++)
        scales[i] = 1;
    per_row = per_channel;
    per_row.dim[0] = w->groups * rows + panels->slack;
    pairs = constant_alloc(bind->region->fn, &per_row);
    for (int64_t oc = 0; oc < w->out_c; oc++) {
        const int64_t group = oc / group_rows, row = oc % group_rows, step = panels->len_step;
        const int64_t at = group * panels->group_step + row * panels->row_step;

        for (int64_t k = 0; k < n; k++)
            row_numbers[k] = decode_number(&value->type, value->data, at + k * step);
        scales[oc] = pairs_scale(row_numbers, 1, n, 1);
        for (int64_t k = 0; k < n; k++) {
            row_numbers[k] /= scales[oc];
            if (!small)
                numbers[at + k * step] = row_numbers[k];
        }
        pairs[group * rows + row] = pairs_sum(row_numbers, 1, n);
    }
    scale = bind_quantized(bind, arena_printf(bind->arena, "%s.scale", value->name), &per_channel,
                           scales, "powers of two");
    bind_panels_of(bind, value, numbers, panels);
    bind_text(bind, "pairs_at", "%s[%sblock]",
              bind_quantized(bind, arena_printf(bind->arena, "%s.pairs", value->name), &per_row,
                             pairs, "alternating sums of products of neighbours"),
              conv_group_start(bind, w, panels, "1"));
    return scale;
}

/* Sets where the weights of the tile at `block` begin and, if quantised, how an NC block is
 * dequantised into scratch. Returns the floats that takes. */
static int64_t bind_decoded_weights(struct bind *bind, const struct window *w,
                                    const struct panels *panels, int64_t nc, const char *scale_at)
{
    const bool small = weight_is_small(bind->region), in_blocks = nc < panels->n_rows;
    const int64_t rows = in_blocks ? nc : panels_rows(panels);
    const int64_t n = small ? rows * panels->len + panels->width /* vectors read on */ : 0;
    const int width = (int)panels->width;
    const char *block = in_blocks ? "(block - chunk)" : "block";

    bind_flag(bind, "small", small);
    bind_flag(bind, "braces", small && (in_blocks || w->groups * w->batch > 1));
    bind_text(bind, "of_block", in_blocks ? "a chunk" : "all channels");
    bind_int(bind, "panel", width);
    if (!small) {
        bind_conv_weight_at(bind, w, panels);
        return n;
    }
    bind_text(bind, "unpack_panel", "%s",
              decode_unpack_panel(bind, bind->region->anchor->inputs[1]));
    bind_text(bind, "panel_at", "%sblock * IN_C", conv_group_start(bind, w, panels, "IN_C"));
    bind_text(bind, "panel_scale", "%s", scale_at);
    bind_text(bind, "decoded_at", "&weight[%s * IN_C]", block);
    bind_text(bind, "weight_at",
              panels->n_rows > width ? "&weight[%s / %d * %d * IN_C + block %% %d]" : "&weight[%s]",
              block, width, width, width);
    return n;
}

/* Whether the pixels of a tile would evict each other from the L1 at every step. */
static bool shares_set(const struct region *region, const struct window *w)
{
    const struct operand x = operand_input(region, 0);

    return (x.apart ? x.pixel_step : w->in_c) * w->stride[2] % SET_STEP == 0;
}

/* Whether all pixels are copied before they are read: if they share a set, have no constant
 * distance, or, with one pointer for all, belong to groups. */
static bool copies_all(const struct region *region, const struct window *w)
{
    return shares_set(region, w) || !conv_is_pointwise(w) ||
           (pairs_want_one_pointer(region->machine) && w->groups > 1);
}

/* Floats between two copied pixels. */
static int gap_of_copies(const struct region *region, const struct window *w)
{
    return shares_set(region, w) || w->in_c / w->groups % SET_STEP == 0 ? GAP : 0;
}

/* The distance of a tile's pixels in x, or of their copies, if one pointer is to address all of
 * them; else 0. With a pointer per pixel gcc keeps these in vector registers if the tile prefetches
 * weights, and otherwise on the stack, which matters if inputs are few or weights are used once or
 * twice (docs/lab/kernels.md). It is more code, for each number of inputs. */
static int64_t step_of(const struct bind *bind, const struct window *w, bool ahead)
{
    const struct operand x = operand_input(bind->region, 0);
    const int64_t in_c = w->in_c / w->groups;
    const bool matters = ahead || w->in_c < FEW_INPUTS || window_out_len(w) <= FEW_PIXELS;

    if (!pairs_want_one_pointer(bind->machine) && !copies_all(bind->region, w) &&
        (w->groups > 1 || !matters))
        return 0;
    if (copies_all(bind->region, w))
        return in_c + gap_of_copies(bind->region, w);
    return x.apart ? x.pixel_step : w->in_c;
}

/* The position of a tile in y. */
static struct tile_place place_of(struct bind *bind, const struct window *w)
{
    const bool grouped = w->groups > 1, batched = w->batch > 1;
    const char *group = batched ? "g % GROUPS" : "g", *image = grouped ? "g / GROUPS" : "g";

    return (struct tile_place){
        .pixel = batched ? arena_printf(bind->arena, "(%s * OUT_LEN + first)", image) : "first",
        .channel = grouped ? arena_printf(bind->arena, "%s * OUT_C + block", group) : "block",
        .channels = grouped ? "(GROUPS * OUT_C)" : "OUT_C",
    };
}

/* The tiles with an epilogue store, for inputs in range. */
static void bind_stored(struct bind *bind, const struct panels *panels, const struct tile *tile,
                        bool rest)
{
    const int64_t left = panels->n_rows % tile->most_channels;
    const char *whole = arena_printf(bind->arena, "OUT_C - block >= %s", tile->channels);

    if (left == 0 && rest) /* no other pixels are read */
        bind_text(bind, "surplus", "%s", "");
    if (left == 0)
        bind_text(bind, "stored", "%s", "");
    else if (left != tile->most_channels / 2)
        bind_text(bind, "stored", " && %s", whole);
    else
        bind_text(bind, "stored", " && (n_pixels == %s || %s)", tile->pixels, whole);
}

/* Buffers of dequantised weights and copied inputs, in floats. */
static void bind_buffers(struct bind *bind, int64_t n_weights, int64_t n_copies)
{
    const bool on_stack = n_weights > 0 && (n_weights + n_copies) * NUMBER <= MOST_ON_STACK;

    bind_flag(bind, "on_stack", on_stack);
    bind_int(bind, "n_weights", n_weights);
    bind_int(bind, "n_scaled", n_copies);
    if (n_weights > 0)
        bind_helper(bind, on_stack ? "line_aligned" : "first_line");
    if (!on_stack)
        bind_scratch_numbers(bind, n_weights + n_copies + (n_weights > 0 ? LINE / NUMBER - 1 : 0));
}

/* Whether a tile's sums need only the pointer to its first pixel, and pointers to each pixel only
 * without inner products or for copies (setting them costs 8 of a tile's 300 to 500 cycles). Tiles
 * without an epilogue store are not written for a step. */
static bool reads_one_pointer(const struct tile *tile, int64_t pixels, int64_t channels,
                              int64_t step, bool stores)
{
    const int64_t left = channels % tile->most_channels;

    return step > 0 && (!stores || left == 0 ||
                        (left == tile->most_channels / 2 && pixels % tile->most_pixels == 0));
}

/* Copies of inputs: of those that are scaled, and of all that share a set, with a gap between
 * pixels. They lie `step` floats apart if that is not 0. If surplus pixels are read a step
 * apart, the pixels of such a tile are copied, as nothing may lie behind x. n_weights: see
 * bind_buffers. */
static void bind_copies(struct bind *bind, const struct window *w, const struct tile *tile,
                        int64_t step, bool surplus, bool one_pointer, int64_t n_weights)
{
    const bool all = copies_all(bind->region, w), as_in_x = step && !all;
    const int gap = as_in_x ? 0 : gap_of_copies(bind->region, w);
    const char *seldom =
        surplus ? arena_printf(bind->arena, "(how != AS_THEY_ARE || n_pixels < %s)", tile->pixels)
                : "how != AS_THEY_ARE";

    bind_flag(bind, "gaps", gap > 0);
    bind_int(bind, "gap", gap);
    bind_text(bind, "scaled_pixel_stride", "%s",
              gap       ? "(IN_C + GAP)"
              : as_in_x ? pixel_stride_of_x(bind->region, "IN_C")
                        : "IN_C");
    bind_flag(bind, "copied", all);
    bind_text(bind, "copies", "%s%s", surplus ? "how != WITHOUT_PAIRS && " : "",
              surplus ? seldom : "how == TIMES_FACTOR");
    bind_flag(bind, "one_pointer", one_pointer);
    bind_text(bind, "taps_where", "%s%s", one_pointer ? " && " : "",
              !one_pointer ? ""
              : all        ? "how == WITHOUT_PAIRS"
                           : seldom);
    bind_buffers(bind, n_weights, tile->most_pixels * (as_in_x ? step : w->in_c / w->groups + gap));
}

/* The default NC block. */
static int64_t usual_nc(const struct bind *bind, const struct window *w,
                        const struct panels *panels)
{
    const bool few = window_out_len(w) <= SMALL_IMAGE && !copies_all(bind->region, w);
    const int64_t nc = weight_is_small(bind->region)
                           ? conv_channels_within(MOST_DECODED, panels)
                           : conv_cached_nc(bind->machine, panels, few ? 4 : 1);
    const bool adds_up =
        few && !weight_is_small(bind->region) && bind->machine->adders == ADDERS_REGISTERS;

    return adds_up && nc < FEWEST_NC ? FEWEST_NC : nc;
}

/* Pixels whose correction sums are made together: as many as leave a quarter of the L1 to weights
 * and results; one tile of copied ones. So a core can begin a tile while it ends the one before,
 * which it could not if each waited for its correction sums. */
static void bind_strips(struct bind *bind, const struct window *w, const struct tile *tile)
{
    const int64_t pixels = tile->most_pixels, all = (window_out_len(w) + pixels - 1) / pixels;
    const int64_t size = w->in_c / w->groups * NUMBER * pixels;
    const int64_t within = (int64_t)bind->machine->l1_bytes / 4 * 3 / size;
    const int64_t most = copies_all(bind->region, w) || within < 1 ? 1
                         : within > STRIP_TILES                    ? STRIP_TILES
                                                                   : within;
    const int64_t strips = (all + most - 1) / most;

    bind_int(bind, "strip", (all + strips - 1) / strips * pixels);
    bind_text(bind, "surplus", "%s", window_out_len(w) % pixels > 0 ? " = { 0 }" : "");
}

static bool bind_conv_pairs(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels_of_anchor(bind, &w, tile_panel(bind->machine));
    const bool decoded = weight_is_small(bind->region);
    const int64_t nc = bind_nc_block(bind, &w, &panels, usual_nc(bind, &w, &panels));
    const bool ahead =
        w.groups * w.batch == 1 && !decoded && conv_fetches_weights(bind->machine, &panels, nc);
    const int64_t step = step_of(bind, &w, ahead);
    const struct tile_place place = place_of(bind, &w);
    struct epilogue_store end;
    const bool stores = panels.n_rows >= 2 * PAIRS_LANES /* a tile */ &&
                        epilogue_store_of(bind, &w, &place, "vector_f32", "LANES", &end);
    const char *scale, *scale_at, *inputs;
    struct tile tile;
    int64_t n_weights;
    int most_pixels, channels;
    bool one_pointer;

    bind_vector(bind);
    bind_sums_of_pairs(bind, PAIRS_MOST_TO_COPY);
    tile = bind_tile_of_pairs(bind, window_out_len(&w), panels.n_rows, ahead, step,
                              stores ? &end : NULL);
    tile_extents_of_pairs(bind->machine, 0, w.out_c, &most_pixels, &channels);
    assert(tile.most_pixels <=
           (bind->region->choice ? MOST_TILE_PIXELS : most_pixels)); /* the overlap distance
                                                                        counts on it */
    bind_conv_places(bind, &w);
    scale = bind_weights(bind, &w, &panels);
    scale_at = arena_printf(bind->arena, "&%s[%s]", scale, place.channel);
    n_weights = bind_decoded_weights(bind, &w, &panels, nc, scale_at);
    bind_conv_width(bind, &panels, "block");
    bind_flag(bind, "stores", stores);
    bind_strips(bind, &w, &tile);
    one_pointer = reads_one_pointer(&tile, window_out_len(&w), panels.n_rows, step, stores);
    inputs = one_pointer ? "nearest" : step ? "tap[0]" : "tap";
    bind_text(bind, "inputs", "%s", inputs);
    bind_text(bind, "summed", "%s", stores ? "tap" : inputs);
    if (stores) {
        bind_text(bind, "end_args", "%s%s", epilogue_store_y(bind, &place), end.args);
        bind_stored(bind, &panels, &tile, window_out_len(&w) % tile.most_pixels > 0);
        bind_text(bind, "scale_at", "%s", scale_at);
    }
    bind_flag(bind, "pointwise", conv_is_pointwise(&w));
    bind_flag(bind, "fetches_weights", ahead);
    bind_text(bind, "ahead", ahead ? "ahead, " : "");
    bind_int(bind, "line", tile_line());
    bind_conv_channels(bind, &panels, &tile);
    bind_copies(bind, &w, &tile, step,
                step > 0 && !stores && window_out_len(&w) % tile.most_pixels > 0, one_pointer,
                n_weights);
    bind->region->config.pairs = true;
    if (w.out_channels_last) /* also where sums of tiles that are whole need no array */
        bind_helper(bind, "keep_loop");
    return bind_conv_position(
        bind, &w,
        arena_printf(bind->arena, "sum[j * %s + i] * back * %s[oc]", tile.channels, scale));
}

/* As conv; not if all weights would have to be dequantised at once, and are many. */
static bool overlaps_conv_pairs(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);
    int pixels, channels;

    tile_extents_of_pairs(region->machine, 0, w.out_c, &pixels, &channels);
    if (region->choice) /* another tile, maybe */
        pixels = MOST_TILE_PIXELS;
    overlap->bytes = overlap_of_windows(region, &w, pixels);
    return window_is_last(&w) && w.groups == 1 && pairs_are_decoded_at_once(region);
}

const struct kernel kernel_conv_pairs = {
    .name = "conv_pairs",
    .sums = SUMS_NOT_SIMULATED,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_pairs,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_pairs, bind_conv_pairs },
               { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_pairs_anyway, bind_conv_pairs,
                 .late = true },
               { OPS(OP_DENSE), accepts_dense_pairs, bind_conv_pairs },
               { OPS(OP_MATMUL), accepts_matmul_pairs, bind_conv_pairs } },
};
