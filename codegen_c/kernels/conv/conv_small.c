/* conv_small.c - convolutions by register tiles whose weights or data are dequantised, a KC block at a
 * time; also rows times a constant matrix. Shapes as those of conv.c. */
#include <assert.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"

enum {
    KC = 32 /* KC block: weights of a channel, dequantised on the stack */
};

bool accepts_dense_small(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_small(region, why);
}

bool accepts_matmul_dense_small(const struct region *region, const char **why)
{
    if (!accepts_matmul_dense_rows(region, why) || !accepts_conv_small(region, why))
        return false;
    *why = "blocks of weights that share scales lie across the sums";
    return region->anchor->attrs.matmul.transpose_b || !type_has_blocks(anchor_input(region, 1));
}

static bool bind_conv_small(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct panels panels = conv_panels_of_anchor(bind, &w, tile_panel(bind->machine));
    const struct tile tile = bind_tile_f32(bind, 0, panels.n_rows,
                                           (struct tile_form){ .input = TILE_ROWS, .adds = true });
    const int64_t in_c = w.in_c / w.groups;
    /* With one tap a block never has several: the two forms do the same, and one function serves all channels. */
    const bool wide = in_c >= KC || (functions_are_shared(bind) && window_k_len(&w) == 1);
    int pixels, channels;

    tile_extents(bind->machine, 0, panels.n_rows, &pixels, &channels);
    assert(tile.most_pixels <=
           (bind->region->choice ? MOST_TILE_PIXELS : pixels)); /* its overlap */
    bind_data(bind);
    bind_conv_places(bind, &w);
    bind_conv_weights(bind, &panels);
    bind_conv_width(bind, &panels, "block");
    bind_text(bind, "tile_more", "%s", tile.fn);
    bind_int(bind, "panel", panels.width);
    bind_flag(bind, "together", bind->region->place.overlaps && panels.n_rows > panels.width);
    bind_flag(bind, "wide", wide);
    bind_int(bind, "kc", KC);
    bind_int(bind, "kc_taps", wide ? 1 : KC / in_c);
    bind_text(bind, "under", wide ? "CHUNK" : "CHUNK_TAPS * IN_C");
    bind_int(bind, "group", tile_group(bind->region));
    bind_flag(bind, "zeros_behind",
              machine_has_deep_stack(bind->machine) &&
                  panels_last_width(&panels) % tile.most_channels != 0);
    bind_text(bind, "panel_at", "%sblock * LEN", conv_group_start(bind, &w, &panels, "LEN"));
    bind_text(bind, "scale_row",
              w.groups == 1  ? "block"
              : w.batch == 1 ? "g * OUT_C + block"
                             : "g %% GROUPS * OUT_C + block");
    return bind_conv_position(bind, &w,
                              arena_printf(bind->arena, "sum[i / %s][j * %s + i %% %s]",
                                           tile.channels, tile.channels, tile.channels));
}

/* Tiles of pixels, panel by panel: with overlap, all panels of one group of tiles before the
 * next. */
static bool overlaps_conv_small(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);
    int pixels, channels;

    tile_extents(region->machine, 0, w.out_c, &pixels, &channels);
    if (region->choice) /* another tile, maybe */
        pixels = MOST_TILE_PIXELS;
    overlap->bytes = overlap_of_windows(region, &w, LEADING_TILES * pixels);
    return window_is_last(&w) && w.groups == 1;
}

const struct kernel kernel_conv_small = {
    .name = "conv_small",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_small,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_small, bind_conv_small },
               { OPS(OP_DENSE), accepts_dense_small, bind_conv_small },
               { OPS(OP_MATMUL), accepts_matmul_dense_small, bind_conv_small } },
};
