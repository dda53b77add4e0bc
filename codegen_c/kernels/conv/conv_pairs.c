/* conv_pairs.c - 1x1 convolutions in f32 by Winograd inner products (pairs.h), on CPUs whose FPU
 * has separate pipes for additions. Weights may be quantised. */
#include "codegen_c/kernels/conv/conv_pairs.h"

#include <assert.h>

#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/lead.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/pitch.h"
#include "codegen_c/microkernel/tile.h"

enum {
    FEWEST_PIXELS = 6, /* of a tile */
    FEW_INPUTS = 32,
    FEW_PIXELS = 24,

    /* Weights that few tiles of pixels read come from beyond the second cache for most of the time:
     * the first chunk, which nothing fetches ahead, is to be small (160 to 960 at 7x7: 0.87 of the
     * time with chunks of 160 channels in place of 800, 320 to 1280 0.97 with 96 in place of 384).
     */
    SMALL_IMAGE = 64, /* pixels */
    /* But every chunk adds up its pixels' pairs again, which counts where inputs come from
     * registers and products take half the time (960 to 320 at 7x7: 0.85 with 64 channels in place
     * of 32, 960 to 160 0.93 to 0.97). */
    FEWEST_CHUNKED = 64,

    /* Weights that are stored small are decoded a chunk at a time, at least a panel: so many bytes,
     * on the stack if they are few. */
    MOST_DECODED = 64 << 10,
    MOST_ON_STACK = 96 << 10,
    LINE = 64,
    NUMBER = 4,

    /* Numbers that lie so far apart are in one set of the first cache, which has as many sets of
     * lines on every processor with pairs (64 lines of 64 bytes), and eight lines in each. */
    SET_STEP = 1024,
    GAP = 16, /* a line */

    STRIP_TILES = 16 /* at most: parts (--parallel) are whole strips, and are to be alike */
};

bool pairs_are_decoded_at_once(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const struct panels panels = conv_panels(&w, tile_panel(region->machine));

    return !weight_is_small(region) || conv_channels_within(MOST_DECODED, &panels) >= panels.n_rows;
}

/* Weights as numbers, or codes that are decoded. */
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

/* Times for each pixel, if products alone counted: of products, of which conv has tiles of 24
 * channels; and with those of pairs, what sum_pairs takes before, and on a Zen 5, where products
 * take half the time of others, the beginnings and ends of tiles (measured, of the time of
 * products: 32 to 32 channels 0.96, 32 to 64 0.89, 64 to 32 0.86, 64 to 64 0.82, 16 to 96 0.98, 192
 * to 64 0.76). The tiles of conv_decoded are as wide as those of pairs; both decode weights as
 * often, but for the greatest of images. */
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

/* The constant in panels: numbers, or what is decoded. */
static void bind_panels_of(struct bind *bind, struct value *value, const float *numbers,
                           const struct panels *panels)
{
    const char *layout = bind_conv_weight_shape(bind, panels);
    const bool small = weight_is_small(bind->region);
    struct value scaled = *value;
    struct type type = type_scalar(DTYPE_F32);

    keys_offer(bind->keys, "tw", stored_c_type(&value->type));
    if (small) {
        bind_text(bind, "weight", "%s", panels_of_codes(bind, value, panels, layout));
        return;
    }
    scaled.data = (void *)(uintptr_t)numbers;
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, panels_make(bind, &scaled, panels, &type),
                          arena_printf(bind->arena, "%s, over scales", layout)));
}

/* How many numbers vectors read beyond the scales of the last panel. */
static int64_t beyond_scales(const struct panels *panels)
{
    const int64_t last = panels->n_rows % panels->width;

    return (PAIRS_LANES - last % PAIRS_LANES) % PAIRS_LANES;
}

