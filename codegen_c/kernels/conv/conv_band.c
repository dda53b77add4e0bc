/* conv_band.c - f32 convolutions with constant weights of few input channels, channels first: a row
 * band of x is copied with its padding and read, at offsets from the kernel's first element, by
 * register tiles. */
#include "codegen_c/kernels/conv/conv_band.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile_time.h"

enum { MOST_OFFSETS = 256 }; /* on the stack */

int64_t band_width(const struct window *w)
{
    return (w->out[2] - 1) * w->stride[2] + (w->k[2] - 1) * w->dil[2] + 1;
}

int64_t band_width_inside(const struct window *w)
{
    const int64_t behind = band_width(w) - w->pad[2];

    return behind < w->in[2] ? behind : w->in[2];
}

int64_t band_rows(const struct window *w, int64_t n)
{
    return (n - 1) * w->stride[1] + (w->k[1] - 1) * w->dil[1] + 1;
}

int64_t band_most_rows(const struct window *w, int64_t row_bytes, int64_t most)
{
    int64_t rows = 1;

    while (rows < w->out[1] && band_rows(w, rows + 1) * row_bytes <= most)
        rows++;
    return rows;
}

bool takes_band(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!accepts_conv(region, why))
        return false;
    *why = "x is not in planes, or too much lies under the kernel";
    return w.rank < 3 && (!w.channels_last || w.in_c == 1) &&
           window_k_len(&w) * (w.in_c / w.groups) <= MOST_OFFSETS && band_width(&w) > w.pad[2];
}

/* Whether the data exceeds the L2: read row by row, it suits memory. Otherwise copying unpadded
 * data gains nothing. */
static bool leaves_cache(const struct region *region)
{
    const size_t bytes =
        type_bytes(anchor_input(region, 0)) + type_bytes(&region->fn->ret->inputs[0]->type);

    return region->machine->l2_bytes > 0 && bytes > region->machine->l2_bytes;
}

static bool accepts_conv_band(const struct region *region, const char **why)
{
    if (!takes_band(region, why))
        return false;
    *why = "x has no padding, and with y it stays in the second cache";
    return window_of_conv(region).padded || leaves_cache(region);
}

const char *band_covered(struct bind *bind, const struct window *w, int dim, const char *last)
{
    const char *axis = dim == 1 ? "H" : "W";
    const char *step = w->stride[dim] > 1 ? arena_printf(bind->arena, " * STRIDE_%s", axis) : "";

    if (w->dil[dim] > 1)
        return arena_printf(bind->arena, "%s%s + (K_%s - 1) * DIL_%s + 1", last, step, axis, axis);
    return arena_printf(bind->arena, "%s%s + K_%s", last, step, axis);
}

void bind_band_rows(struct bind *bind, const struct window *w, int64_t rows)
{
    bind_int(bind, "band", rows);
    bind_text(bind, "band_h", "%s", band_covered(bind, w, 1, "(BAND - 1)"));
    bind_text(bind, "band_top", "oh%s%s", w->stride[1] > 1 ? " * STRIDE_H" : "",
              w->pad[1] > 0 ? " - PAD_H" : "");
    bind_int(bind, "width_copied", band_width_inside(w));
}

/* Rows that the next band needs as well are copied again. On a PC bands may exceed the L1, until
 * these are less than half of the new rows (docs/lab/kernels.md). */
static int64_t long_band(const struct region *region, const struct window *w, int64_t row_bytes)
{
    const int64_t most = (int64_t)region->machine->l2_bytes / 8;
    int64_t rows = band_most_rows(w, row_bytes, BAND_BYTES);

    if (!machine_has_deep_stack(region->machine))
        return rows;
    while (rows < w->out[1] && 2 * band_rows(w, rows) > 3 * rows * w->stride[1] &&
           band_rows(w, rows + 1) * row_bytes <= most)
        rows++;
    return rows;
}

static int64_t row_bytes_of(const struct window *w)
{
    return w->in_c / w->groups * band_width(w) * (int64_t)sizeof(float);
}

static size_t scratch_conv_band(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const int64_t row = row_bytes_of(&w), rows = long_band(region, &w, row);

    return rows > band_most_rows(&w, row, BAND_BYTES) ? (size_t)(band_rows(&w, rows) * row) : 0;
}

static void bind_band(struct bind *bind, const struct window *w, const struct tile *tile)
{
    const int64_t in_c = w->in_c / w->groups, width = band_width(w);
    const int64_t row = row_bytes_of(w);
    const int64_t rows = bind->region->place.low_scratch ? band_most_rows(w, row, BAND_BYTES)
                                                         : long_band(bind->region, w, row);

    bind_band_rows(bind, w, rows);
    bind_text(bind, "band_w", "%s", band_covered(bind, w, 2, "(OUT_W - 1)"));
    /* Zeros first, in one loop: gcc 12 -O3 miscompiles one loop per side and one for rows outside
     * of x. */
    bind_flag(bind, "padded_columns", band_width_inside(w) < width);
    bind_text(bind, "in_front", w->pad[2] > 0 ? "PAD_W + " : "");
    bind_text(bind, "band_offset", "(ic * BAND_H + kh%s) * BAND_W + kw%s",
              w->dil[1] > 1 ? " * DIL_H" : "", w->dil[2] > 1 ? " * DIL_W" : "");
    bind_text(bind, "band_pixel", "p / OUT_W%s * BAND_W + p %% OUT_W%s",
              w->stride[1] > 1 ? " * STRIDE_H" : "", w->stride[2] > 1 ? " * STRIDE_W" : "");
    bind_text(bind, "band_row_pixel", "row%s * BAND_W + left%s",
              w->stride[1] > 1 ? " * STRIDE_H" : "", w->stride[2] > 1 ? " * STRIDE_W" : "");
    /* The surplus pixels of a row's last tile read beyond it. */
    bind_scratch_numbers(bind, band_rows(w, rows) * in_c * width +
                                   (tile->most_pixels - 1) * w->stride[2]);
}

static bool bind_conv_band(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t columns = w.out_c / w.groups;
    const struct panels panels = conv_panels(&w, tile_panel_of(bind->machine, columns));
    const bool stepped = tiles_fill_rows(bind->machine, w.out[1], w.out[2], panels.n_rows);
    const struct tiled tiled = tiled_conv(&w, stepped);
    const struct tile_stores stores = { &w, conv_tile_place(bind, &w), false };
    const struct tile tile =
        stepped ? bind_tile_by_steps(bind, w.out[2], panels.n_rows, w.stride[2], &stores)
                : bind_tile_of_rows(bind, window_out_len(&w), panels.n_rows,
                                    (struct tile_form){ .input = TILE_OFFSETS }, &stores);

    bind_text(bind, "tile_fn", "%s", tile.fn);
    bind_flag(bind, "stepped", stepped);
    bind_text(bind, "under", stepped ? "under" : "tap");
    bind_band(bind, &w, &tile);
    bind_conv_weights(bind, &panels);
    tile_tell_features(bind, &tiled);
    return bind_conv_tiles(bind, &w, &panels, &tile);
}

const struct kernel kernel_conv_band = {
    .name = "conv_band",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_side_by_side,
    .writes_strided = writes_conv_pixels,
    .spares = scratch_conv_band,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_band, bind_conv_band } },
};
