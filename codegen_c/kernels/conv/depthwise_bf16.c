/* depthwise_bf16.c - depthwise convolutions of 8-bit floats by bf16 products (bf16.h), channels
 * last. 1-D is bound as 2-D of height 1.
 *
 * method   a vector of channels at a time. The rows of x under a row of y are kept as words, each
 *          value with its right neighbour, so that an instruction takes two taps; an odd last tap
 *          of a kernel row has words of its own. With 8 channels two pixels share a vector */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/depthwise.h"
#include "codegen_c/microkernel/bf16.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    MOST_WORDS = 20,      /* words of weights in registers */
    MOST_KEPT = 96 << 10, /* bytes of rows kept on the stack */
    MOST_TOGETHER = 8,    /* pixels at a time */
    WORD = 4
};

static int64_t rows_of(const struct window *w)
{
    return (w->k[1] - 1) * w->dil[1] + 1;
}

/* Columns under windows, padding included. */
static int64_t width_of(const struct window *w)
{
    return (w->out[2] - 1) * w->stride[2] + w->k[2];
}

static bool accepts_depthwise_bf16(const struct region *region, const char **why)
{
    struct window w;
    struct bf16_row row;

    if (!accepts_depthwise(region, why) || !takes_bf16(region, why))
        return false;
    w = window_of_conv(region);
    row = (struct bf16_row){ .k_h = w.k[1], .k_w = w.k[2] };
    *why = "channels have several results each, or columns are dilated";
    if (w.out_c != w.in_c || w.dil[2] > 1)
        return false;
    *why = "the kernel, or a row of x, is too large";
    return bf16_row_words(&row) <= MOST_WORDS && width_of(&w) > w.pad[2] &&
           (2 * rows_of(&w) + 1) * (width_of(&w) + 2 + MOST_TOGETHER * w.stride[2]) * BF16_LANES *
                   WORD <=
               MOST_KEPT;
}

/* Packs the weights as [channels / 16, K_H, (K_W + 1) / 2, 16 of channels, 2]. */
static void bind_weights(struct bind *bind, const struct window *w, const struct bf16_row *row)
{
    struct value *value = bind->region->anchor->inputs[1];
    const uint8_t *const from = value->data; /* [channels, k_h, k_w] */
    const int64_t words = bf16_row_words(row), k_w = w->k[2], per_row = (k_w + 1) / 2;
    const int64_t blocks = (w->in_c + BF16_LANES - 1) / BF16_LANES;
    const int64_t dims[] = { blocks * words * BF16_LANES * 2 };
    const bool twice = row->pixel < BF16_LANES;
    struct type stored = quantized_type(bind, &value->type, 1, dims);
    uint8_t *const to = constant_alloc(bind->region->fn, &stored);

    for (int64_t i = 0; i < blocks * BF16_LANES; i++) {
        const int64_t c = twice ? i % w->in_c : i, block = i / BF16_LANES;

        for (int64_t t = 0; c < w->in_c && t < window_k_len(w); t++) {
            const int64_t word = t / k_w * per_row + t % k_w / 2;

            to[((block * words + word) * BF16_LANES + i % BF16_LANES) * 2 + t % k_w % 2] =
                from[c * window_k_len(w) + t];
        }
    }
    bind_text(bind, "weight", "%s",
              bind_quantized(bind, value->name, &stored, to,
                             twice ? "[k_h, (k_w + 1) / 2, channels, twice, 2]"
                                   : "[channels / 16, k_h, (k_w + 1) / 2, 16 of channels, 2]"));
    bind_helper(bind, "line_aligned");
    bind_text(bind, "unpack_w", "%s", bf16_unpack(bind, &value->type));
}

static struct tile_place place_of(const struct window *w, bool twice)
{
    const bool batched = w->batch > 1;

    return (struct tile_place){
        .pixel = twice     ? batched ? "((n * OUT_H + oh) * OUT_W / 2)" : "(oh * OUT_W / 2)"
                 : batched ? "((n * OUT_H + oh) * OUT_W)"
                           : "(oh * OUT_W)",
        .channel = twice ? "0" : "block",
        .channels = twice ? "(2 * CHANNELS)" : "CHANNELS",
        .quantized = true,
        .some = w->in_c % BF16_LANES != 0 && !twice,
        .twice = twice,
    };
}

static void bind_geometry(struct bind *bind, const struct window *w)
{
    bind_int(bind, "in_h", w->in[1]);
    bind_int(bind, "in_w", w->in[2]);
    bind_int(bind, "out_h", w->out[1]);
    bind_int(bind, "out_w", w->out[2]);
    bind_int(bind, "k_h", w->k[1]);
    bind_int(bind, "k_w", w->k[2]);
    bind_int(bind, "stride_h", w->stride[1]);
    bind_int(bind, "dil_h", w->dil[1]);
    bind_int(bind, "pad_top", w->pad[1]);
    bind_int(bind, "pad_left", w->pad[2]);
}

