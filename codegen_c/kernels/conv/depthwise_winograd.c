/* depthwise_winograd.c - depthwise 3x3 convolutions in f32, channels last, by 1-D Winograd, on CPUs
 * whose FPU has separate pipes for additions.
 *
 * method   F(2, 3) in the vertical direction: for two rows of y, a kernel column takes 4 products
 *          and 8 additions instead of 6 products: 2/3 of the time if additions are free. Weights
 *          are transformed when they are loaded, once for all pixels; they stay in registers, as do
 *          the sums of three columns (12 and 12 of 32). Each input is loaded twice, and only y is
 *          stored. With 8 channels a vector holds two pixels, and the next begins at the second of
 *          them
 *
 * Error: a sum is rounded by a few 2^-24 of the sum of its products' magnitudes. With x and w the
 * largest magnitudes of a window and of a kernel, that is 24 x w, without Winograd 9 x w. */
#include <math.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/shuffle.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/conv/depthwise.h"
#include "codegen_c/microkernel/limits.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    K = 3,
    ROWS = 4,        /* rows of x under two rows of y */
    LANES = 16,      /* lanes of the CPU: fewer come with fewer registers */
    LEAST_LANES = 8, /* divides the channels: vectors do not overlap */
    FEWEST_ROWS = 3  /* with two rows and padding, the direct kernel has no more products */
};

/* Whether there is one row (column) of padding on both sides. */
static bool is_padded_by_one(const struct window *w, int dim)
{
    const int64_t behind = w->out[dim] - 1 + K - w->pad[dim] - w->in[dim];

    return w->k[dim] == K && w->stride[dim] == 1 && w->dil[dim] == 1 && w->pad[dim] <= 1 &&
           behind <= 1;
}

/* Whether the epilogue reads only constants beside the sums: sums may then wait in y, which
 * overlaps no operand. */
static bool reads_sums_only(const struct region *region)
{
    for (const struct node *node = region->anchor->next; node; node = node->next)
        for (int i = 0; i < node->n_inputs; i++)
            if (node->inputs[i]->kind == VALUE_PARAM)
                return false;
    return region->fn->ret->n_inputs == 1 && region->fn->ret->inputs[0]->type.dtype == DTYPE_F32;
}

static bool accepts_depthwise_winograd_anyway(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    struct limits limits;

    if (!accepts_depthwise(region, why))
        return false;
    *why = "--winograd off";
    if (region->winograd == WINOGRAD_OFF)
        return false;
    *why = "the machine has no vectors of 16 numbers";
    if (region->machine->lanes != LANES)
        return false;
    *why = "weights or data have to be decoded";
    if (data_is_small(region) || weight_is_small(region))
        return false;
    *why = "it is not 3 x 3 with a padding of at most one, without strides and dilation";
    if (w.rank != 2 || !is_padded_by_one(&w, 1) || !is_padded_by_one(&w, 2))
        return false;
    *why = "its channels are no multiple of 8, or have several results each";
    if (w.out_c != w.in_c || w.in_c % LEAST_LANES != 0)
        return false;
    *why = "what follows reads other data, too, or its result is no f32";
    if (!region_limits(region, &limits) && !reads_sums_only(region))
        return false;
    *why = "a weight is no finite number";
    return decode_are_finite(region->anchor->inputs[1]);
}

static bool accepts_depthwise_winograd(const struct region *region, const char **why)
{
    if (!accepts_depthwise_winograd_anyway(region, why))
        return false;
    *why = "additions have no units of their own, or the image is of two rows";
    return region->machine->adders != ADDERS_NONE && window_of_conv(region).out[1] >= FEWEST_ROWS;
}

/* Whether two neighbouring pixels' channels form one vector of x and of y: vectors of half the
 * length would mean twice as many products. */
static bool goes_abreast(const struct bind *bind, const struct window *w)
{
    return w->in_c == LEAST_LANES && !operand_input(bind->region, 0).apart &&
           !operand_result(bind->region, 0).apart && w->pad[2] == 1 && w->out[2] == w->in[2] &&
           w->out[2] % 2 == 0 && w->out[2] > 2;
}

static void bind_weight(struct bind *bind, const struct window *w)
{
    const struct panels panels = { .groups = 1,
                                   .n_rows = w->in_c,
                                   .len = K * K,
                                   .group_step = K * K,
                                   .row_step = K * K,
                                   .len_step = 1,
                                   .width = w->in_c };

    bind_panels(bind, "weight", 1, &panels, "[k_h, k_w, channels]");
}

/* Binds how weights become vectors, and the distance of results. */
static void bind_abreast(struct bind *bind, bool abreast, const struct row_vector *vector)
{
    bind_flag(bind, "abreast", abreast);
    bind_text(bind, "load", abreast ? "TWICE(" : "*(const %s *)", vector->type);
    bind_text(bind, "loaded", "%s", abreast ? ")" : "");
    bind_text(bind, "store_step", "%s",
              abreast ? "2 * CHANNELS" : pixel_stride_of_y(bind->region, "CHANNELS"));
    if (!abreast)
        return;
    bind_text(bind, "before", "%s",
              bind_shuffle(bind, "front_halves", "The front halves of a and b.",
                           "0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23"));
    bind_text(bind, "behind", "%s",
              bind_shuffle(bind, "inner_halves", "The back half of a, then the front half of b.",
                           "8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23"));
    /* Otherwise every second load crosses a cache line, twice. */
    bind_text(bind, "once", "%s", bind_vector_fn(bind, "once", vector->type));
}

