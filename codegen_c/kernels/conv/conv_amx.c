/* conv_amx.c - f32 convolutions with constant weights, and rows times a constant matrix, by AMX
 * (amx.h).
 *
 * All strides, dilations and paddings, 1-D to 3-D; x and y channels last; no groups.
 *
 * Weights are split into bf16 terms at compile time, 6 bytes each. The inputs under the kernel are
 * split for a block of pixels before any of their results is stored; all blocks of channels then
 * read them. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/dense/dense_accepts.h"
#include "codegen_c/microkernel/amx.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile_shape.h"

enum {
    PART = 2, /* bytes */
    NUMBER = 4,
    POINTER = 8,
    MOST_ON_STACK = 112 << 10, /* bytes of x's terms on the stack, with pointers to the inputs, */
    MOST_PARTS = 1 << 20,      /* or in the arena: half of the L2 */
    MOST_NC = 400 << 10,       /* and of the weights of an NC block, which few pixels wait for */
    CHANNELS = 64
};

static struct amx_shape shape_of(const struct window *w)
{
    return amx_shape_of(window_out_len(w), window_k_len(w), w->in_c, w->out_c);
}

/* Predicted cycles of conv, which has two products of 16 channels per cycle: with the start and end
 * of tiles, and waits for inputs (measured: 0.8 to 0.94 of the peak). */
static double vectors_time(const struct window *w)
{
    const double vectors = (double)(amx_channels(w->out_c) / AMX_LANES * window_out_len(w));

    return vectors * (1.1 * (double)(window_k_len(w) * w->in_c) / 2 + 2);
}

/* Whether int can index the weights' terms. */
static bool counts(const struct window *w)
{
    return amx_channels(w->out_c) * window_k_len(w) * amx_inputs(w->in_c) <= INT32_MAX / AMX_PARTS;
}

/* Bytes of the terms of the inputs of one block of pixels. */
static int64_t parts_bytes(const struct window *w, const struct amx_shape *shape)
{
    return PART * AMX_PARTS * shape->high * shape->rows * window_k_len(w) * amx_inputs(w->in_c);
}

static bool accepts_conv_amx(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    struct amx_shape shape;

    *why =
        "the machine has no AMX, or --winograd off, or --deterministic, or the rest of the network "
        "would lose more than this gains";
    if (!region->amx)
        return false;
    if (!accepts_conv(region, why))
        return false;
    *why = "there are groups, or channels are not last";
    if (w.groups > 1 || !w.channels_last || !w.out_channels_last)
        return false;
    shape = shape_of(&w);
    *why = "so few products are made faster by vectors";
    if (shape.time > 0.93 * vectors_time(&w))
        return false;
    *why = "there are too many inputs under the kernel";
    if (parts_bytes(&w, &shape) > MOST_PARTS)
        return false;
    *why = "a weight is no number, or there are too many of them";
    return counts(&w) && amx_takes_weights(region->anchor->inputs[1]);
}

static bool accepts_dense_amx(const struct region *region, const char **why)
{
    return accepts_dense_rows(region, why) && accepts_conv_amx(region, why);
}

static bool accepts_matmul_amx(const struct region *region, const char **why)
{
    return accepts_matmul_dense_rows(region, why) && accepts_conv_amx(region, why);
}

/* The NC block, whose weights stay in the L2; none with overlap, as each block reads x again. */
static int64_t nc_of(const struct bind *bind, const struct window *w)
{
    const int64_t len = window_k_len(w) * amx_inputs(w->in_c);
    const int64_t fit = MOST_NC / (AMX_PARTS * PART * len) / CHANNELS * CHANNELS;
    const int64_t most = fit ? fit : CHANNELS, n = (w->out_c + most - 1) / most;
    const int64_t nc = (w->out_c + n * CHANNELS - 1) / (n * CHANNELS) * CHANNELS;

    return bind->region->place.overlaps || nc >= w->out_c ? w->out_c : nc;
}

/* Channels computed together, of which the last may be fewer, and the functions that store their
 * sums. Returns how many. */
static int bind_channels(struct bind *bind, const struct amx_shape *shape, const struct window *w,
                         const struct epilogue_store *end)
{
    const int64_t all = amx_channels(w->out_c), step = 4 / shape->high * AMX_LANES;
    const int64_t most = all < step ? all : step, rest = all % most;
    const bool some = w->out_c % AMX_LANES != 0;
    const int wide = (int)(most / AMX_LANES), narrow = (int)(rest / AMX_LANES);

    bind_int(bind, "channels", most);
    bind_int(bind, "step", step);
    if (rest)
        bind_text(bind, "n_vectors", "OUT_C - block < %d ? %d : %d", (int)most, narrow, wide);
    else
        bind_int(bind, "n_vectors", wide);
    bind_flag(bind, "stores", end != NULL);
    if (!end)
        return (int)most;
    bind_flag(bind, "both", rest > 0);
    bind_flag(bind, "only_wide", rest == 0);
    keys_offer(bind->keys, "wide_fn", bind_amx_store(bind, shape, wide, end, some));
    keys_offer(bind->keys, "narrow_fn", rest ? bind_amx_store(bind, shape, narrow, end, some) : "");
    return (int)most;
}

