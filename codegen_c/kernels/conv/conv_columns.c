/* conv_columns.c - f32 convolutions with constant weights to few output channels, by pixel vectors:
 * first layers and those that make a picture, whose channels do not fill a vector.
 *
 * method   lanes are neighbouring pixels, so that none is idle and each weight serves all of them.
 *          Rows are copied with their padding (conv_band.h); columns that are a stride apart are
 *          stored together there, and rows of x that is channels last are transposed. Sums become
 *          channels last when they are stored. The order of sums is that of conv_band */
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_band.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/microkernel/columns.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"

enum {
    MOST_CHANNELS = 8, /* 16 fill AVX-512 vectors, and gain nothing with shorter ones */
    FEW_CHANNELS = 4,
    REGISTERS = 16, /* at least */
    WIDE_LANES = 16,
    MOST_OFFSETS = 2048,        /* offsets in transposed x, on the stack */
    MOST_TRANSPOSED = 128 << 10 /* bytes of a transposed band, unless one row of y needs more */
};

/* Vectors of a row of y; the last may overlap the one before. */
static int64_t vectors_in_row(const struct window *w, int64_t lanes)
{
    return (w->out[2] + lanes - 1) / lanes;
}

static bool is_transposed(const struct window *w)
{
    return w->channels_last && w->in_c > 1;
}

/* Whether rows of x, channels last, can be transposed, and are worth it: each element is under more
 * than one tap. */
static bool takes_transposed(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!accepts_conv(region, why))
        return false;
    *why = "x is channels last, and its columns are apart, or under one tap, or too many taps lie "
           "over x";
    return w.rank < 3 && w.stride[2] == 1 && window_k_len(&w) > 1 &&
           window_k_len(&w) * w.in_c <= MOST_OFFSETS && band_width(&w) > w.pad[2];
}

static bool reads_columns(const struct region *region, int input)
{
    const struct window w = window_of_conv(region);

    return input == 0 && is_transposed(&w);
}

static bool accepts_conv_columns_anyway(const struct region *region, const char **why)
{
    const struct machine *machine = region->machine;
    const struct window w = window_of_conv(region);

    if (!(is_transposed(&w) ? takes_transposed(region, why) : takes_band(region, why)))
        return false;
    *why = "the machine has no vectors of known length, with shuffles and comparisons";
    if (machine->lanes <= 1 || machine->registers < REGISTERS ||
        (machine->arch != ARCH_X86_64 && machine->arch != ARCH_AARCH64 &&
         machine->arch != ARCH_WASM32))
        return false;
    *why = "it has groups, more than 8 output channels, or rows shorter than a vector";
    return w.groups == 1 && w.out_c <= MOST_CHANNELS && w.out[2] >= machine->lanes;
}

/* Whether so few results are computed twice that this beats a tile of channels, half of whose lanes
 * may be idle. */
static bool fills_vectors(const struct window *w, int64_t lanes)
{
    const int64_t computed = vectors_in_row(w, lanes) * lanes;

    return lanes == WIDE_LANES ? w->out[2] * 4 >= computed * 3 : w->out[2] * 8 >= computed * 7;
}

static bool accepts_conv_columns(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    const struct machine *machine = region->machine;

    if (!accepts_conv_columns_anyway(region, why))
        return false;
    *why = "it was measured on x86-64 only";
    if (machine->arch != ARCH_X86_64)
        return false;
    *why = "its columns are more than two apart, which are copied one by one";
    if (w.stride[2] > 2)
        return false;
    *why = "there is too little to compute for what it takes to make channels of pixels";
    if (machine->lanes != WIDE_LANES && window_k_len(&w) == 1 && w.out_channels_last && w.out_c > 1)
        return false;
    *why = "rows leave too much of their last vector over";
    if (!fills_vectors(&w, machine->lanes))
        return false;
    *why = "tiles of channels, of what need not be transposed, are faster";
    return !is_transposed(&w) || w.out_c <= FEW_CHANNELS ||
           (machine->lanes == WIDE_LANES && !accepts_winograd(region, &(const char *){ NULL }));
}

/* The place in the band of column i of a padded row. */
static const char *column(struct bind *bind, const struct window *w, const char *i)
{
    return w->stride[2] == 1
               ? i
               : arena_printf(bind->arena, "%s %% STRIDE_W * ROW_W + %s / STRIDE_W", i, i);
}

/* Binds the copies of rows of x. */
static void bind_copy(struct bind *bind, const struct window *w)
{
    const int64_t stride = w->stride[2], pad = w->pad[2];
    const bool halved = stride == 2, transposed = is_transposed(w);

    bind_flag(bind, "transposed", transposed);
    if (transposed)
        bind_helper(bind, "transpose_f32");
    keys_offer(bind->keys, "to_of_x", pad > 0 ? "&to[PAD_W]" : "to");
    bind_text(bind, "padded_w", "%s", band_covered(bind, w, 2, "(OUT_W - 1)"));
    bind_flag(bind, "strided", stride > 1);
    bind_flag(bind, "padded_in_front", pad > 0);
    bind_flag(bind, "padded_behind", pad + band_width_inside(w) < band_width(w));
    bind_text(bind, "in_front", pad > 0 ? "PAD_W + " : "");
    keys_offer(bind->keys, "column", column(bind, w, "i"));
    keys_offer(bind->keys, "column_of_x", column(bind, w, pad > 0 ? "(PAD_W + i)" : "i"));
    bind_flag(bind, "halved", halved);
    keys_offer(bind->keys, "halve", halved ? bind_halve_row(bind) : "");
    keys_offer(bind->keys, "halves",
               pad == 0       ? "to, &to[ROW_W]"
               : pad % 2 == 0 ? "&to[PAD_W / 2], &to[ROW_W + PAD_W / 2]"
                              : "&to[ROW_W + PAD_W / 2], &to[PAD_W / 2 + 1]");
}

