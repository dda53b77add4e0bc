/* lead.c - see lead.h; and the overlap distances of the kernels, whose templates show the order of
 * loops. */
#include "codegen_c/core/lead.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_bf16.h"
#include "codegen_c/kernels/conv/conv_decoded.h"
#include "codegen_c/kernels/conv/conv_pairs.h"
#include "codegen_c/kernels/conv/depthwise.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/int8/qnn_depthwise.h"
#include "codegen_c/microkernel/amx.h"
#include "codegen_c/microkernel/conv_chunk.h"
#include "codegen_c/microkernel/dot.h"
#include "codegen_c/microkernel/tile.h"
#include "relay_ir/layout.h"

enum {
    LINE = 64, /* bytes */
    STEP = 16  /* offsets in the arena (PLAN_ALIGN): divides exact distances */
};

/* The first input coordinate along a dim that window o, or a later one, reads. */
static int64_t first_read(const struct window *w, int dim, int64_t o)
{
    const int64_t at = o * w->stride[dim] - w->pad[dim];

    return at > 0 ? at : 0;
}

/* The first input pixel that output pixel f, or a later one, reads; of volumes, the first of its
 * plane. */
static int64_t first_needed(const struct window *w, int64_t f)
{
    const int64_t column = f % w->out[2], row = f / w->out[2] % w->out[1];
    const int64_t plane = f / w->out[2] / w->out[1];
    int64_t needed, next;

    if (w->in[0] > 1 || w->out[0] > 1)
        return first_read(w, 0, plane) * w->in[1] * w->in[2];
    needed = first_read(w, 1, row) * w->in[2] + first_read(w, 2, column);
    next = first_read(w, 1, row + 1) * w->in[2];
    return row + 1 < w->out[1] && next < needed ? next : needed;
}

static size_t element_bytes(const struct value *value)
{
    return dtype_bytes(value->type.dtype);
}

size_t lead_of_windows(const struct region *region, const struct window *w, int64_t group)
{
    const int64_t x_pixel = w->in_c * (int64_t)element_bytes(anchor_source(region, 0));
    const int64_t y_pixel = w->out_c * (int64_t)element_bytes(region->fn->ret->inputs[0]);
    const int64_t n = window_out_len(w), step = group == GROUP_OF_ROW ? w->out[2] : 1;
    int64_t lead = 0;

    if (group == GROUP_OF_ROW)
        group = w->out[2];
    for (int64_t f = 0; f < n; f += step) {
        const int64_t end = f + group < n ? f + group : n;
        const int64_t ahead = end * y_pixel - first_needed(w, f) * x_pixel;

        lead = ahead > lead ? ahead : lead;
    }
    return (size_t)lead;
}

/* The same if everything under the windows of a group of pixels is read before any of these is
 * written, and nothing of it later. Groups are multiples of `step` pixels. */
static size_t lead_of_copies(const struct region *region, const struct window *w, int64_t step)
{
    const int64_t x_pixel = w->in_c * (int64_t)element_bytes(anchor_source(region, 0));
    const int64_t y_pixel = w->out_c * (int64_t)element_bytes(region->fn->ret->inputs[0]);
    const int64_t n = window_out_len(w);
    int64_t lead = 0;

    for (int64_t end = step; end < n; end += step) {
        const int64_t ahead = end * y_pixel - first_needed(w, end) * x_pixel;

        lead = ahead > lead ? ahead : lead;
    }
    return (size_t)lead;
}

/* Whether writes stay behind all reads still to come, for pixels of equal size in x and y, if
 * columns go down `rows` rows from `row` on, one column after the other or a few together. */
static bool strip_lies_over(const struct window *w, int64_t row, int64_t rows)
{
    for (int64_t end = 1; end <= w->out[2]; end++) {
        const int64_t written = (row + rows - 1) * w->out[2] + end;
        const int64_t next = end < w->out[2] ? row * w->out[2] + end : (row + rows) * w->out[2];

        if (next < window_out_len(w) && written > first_needed(w, next))
            return false;
    }
    return true;
}

/* Whether y may begin where x does: row by row, or, `doubling`, as many rows at a time as there are
 * above. */
static bool lies_over(const struct window *w, bool doubling)
{
    for (int64_t row = 0, rows; row < w->out[1]; row += rows) {
        rows = doubling && row > 1 ? row : 1;
        if (rows > w->out[1] - row)
            rows = w->out[1] - row;
        if (!strip_lies_over(w, row, rows))
            return false;
    }
    return true;
}