static bool bind_conv_amx(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct amx_shape shape = shape_of(&w);
    const struct panels panels = conv_panels_of_anchor(bind, &w, AMX_LANES);
    const int pixels = shape.high * shape.rows;
    const bool pointwise = conv_is_pointwise(&w);
    const int64_t n_pointers = pixels * window_k_len(&w);
    const int64_t nc = nc_of(bind, &w);
    const bool on_stack = parts_bytes(&w, &shape) + n_pointers * POINTER <= MOST_ON_STACK;
    struct tile_place place = conv_tile_place(bind, &w);
    struct epilogue_store end;
    bool stores;
    int most;

    bind_text(bind, "products", "%s", bind_amx_products(bind, &shape, pointwise));
    if (!pointwise)
        bind_text(bind, "split", "%s", bind_amx_split(bind));
    place.some = w.out_c % AMX_LANES != 0;
    stores = epilogue_store_of(bind, &w, &place, "vector_f32", "LANES", &end);
    bind_conv_places(bind, &w);
    bind_text(bind, "weight", "%s", bind_amx_weights(bind, &panels));
    bind->region->config.amx_more =
        (size_t)(amx_channels(w.out_c) * window_k_len(&w) * amx_inputs(w.in_c) * AMX_PARTS * PART -
                 w.out_c * window_k_len(&w) * w.in_c * NUMBER);
    bind_int(bind, "pixels", pixels);
    bind_int(bind, "rows", shape.rows);
    bind_int(bind, "three", shape.high == 1);
    bind_flag(bind, "surplus", window_out_len(&w) % pixels != 0);
    bind_flag(bind, "pointwise", pointwise);
    if (w.in_c == amx_inputs(w.in_c))
        bind_text(bind, "inputs", "IN_C");
    else
        bind_text(bind, "inputs", "((IN_C + 31) / 32 * 32)");
    bind_flag(bind, "nc_blocks", nc < w.out_c);
    bind_int(bind, "nc", nc);
    bind_text(bind, "first_block", nc < w.out_c ? "chunk" : "0");
    if (w.out_c % nc == 0)
        bind_text(bind, "last_block", nc < w.out_c ? "chunk + CHUNK" : "OUT_C");
    else
        bind_text(bind, "last_block", "OUT_C && block < chunk + CHUNK");
    if (w.out_c <= 4 / shape.high * AMX_LANES)
        bind_text(bind, "x_parts", "x_first");
    else
        bind_text(bind, "x_parts", "block == %s ? x_first : NULL", nc < w.out_c ? "chunk" : "0");
    bind_flag(bind, "on_stack", on_stack);
    if (!on_stack) {
        bind_helper(bind, "first_line");
        bind_scratch(bind, (size_t)(parts_bytes(&w, &shape) + 63));
    }
    most = bind_channels(bind, &shape, &w, stores ? &end : NULL);
    if (stores) {
        bind_text(bind, "end_args", "%s, n_pixels, OUT_C - block%s", epilogue_store_y(bind, &place),
                  end.args);
        return true;
    }
    return bind_conv_rows(bind, &w, "s[i]", arena_printf(bind->arena, "%d", most));
}

/* As many pixels as registers take, all channels of them before the next. */
static bool overlaps_conv_amx(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    const struct amx_shape shape =
        amx_shape_of(window_out_len(&w), window_k_len(&w), w.in_c, w.out_c);

    overlap->bytes = overlap_of_windows(region, &w, (int64_t)shape.high * shape.rows);
    return window_is_last(&w) && !conv_weights_are_far(region, &w);
}

const struct kernel kernel_conv_amx = {
    .name = "conv_amx",
    .sums = SUMS_NOT_SIMULATED,
    .reads_strided = reads_conv_pixels,
    .writes_strided = writes_conv_pixels,
    .overlaps = overlaps_conv_amx,
    .forms = { { OPS(OP_CONV1D), accepts_conv_amx, bind_conv_amx },
               { OPS(OP_CONV2D, OP_CONV3D), accepts_conv_amx, bind_conv_amx, .late = true },
               { OPS(OP_DENSE), accepts_dense_amx, bind_conv_amx, .late = true },
               { OPS(OP_MATMUL), accepts_matmul_amx, bind_conv_amx, .late = true } },
};