/* Pixels (vectors) of a row at a time: the number that leaves the fewest over. */
static int together_of(int64_t n)
{
    int best = n < MOST_TOGETHER ? (int)n : MOST_TOGETHER;

    for (int t = best; t > MOST_TOGETHER / 2; t--)
        if ((n + t - 1) / t * t < (n + best - 1) / best * best)
            best = t;
    return best;
}

static void bind_rows(struct bind *bind, const struct window *w, bool twice, int together)
{
    struct value *x = anchor_source(bind->region, 0);
    const int64_t width = width_of(w), inside = width - w->pad[2];
    const int pixel = twice ? BF16_LANES / 2 : BF16_LANES;

    bind_int(bind, "rows", rows_of(w));
    bind_int(bind, "width", width);
    bind_int(bind, "inside", inside < w->in[2] ? inside : w->in[2]);
    bind_int(bind, "pixel", pixel);
    bind_int(bind, "row_words",
             (width + 1 + (together - 1) * w->stride[2]) * pixel * (twice ? 2 : 1) + BF16_LANES);
    bind_flag(bind, "twice", twice);
    bind_text(bind, "x_step", "%s", pixel_stride_of_x(bind->region, "CHANNELS"));
    bind_text(bind, "row", w->batch > 1 ? "(n * IN_H + n_rows)" : "n_rows");
    bind_flag(bind, "reaches_out", window_reaches_out(w, 1));
    bind_flag(bind, "pairs", w->k[2] > 1);
    bind_text(bind, "twos", w->k[2] > 1 ? "twos" : "ones"); /* otherwise not read */
    bind_text(bind, "x", "%s", bind_operand(bind, x));
    bind_text(bind, "unpack_x", "%s", bf16_unpack_row(bind, &x->type, twice));
}

/* Binds the epilogue of sums in an array, for the channels of each pixel. */
static bool bind_pixels(struct bind *bind, const struct window *w)
{
    struct epilogue_row row = { .i = "i", .n = "n_channels", .most = "16", .multiple = w->in_c };
    struct position position;
    const int rank = w->rank + 2;

    bind_text(bind, "oc", "block + i");
    bind_at(bind, w->batch > 1 ? "((n * OUT_H + oh) * OUT_W + ow)" : "(oh * OUT_W + ow)",
            "CHANNELS", "oc", &position);
    if (w->batch > 1)
        position.coord[0] = "n";
    if (w->rank == 2 && w->out[1] > 1)
        position.coord[1] = "oh";
    if (w->out[2] > 1)
        position.coord[rank - 2] = "ow";
    if (w->out_c > 1)
        position.coord[rank - 1] = "oc";
    bind_start(bind, "CHANNELS", "block", &position, &row.start);
    return bind_row_epilogue(bind, "sum[ow * 16 + i]", &position, &row);
}

static bool bind_depthwise_bf16(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool can_twice = w.in_c * 2 == BF16_LANES && w.stride[2] == 1 && w.out[2] % 2 == 0 &&
                           !pixels_are_apart(bind->region);
    struct tile_place place = place_of(&w, can_twice);
    struct epilogue_store end;
    const bool stores = epilogue_store_of(bind, &w, &place, "vector_f32", "LANES", &end);
    const bool twice = can_twice && stores;
    const struct bf16_row row = { .k_h = w.k[1],
                                  .k_w = w.k[2],
                                  .stride = w.stride[2],
                                  .pixel = twice ? BF16_LANES / 2 : BF16_LANES,
                                  .together = together_of(twice ? w.out[2] / 2 : w.out[2]),
                                  .some = w.in_c % BF16_LANES != 0 && !twice };

    bind_geometry(bind, &w);
    bind_flag(bind, "batched", w.batch > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_pixel_strides(bind);
    bind_int(bind, "n_words", bf16_row_words(&row));
    bind_weights(bind, &w, &row);
    bind_rows(bind, &w, twice, row.together);
    bind_text(bind, "row_fn", "%s", bf16_row(bind, &row, stores ? &end : NULL));
    bind_text(bind, "n_pixels", twice ? "OUT_W / 2" : "OUT_W");
    bind_flag(bind, "stores", stores);
    bind_int(bind, "surplus", row.together - 1);
    if (stores) {
        bind_text(bind, "end_args", "%s, %s%s", epilogue_store_y(bind, &place),
                  twice ? "LANES" : "n_channels", end.args);
        return true;
    }
    return bind_pixels(bind, &w);
}

/* As depthwise with dequantised data, all of it row by row. */
static bool overlaps_depthwise_bf16(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->exact = true;
    return window_is_last(&w) && x_element_bytes(region) == y_element_bytes(region) &&
           w.out[2] <= w.in[2] && w.pad[1] <= (w.k[1] - 1) * w.dil[1];
}

const struct kernel kernel_depthwise_bf16 = {
    .name = "depthwise_bf16",
    .sums = SUMS_PLAIN,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .overlaps = overlaps_depthwise_bf16,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_depthwise_bf16, bind_depthwise_bf16 } },
};