static bool is_last(const struct window *w)
{
    return w->channels_last && w->out_channels_last && w->batch == 1;
}

/* --- kernel.leads of each kernel -------------------------------------------------------------- */

/* Whether every tile would wait for all weights, as the L3 is slow (docs/lab/kernels.md). */
static bool weights_are_far(const struct region *region, const struct window *w)
{
    const int64_t n = w->out_c * w->in_c / w->groups * window_k_len(w);

    return region->machine->far_l3 && n * (int64_t)sizeof(float) > conv_near_bytes(region->machine);
}

/* Tiles of pixels, all channels of one before the next. With overlap bind drops NC blocks, so not
 * where that is much slower. */
bool leads_conv(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    struct dense dense;

    lead->bytes = lead_of_windows(region, &w, tile_most_pixels(region, w.out_c));
    /* Matrix products take this kernel for its NC blocks, which read all of x again. */
    return is_last(&w) && w.groups == 1 && !window_is_dense(region, &dense) &&
           !weights_are_far(region, &w);
}

/* Strips of pixels, as long as a tile at most. */
bool leads_conv_stationary(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = lead_of_windows(region, &w, MOST_TILE_PIXELS);
    return is_last(&w) && w.groups == 1;
}

/* As conv; not if all weights would have to be dequantised at once, and are many. */
bool leads_conv_pairs(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    int pixels, channels;

    tile_extents_of_pairs(region->machine, 0, w.out_c, &pixels, &channels);
    if (region->choice) /* another tile, maybe */
        pixels = MOST_TILE_PIXELS;
    lead->bytes = lead_of_windows(region, &w, pixels);
    return is_last(&w) && w.groups == 1 && pairs_are_decoded_at_once(region);
}

/* As many pixels as registers take, all channels of them before the next. */
bool leads_conv_amx(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    const struct amx_shape shape =
        amx_shape_of(window_out_len(&w), window_k_len(&w), w.in_c, w.out_c);

    lead->bytes = lead_of_windows(region, &w, (int64_t)shape.high * shape.rows);
    return is_last(&w) && !weights_are_far(region, &w);
}

/* Tiles of pixels, all channels of one before the next; the inputs of a tile are converted before
 * the tile is written. Not with NC blocks. */
bool leads_conv_bf16(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = lead_of_copies(region, &w, 1);
    return is_last(&w) && bf16_takes_all_channels(&w);
}

/* Tiles of pixels, panel by panel: with overlap, all panels of one group of tiles before the
 * next. */
bool leads_conv_small(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    int pixels, channels;

    tile_extents(region->machine, 0, w.out_c, &pixels, &channels);
    if (region->choice) /* another tile, maybe */
        pixels = MOST_TILE_PIXELS;
    lead->bytes = lead_of_windows(region, &w, LEADING_TILES * pixels);
    return is_last(&w) && w.groups == 1;
}

/* Groups of pixels, whose inputs are dequantised before they are written; once more for each part
 * of the channels, if not all sums fit. */
bool leads_conv_decoded(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    const int64_t group = decoded_group(&w);

    lead->bytes =
        group ? lead_of_windows(region, &w, group) : lead_of_copies(region, &w, decoded_step(&w));
    return is_last(&w);
}

/* Row by row. Dequantised data goes block by block of the channels: all rows of a block, then the
 * next. So y may begin exactly where x does, and only there, if pixels have the same size: a block
 * of a pixel of y lies over that block of the same or an earlier pixel of x. Whole rows of x are
 * dequantised before the rows of y at the same place are written; for strips that depends on the
 * window. */
bool leads_depthwise(const struct region *region, struct lead *lead)
{
    const struct window w = depthwise_window(region);
    const size_t x_bytes = element_bytes(anchor_source(region, 0));

    if (!is_last(&w))
        return false;
    lead->exact = data_is_small(region);
    if (lead->exact && (w.in_c != w.out_c || x_bytes != element_bytes(region->fn->ret->inputs[0])))
        return false;
    if (lead->exact && depthwise_goes_down_strips(region, &w))
        return lies_over(&w, true);
    if (lead->exact)
        return w.out[2] <= w.in[2] && w.pad[1] <= (w.k[1] - 1) * w.dil[1];
    lead->bytes = lead_of_windows(region, &w, GROUP_OF_ROW);
    return !weight_is_small(region);
}

/* Whether y may begin `lead` pixels in front of x if it is written two rows at a time, column by
 * column: over nothing further right in the rows under them, nor in those under the next two. */