/* Weights, over their scales where they are not decoded; the scales, whose name is returned, and
 * for each channel the alternating sum of the products of pairs. */
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
    scale = bind_codes(bind, arena_printf(bind->arena, "%s.scale", value->name), &per_channel,
                       scales, "powers of two");
    bind_panels_of(bind, value, numbers, panels);
    bind_text(bind, "pairs_at", "%s[%sblock]",
              bind_codes(bind, arena_printf(bind->arena, "%s.pairs", value->name), &per_row, pairs,
                         "alternating sums of products of neighbours"),
              conv_group_start(bind, w, panels, "1"));
    return scale;
}

/* Where the weights of the tile at `block` begin; of those that are decoded also what decodes a
 * chunk of them into scratch. Returns how many numbers of it that takes. */
static int64_t bind_decoded_weights(struct bind *bind, const struct window *w,
                                    const struct panels *panels, int64_t chunk,
                                    const char *scale_at)
{
    const bool small = weight_is_small(bind->region), chunked = chunk < panels->n_rows;
    const int64_t rows = chunked ? chunk : panels_rows(panels);
    const int64_t n = small ? rows * panels->len + panels->width /* vectors go on */ : 0;
    const int width = (int)panels->width;
    const char *block = chunked ? "(block - chunk)" : "block";

    bind_flag(bind, "small", small);
    bind_flag(bind, "braces", small && (chunked || w->groups * w->batch > 1));
    bind_text(bind, "of_chunk", chunked ? "a chunk" : "all channels");
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

/* Whether a tile of pixels would drive itself out of the cache at every step. */
static bool shares_set(const struct region *region, const struct window *w)
{
    const struct operand x = operand_input(region, 0);

    return (x.apart ? x.pixel_step : w->in_c) * w->stride[2] % SET_STEP == 0;
}

/* Whether all pixels are copied before they are read: those that share a set; those that lie no
 * constant step apart; and those of groups, where there is one pointer for all. */
static bool copies_all(const struct region *region, const struct window *w)
{
    return shares_set(region, w) || !conv_is_pointwise(w) ||
           (pairs_want_one_pointer(region->machine) && w->groups > 1);
}

/* What lies between two copied pixels, where they need not lie as in x. */
static int gap_of_copies(const struct region *region, const struct window *w)
{
    return shares_set(region, w) || w->in_c / w->groups % SET_STEP == 0 ? GAP : 0;
}

/* How far apart the pixels of a tile lie in x, or their copies, where one pointer is to tell where
 * all are; else 0. With a pointer for each gcc keeps what it computes from them in registers for
 * vectors, if the tile fetches weights (160 to 960 at 7x7: 0.66 of the time with one pointer), else
 * on the stack, which matters where inputs are few (24 to 144 at 56x56: 0.92), or weights are used
 * once or twice (256 to 256 at 3x3: 0.97). It is more text, for each number of inputs. */
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

/* Where a tile begins. */
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

/* Which tiles store their sums, if the size of the inputs allows it. */
static void bind_stored(struct bind *bind, const struct panels *panels, const struct tile *tile,
                        bool rest)
{
    const int64_t left = panels->n_rows % tile->most_channels;
    const char *whole = arena_printf(bind->arena, "OUT_C - block >= %s", tile->channels);

    if (left == 0 && rest) /* others are not read */
        bind_text(bind, "surplus", "%s", "");
    if (left == 0)
        bind_text(bind, "stored", "%s", "");
    else if (left != tile->most_channels / 2)
        bind_text(bind, "stored", " && %s", whole);
    else
        bind_text(bind, "stored", " && (n_pixels == %s || %s)", tile->pixels, whole);
}

/* Room for so many decoded weights, and copies of inputs. */
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

/* Whether the pointer to a tile's first pixel is all that its sums are made of, and those to each
 * pixel are wanted only where pairs do not do, or inputs are copied: to set them took 8 cycles of a
 * tile's 300 to 500 (vww_mobilenetv1 0.993). Tiles that store nothing are not written for a step.
 */
static bool reads_one_pointer(const struct tile *tile, int64_t pixels, int64_t channels,
                              int64_t step, bool stores)
{
    const int64_t left = channels % tile->most_channels;

    return step > 0 && (!stores || left == 0 ||
                        (left == tile->most_channels / 2 && pixels % tile->most_pixels == 0));
}

/* Copies of inputs: of those that are multiplied by a power of two; and of all that share a set,
 * with a gap from each pixel to the next (1024 inputs: 0.70 to 0.85 of the time, the copies
 * included). They lie `step` apart, if that is not 0. Where surplus pixels are read a step apart,
 * those of a tile that has some are copied, as there may be nothing behind x. n_weights: see
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
    bind_text(bind, "scaled_pitch", "%s",
              gap       ? "(IN_C + GAP)"
              : as_in_x ? pitch_of_x(bind->region, "IN_C")
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

/* Channels of a chunk, where there is no other choice. */
static int64_t usual_chunk(const struct bind *bind, const struct window *w,
                           const struct panels *panels)
{
    const bool few = window_out_len(w) <= SMALL_IMAGE && !copies_all(bind->region, w);
    const int64_t chunk = weight_is_small(bind->region)
                              ? conv_channels_within(MOST_DECODED, panels)
                              : conv_cached_chunk(bind->machine, panels, few ? 4 : 1);
    const bool adds_up =
        few && !weight_is_small(bind->region) && bind->machine->adders == ADDERS_REGISTERS;

    return adds_up && chunk < FEWEST_CHUNKED ? FEWEST_CHUNKED : chunk;
}

/* Pixels whose sums of neighbours are made at once: as many as leave a quarter of the first cache
 * to weights and results, which are to be read from there again; one tile of those that are copied.
 * A core begins the next tile while it ends one, which it could not if each waited for sums. */
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
    const int64_t chunk = bind_conv_chunk(bind, &w, &panels, usual_chunk(bind, &w, &panels));
    const bool ahead =
        w.groups * w.batch == 1 && !decoded && conv_fetches_weights(bind->machine, &panels, chunk);
    const int64_t step = step_of(bind, &w, ahead);
    const struct tile_place place = place_of(bind, &w);
    struct tile_end end;
    const bool stores = panels.n_rows >= 2 * PAIRS_LANES /* a tile */ &&
                        tile_end_of(bind, &w, &place, "vector_f32", "LANES", &end);
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
           (bind->region->choice ? MOST_TILE_PIXELS : most_pixels)); /* its lead */
    bind_conv_places(bind, &w);
    scale = bind_weights(bind, &w, &panels);
    scale_at = arena_printf(bind->arena, "&%s[%s]", scale, place.channel);
    n_weights = bind_decoded_weights(bind, &w, &panels, chunk, scale_at);
    bind_conv_width(bind, &panels, "block");
    bind_flag(bind, "stores", stores);
    bind_strips(bind, &w, &tile);
    one_pointer = reads_one_pointer(&tile, window_out_len(&w), panels.n_rows, step, stores);
    inputs = one_pointer ? "nearest" : step ? "tap[0]" : "tap";
    bind_text(bind, "inputs", "%s", inputs);
    bind_text(bind, "summed", "%s", stores ? "tap" : inputs);
    if (stores) {
        bind_text(bind, "end_args", "%s%s", tile_end_y(bind, &place), end.args);
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
    bind->region->pairs = true;
    if (w.out_channels_last) /* also where sums of tiles that are whole need no array */
        bind_helper(bind, "keep_loop");
    return bind_conv_position(
        bind, &w,
        arena_printf(bind->arena, "sum[j * %s + i] * back * %s[oc]", tile.channels, scale));
}

const struct kernel kernel_conv_pairs = {
    .name = "conv_pairs",
    .reads_pitched = reads_conv_pixels,
    .writes_pitched = writes_conv_pixels,
    .leads = leads_conv_pairs,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_pairs, bind_conv_pairs },
               { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_pairs_anyway, bind_conv_pairs,
                 .late = true },
               { OPS(OP_DENSE), accepts_dense_pairs, bind_conv_pairs },
               { OPS(OP_MATMUL), accepts_matmul_pairs, bind_conv_pairs } },
};