/* Binds the band and returns its floats; a tile takes no more vectors than there are. */
static int64_t bind_columns_band(struct bind *bind, const struct window *w, struct columns *columns)
{
    const int64_t stride = w->stride[2], lanes = bind->machine->lanes;
    const int64_t wide = stride * lanes, width = (band_width(w) + wide - 1) / wide * wide;
    const int64_t rows = band_most_rows(w, w->in_c * width * (int64_t)sizeof(float),
                                        is_transposed(w) ? MOST_TRANSPOSED : BAND_BYTES);
    const int64_t vectors = rows * vectors_in_row(w, lanes);

    if (columns->vectors > vectors)
        columns->vectors = (int)vectors;
    bind_band_rows(bind, w, rows);
    bind_copy(bind, w);
    bind_text(bind, "band_offset", "(ic * BAND_H + kh%s) * BAND_W + %s",
              w->dil[1] > 1 ? " * DIL_H" : "",
              column(bind, w, w->dil[2] > 1 ? "kw * DIL_W" : "kw"));
    bind_text(bind, "by_row", w->stride[1] > 1 ? " * STRIDE_H" : "");
    return band_rows(w, rows) * w->in_c * width;
}

/* Binds where a vector's results begin, in y or an array of sums, and the microkernel's other
 * arguments. */
static void bind_results(struct bind *bind, const struct window *w, const struct columns *columns,
                         const struct epilogue_store *end)
{
    const bool batched = w->batch > 1;
    const char *pixel_stride = pixel_stride_of_y(bind->region, "OUT_C"), *step;

    keys_offer(bind->keys, "sum_shape",
               columns->planar ? "SUMS, VECTORS, LANES" : "VECTORS, LANES, SUMS");
    if (!end) {
        step = columns->planar ? "VECTORS * LANES" : "SUMS";
        bind_text(bind, "to",
                  columns->planar ? "sum[(block * VECTORS + v) * LANES]"
                                  : "sum[v * LANES * SUMS + block]");
    } else if (columns->planar) {
        step = "OUT_LEN";
        bind_text(bind, "to",
                  batched ? "y[(g * OUT_C + block) * OUT_LEN + begin[v]]"
                          : "y[block * OUT_LEN + begin[v]]");
    } else {
        step = pixel_stride;
        bind_text(bind, "to",
                  batched ? "y[(g * OUT_LEN + begin[v]) * %s + block]" : "y[begin[v] * %s + block]",
                  pixel_stride);
    }
    bind_text(bind, "results", "%s%s%s", columns->joined ? "" : ", ", columns->joined ? "" : step,
              end ? end->args : "");
}

static bool bind_conv_columns(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels(&w, tile_panel_of(bind->machine, w.out_c));
    const bool strided = operand_result(bind->region, 0).apart;
    const bool planar = !w.out_channels_last || (w.out_c == 1 && !strided);
    struct columns columns = columns_of(bind->machine, w.out_c, planar);
    const bool whole = w.out_c % columns.channels == 0;
    struct tile_place place = conv_tile_place(bind, &w);
    const int64_t band = bind_columns_band(bind, &w, &columns);
    struct epilogue_store end;
    bool stores, skips;

    place.across = true;
    stores = whole && (!columns.joined || (w.out_c == columns.channels && !strided)) &&
             epilogue_store_of(bind, &w, &place, "vector_f32", "LANES", &end);
    /* Results computed one by one are computed once only: y may lie over operands read beside
     * them. */
    skips = !stores && bind->region->fn->n_params > 1 && w.out[2] % bind->machine->lanes != 0;
    bind_flag(bind, "stores", stores);
    bind_int(bind, "vectors", columns.vectors);
    bind_int(bind, "channels", columns.channels);
    bind_flag(bind, "splat", columns.splat);
    bind_flag(bind, "skips", skips);
    keys_offer(bind->keys, "fresh", skips ? "done[v]" : "0");
    bind_text(bind, "tile_fn", "%s", bind_columns(bind, &columns, stores ? &end : NULL));
    bind_results(bind, &w, &columns, stores ? &end : NULL);
    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_conv_width(bind, &panels, "block");
    bind_text(bind, "weight_at", columns.splat ? "&copies[block * LANES]" : "&weight[block]");
    bind_scratch_numbers(
        bind, band + (columns.splat ? panels.len * panels_last_width(&panels) * bind->machine->lanes
                                    : 0));
    if (stores)
        return true;
    if (!bind_conv_position(bind, &w,
                            planar ? "sum[(i * VECTORS + v) * LANES + j]"
                                   : "sum[(v * LANES + j) * SUMS + i]"))
        return false;
    bind_text(bind, "oc", "i"); /* all panels together */
    return true;
}

const struct kernel kernel_conv_columns = {
    .name = "conv_columns",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_columns,
    .writes_strided = writes_conv_pixels,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_columns, bind_conv_columns },
               { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_columns_anyway, bind_conv_columns,
                 .late = true } },
};
