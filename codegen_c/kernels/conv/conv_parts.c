/* conv_parts.c - f32 convolutions with few pixels and more weights than a cache holds, in K-blocks;
 * x and y are channels last.
 *
 * needs    a slow L3 (machine.h): such layers wait for weights from there or from memory
 * method   as conv, with the same bits: all pixels of a panel of channels; but sums wait in scratch
 *          while one K-block of the weights is multiplied with all pixels, whatever the length of a
 *          sum. A K-block is so small that the next one is prefetched into the L2 meanwhile, at an
 *          even pace: prefetching faster than memory delivers holds up other loads */
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"

enum {
    LEAST_WEIGHTS = 1 << 20, /* bytes; fewer are left to conv */
    MOST_POSITIONS = 64,
    MOST_POINTERS = 1024, /* on the stack */
    PART = 128 << 10,     /* bytes of a K-block's weights */
    LEAST_DEPTH = 64      /* fewest inputs of a K-block: with fewer, sums are moved too often */
};

/* Inputs of a K-block: a divisor of in_c. */
static int64_t depth_of(int64_t in_c, int64_t panel)
{
    int64_t parts = 1;

    while (in_c / parts * panel * (int64_t)sizeof(float) > PART || in_c % parts != 0)
        parts++;
    return in_c / parts;
}

static bool accepts_conv_parts(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    const int64_t panel = tile_panel_of(region->machine, w.out_c);

    if (!accepts_conv(region, why))
        return false;
    *why = "the machine's third cache is near, or it has none";
    if (!region->machine->far_l3)
        return false;
    *why = "channels are not last, or fill no whole panels, or there are groups or images";
    if (!w.channels_last || !w.out_channels_last || w.groups * w.batch > 1 || w.out_c % panel != 0)
        return false;
    *why = "there are too many positions, or too few weights, or they have no equal parts";
    return window_out_len(&w) <= MOST_POSITIONS && depth_of(w.in_c, panel) >= LEAST_DEPTH &&
           window_k_len(&w) * (window_out_len(&w) + MOST_TILE_PIXELS) <= MOST_POINTERS &&
           window_k_len(&w) * w.in_c * w.out_c * (int64_t)sizeof(float) >= LEAST_WEIGHTS;
}

static bool bind_conv_parts(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels(&w, tile_panel_of(bind->machine, w.out_c));
    const int64_t positions = window_out_len(&w);
    const struct tile tile = bind_tile_of_parts(bind, positions, w.out_c);
    const int64_t tiles = (positions + tile.most_pixels - 1) / tile.most_pixels;

    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_flag(bind, "pointwise", conv_is_pointwise(&w));
    bind_text(bind, "tile_fn", "%s", tile.fn);
    bind_int(bind, "panel", panels.width);
    bind_int(bind, "depth", depth_of(w.in_c, panels.width));
    bind_int(bind, "fetch", conv_fetch(&panels, panels.width, &tile, positions));
    bind_scratch_numbers(bind, tiles * tile.most_pixels * tile.most_channels);
    bind_helper(bind, "keep_loop");
    return bind_conv_position(bind, &w, "sum[i]");
}

const struct kernel kernel_conv_parts = {
    .name = "conv_parts",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_parts, bind_conv_parts } },
};