/* Binds the epilogue's functions, applied after two rows of sums are in y. */
static bool bind_functions(struct bind *bind, const struct window *w, int64_t channels)
{
    struct position position;

    bind_helper(bind, "keep_loop");
    bind_int(bind, "n_channels", channels);
    bind_at(bind, w->batch > 1 ? "((n * OUT_H + row) * OUT_W + ow)" : "(row * OUT_W + ow)",
            "CHANNELS", "oc", &position);
    if (w->batch > 1)
        position.coord[0] = "n";
    if (w->out[1] > 1)
        position.coord[1] = "row";
    if (w->out[2] > 1)
        position.coord[2] = "ow";
    position.coord[3] = "oc";
    return bind_epilogue(bind, "y[at]", &position);
}

static bool bind_depthwise_winograd(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool batched = w.batch > 1;
    const bool abreast = goes_abreast(bind, &w);
    const int64_t channels = w.in_c % LANES == 0 ? LANES : LEAST_LANES;
    const struct row_vector vector = bind_row_vector(bind, abreast ? LANES : channels);
    struct limits limits;
    const bool limited = region_limits(bind->region, &limits);

    if (!limited)
        limits = (struct limits){ .low = -INFINITY, .high = INFINITY };
    bind_input(bind, "x", 0);
    bind_int(bind, "in_h", w.in[1]);
    bind_int(bind, "in_w", w.in[2]);
    bind_int(bind, "out_h", w.out[1]);
    bind_int(bind, "out_w", w.out[2]);
    bind_int(bind, "pad_top", w.pad[1]);
    bind_weight(bind, &w);
    bind_limits(bind, &limits);
    bind_text(bind, "limited_first", "%s",
              limit_text(bind, &limits, vector.type, "s##0 + s##1 + s##2"));
    bind_text(bind, "limited_second", "%s",
              limit_text(bind, &limits, vector.type, "s##1 - s##2 + s##3"));
    bind_pixel_strides(bind);
    bind_flag(bind, "batched", batched);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_text(bind, "in_step", "%s", pixel_stride_of_x(bind->region, "CHANNELS"));
    bind_text(bind, "out_step", "%s", pixel_stride_of_y(bind->region, "CHANNELS"));
    bind_text(bind, "vector", "%s", vector.type);
    bind_text(bind, "lanes", "%s", vector.lanes);
    bind_abreast(bind, abreast, &vector);
    bind_flag(bind, "fused", sums_are_fused(bind));
    bind_text(bind, "fuse", "%s", vector.fuse);
    bind_int(bind, "n_columns", K);
    bind_int(bind, "n_rows", ROWS);
    bind_flag(bind, "begins_outside", w.pad[2] > 0);
    bind_flag(bind, "ends_outside", w.in[2] - w.out[2] + w.pad[2] < K - 1);
    for (int r = 0; r < ROWS; r++)
        bind_text(bind, arena_printf(bind->arena, "row%d", r),
                  batched ? "(n * IN_H + ih%d)" : "ih%d", r);
    bind_text(bind, "out_row", batched ? "(n * OUT_H + oh)" : "oh");
    bind->region->config.winograd_tile = 2;
    bind_flag(bind, "functions", !limited);
    bind_text(bind, "wide", !limited && channels == LANES ? "WIDE WIDE_LOOPS" : "WIDE");
    return limited || bind_functions(bind, &w, channels);
}

/* Whether y may begin `overlap` pixels in front of x if it is written two rows at a time, column by
 * column: over nothing further right in the rows under them, nor in those under the next two. */
static bool two_rows_lie_over(const struct window *w, int64_t overlap)
{
    for (int64_t row = 0; row < w->out[1]; row += 2)
        for (int64_t at = row * w->out[2]; at < (row + 2) * w->out[2] && at < window_out_len(w);
             at++) {
            const int64_t over = at - overlap, first = row - w->pad[1], column = at % w->out[2];

            if (over < 0 || over / w->in[2] < first)
                continue;
            if (over % w->in[2] > column || (over / w->in[2] >= first + 2 && row + 2 < w->out[1]))
                return false;
        }
    return true;
}

/* Some channels of all pixels, then the next: pixels of y and x have the same size, and y begins as
 * few pixels in front of x as possible. Vectors that lay in one cache line still do. */
static bool overlaps_depthwise_winograd(const struct region *region, struct overlap *overlap)
{
    enum { LINE = 64 /* bytes */ };
    const struct window w = window_of_conv(region);
    const int64_t pixel = w.in_c * (int64_t)x_element_bytes(region);
    int64_t pixels = 0;

    overlap->exact = true;
    while (pixels * pixel % LINE != 0 || !two_rows_lie_over(&w, pixels))
        pixels++;
    overlap->bytes = (size_t)(pixels * pixel);
    return window_is_last(&w);
}

const struct kernel kernel_depthwise_winograd = {
    .name = "depthwise_winograd",
    .sums = SUMS_NOT_SIMULATED,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .overlaps = overlaps_depthwise_winograd,
    .forms = { { OPS(OP_CONV2D), accepts_depthwise_winograd, bind_depthwise_winograd },
               { OPS(OP_CONV2D), accepts_depthwise_winograd_anyway, bind_depthwise_winograd,
                 .late = true } },
};