static bool two_rows_lie_over(const struct window *w, int64_t lead)
{
    for (int64_t row = 0; row < w->out[1]; row += 2)
        for (int64_t at = row * w->out[2]; at < (row + 2) * w->out[2] && at < window_out_len(w);
             at++) {
            const int64_t over = at - lead, first = row - w->pad[1], column = at % w->out[2];

            if (over < 0 || over / w->in[2] < first)
                continue;
            if (over % w->in[2] > column || (over / w->in[2] >= first + 2 && row + 2 < w->out[1]))
                return false;
        }
    return true;
}

/* Some channels of all pixels, then the next: pixels of y and x have the same size, and y begins as
 * few pixels in front of x as possible. Vectors that lay in one cache line still do. */
bool leads_depthwise_winograd(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    const int64_t pixel = w.in_c * (int64_t)element_bytes(anchor_source(region, 0));
    int64_t pixels = 0;

    lead->exact = true;
    while (pixels * pixel % LINE != 0 || !two_rows_lie_over(&w, pixels))
        pixels++;
    lead->bytes = (size_t)(pixels * pixel);
    return is_last(&w);
}

/* As depthwise with dequantised data, all of it row by row. */
bool leads_depthwise_bf16(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->exact = true;
    return is_last(&w) &&
           element_bytes(anchor_source(region, 0)) == element_bytes(region->fn->ret->inputs[0]) &&
           w.out[2] <= w.in[2] && w.pad[1] <= (w.k[1] - 1) * w.dil[1];
}

/* Pixel by pixel, volumes included. */
bool leads_pool(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_pool(region);

    lead->bytes = lead_of_windows(region, &w, 1);
    return is_last(&w);
}

bool leads_pool_tiles(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_pool(region);

    lead->bytes = lead_of_windows(region, &w, GROUP_OF_ROW);
    return is_last(&w);
}

/* The bytes under a tile's windows are gathered before its sums are taken; in the low-scratch form
 * again for each panel, but no tile lies over what its own windows read. */
bool leads_qnn_conv_tiles(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = lead_of_windows(region, &w, dot_most_pixels(region->machine));
    return is_last(&w) && w.groups == 1;
}

bool leads_qnn_conv(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = lead_of_windows(region, &w, 1);
    return is_last(&w) && w.groups == 1;
}

bool leads_qnn_depthwise(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = lead_of_windows(region, &w, 1);
    return is_last(&w);
}

/* Row by row, block of channels by block within a row. */
bool leads_qnn_depthwise_rows(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);

    lead->bytes = depthwise_rows_are_copied(region, &w) ? lead_of_copies(region, &w, w.out[2])
                                                        : lead_of_windows(region, &w, GROUP_OF_ROW);
    return is_last(&w);
}

/* Runs of elements in the order of y. strided_slice reads each at its place in y or later;
 * depth_to_space moves everything under the first rows of blocks, then under the next. */
bool leads_copy(const struct region *region, struct lead *lead)
{
    const struct node *node = region->anchor;
    const struct value *x = anchor_source(region, 0);
    const struct ints *strides = &node->attrs.slice.strides;

    if (element_bytes(x) != element_bytes(region->fn->ret->inputs[0]))
        return false;
    if (node->op == OP_STRIDED_SLICE) {
        for (int i = 0; i < strides->n; i++)
            if (strides->at[i] < 0)
                return false;
        return true;
    }
    if (node->op != OP_DEPTH_TO_SPACE || !layout_is_last(node->attrs.block.layout) ||
        x->type.dim[0] != 1)
        return false;
    lead->bytes = type_bytes(&x->type) / (size_t)x->type.dim[1];
    return true;
}

/* Pixel by pixel. If each channel is a group, all pixels of one before the next, so that pixels lie
 * exactly over pixels of the same size. */
bool leads_exact_conv(const struct region *region, struct lead *lead)
{
    const struct window w = window_of_conv(region);
    const int64_t pixel = w.out_c * (int64_t)element_bytes(region->fn->ret->inputs[0]);

    lead->exact = w.groups > 1;
    lead->bytes = lead_of_windows(region, &w, 1);
    if (!lead->exact)
        return is_last(&w);
    if (w.in_c != w.groups || w.out_c != w.groups ||
        w.in_c * (int64_t)element_bytes(anchor_source(region, 0)) != pixel)
        return false;
    if (lies_over(&w, false))
        lead->bytes = 0;
    while (lead->bytes % (size_t)pixel != 0 || lead->bytes % STEP != 0)
        lead->bytes++;
    return is_last(&w);
}
