/* depthwise.c - depthwise convolutions, channels last. 1-D is bound as 2-D of height 1, or of width
 * 1 if its kernel is too wide for tiles of columns.
 *
 * method   an output row is cut into tiles of columns (row_tiles.h), with a variable for each sum.
 *          For one kernel row at a time, a statement per input column adds it, times the weights,
 *          to the sums of all windows over it. So rows are clipped by loop bounds, columns by
 *          leaving statements out */
#include "codegen_c/kernels/conv/depthwise.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/expr/codec.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/limits.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/row_tiles.h"

enum {
    HELD_K_W = 7,        /* weights of a kernel row in registers; wider ones are memory operands */
    MOST_K_W = 32,       /* otherwise tiles have too many statements */
    REGISTERS = 16,      /* of the CPUs with the fewest: sums, weights, an input and a product */
    MOST_MULTIPLIER = 3, /* output channels per input; with few channels tiles of output channels
                            are better */
    ENOUGH_CHANNELS = 8,
    BLOCK = 64,         /* channels at most; their sums are on the stack */
    WIDE_LANES = 16,    /* lanes of the widest vectors */
    DECODED_BLOCK = 16, /* of quantised data; the floats are scratch, or on the stack … */
    MOST_STRIP_ROWS = 5 /* … rows of a strip, at most */
};

static int most_columns(const struct window *w)
{
    const int left = w->k[2] > HELD_K_W ? MOST_TILE_COLUMNS : REGISTERS - 2 - (int)w->k[2];

    return left < MOST_TILE_COLUMNS ? left : MOST_TILE_COLUMNS;
}

/* Seven where that divides a row and functions are shared: maps of 112, 56, 28 columns have one function then. */
static int columns_of(const struct bind *bind, const struct window *w)
{
    const int most = most_columns(w);

    return functions_are_shared(bind) && !data_is_small(bind->region) &&
                   most == MOST_TILE_COLUMNS && w->out[2] % (most - 1) == 0 &&
                   has_row_tiles(w, most - 1)
               ? most - 1
               : most;
}

static bool has_tiles(const struct window *w)
{
    return w->k[2] <= MOST_K_W && has_row_tiles(w, most_columns(w));
}

static void turn(int64_t extent[3])
{
    const int64_t width = extent[2];

    extent[2] = extent[1];
    extent[1] = width;
}

/* The convolution's window as the kernel sees it. A 1-D convolution is a row, or, if a row has no
 * tiles, or of any length, a column (height and width exchanged). */
static struct window depthwise_window(const struct region *region)
{
    struct window w = window_of_conv(region);

    if (w.rank > 1 || (has_tiles(&w) && !region->size_varies))
        return w; /* the tiles of a row depend on its length, those of a column do not */
    turn(w.in);
    turn(w.out);
    turn(w.k);
    turn(w.stride);
    turn(w.dil);
    turn(w.pad);
    return w;
}

bool accepts_depthwise(const struct region *region, const char **why)
{
    const struct window w = depthwise_window(region);

    if (!takes_operands(region, why) || !takes_window(&w, why) || !takes_constant(region, 1, why))
        return false;
    *why = "the channels are not last";
    if (!w.channels_last || !w.out_channels_last)
        return false;
    *why = "an output channel reads more than one input channel";
    if (w.rank == 3 || w.in_c != w.groups ||
        (w.in_c < ENOUGH_CHANNELS && w.out_c > MOST_MULTIPLIER * w.in_c))
        return false;
    *why = "it is not computed in f32";
    if (anchor_output(region, 0)->dtype != DTYPE_F32)
        return false;
    *why = "the kernel is too wide, or misses the input somewhere";
    return has_tiles(&w);
}

/* Channels at a time: one of the widest vectors, whose sums compilers then keep in registers
 * through the epilogue; or a few overlapping vectors if fewer fit. */
static int64_t block_of(int64_t channels, bool decoded)
{
    if (decoded)
        return row_block(channels, DECODED_BLOCK);
    return channels % WIDE_LANES == 0 ? WIDE_LANES : row_block(channels, BLOCK);
}

/* Rows of x under a window. */
static int64_t rows_of(const struct window *w)
{
    return (w->k[1] - 1) * w->dil[1] + 1;
}

/* Floats of the rows that are kept. */
static int64_t kept_numbers(const struct window *w)
{
    return block_of(w->in_c, true) * rows_of(w) * w->in[2];
}

/* Whether quantised x is dequantised onto the stack, a strip of a few columns at a time: the first
 * row of y, then strips of as many rows as there are above (1, 2, 4 ...). Otherwise the rows of x
 * under a row of y are dequantised into scratch, each once, which is a tenth faster: strips
 * dequantise their borders twice. Strips are for regions whose scratch beside x may set the size of
 * the arena. Windows of stride 1 never have enough distance from the rows above. */
static bool depthwise_goes_down_strips(const struct region *region, const struct window *w)
{
    const size_t x_bytes = type_bytes(&anchor_source(region, 0)->type);

    return data_is_small(region) && w->stride[1] > 1 && w->out_c == w->in_c &&
           rows_of(w) <= MOST_STRIP_ROWS &&
           x_bytes + (size_t)kept_numbers(w) * sizeof(float) > region->largest;
}

/* --- one function for several regions --------------------------------------------------------- */

/* Whether the two have one function if they cut rows alike and read x alike. */
static bool is_alike(const struct bind *bind, const struct region *other)
{
    const struct region *region = bind->region;
    const struct node *a = region->fn->first, *b = other->fn ? other->fn->first : NULL;
    struct window w, x;

    if (other->config.kernel != region->config.kernel || !other->anchor || other->size_varies)
        return false;
    for (; a && b && a->op == b->op; b = b->next)
        a = a->next;
    if (a || b)
        return false;
    w = depthwise_window(region);
    x = depthwise_window(other);
    return memcmp(w.k, x.k, sizeof w.k) == 0 && memcmp(w.stride, x.stride, sizeof w.stride) == 0 &&
           memcmp(w.dil, x.dil, sizeof w.dil) == 0 && w.pad[2] == x.pad[2] && w.batch == x.batch &&
           w.out_c / w.in_c == x.out_c / x.in_c &&
           anchor_source(region, 0)->type.dtype == anchor_source(other, 0)->type.dtype &&
           anchor_input(region, 1)->dtype == anchor_input(other, 1)->dtype &&
           block_of(w.in_c, data_is_small(region) || weight_is_small(region)) ==
               block_of(x.in_c, data_is_small(other) || weight_is_small(other)) &&
           columns_of(bind, &w) == columns_of(bind, &x);
}

/* Whether the region is one of the network's, whose functions are shared; not of a stripe. */
static bool has_others(const struct bind *bind)
{
    return functions_are_shared(bind) && bind->region->index >= 0 &&
           bind_region_at(bind, bind->region->index) == bind->region;
}

/* The rows of all regions that may have this one's function; false: there are no others. */
static bool find_family(const struct bind *bind, struct row_family *family)
{
    const struct region *other;

    family->n = 0;
    for (int i = 0; has_others(bind) && (other = bind_region_at(bind, i)); i++) {
        struct window x;

        if (!is_alike(bind, other))
            continue;
        x = depthwise_window(other);
        if (!row_family_add(family, &x))
            break;
    }
    return family->n > 1;
}

/* Whether the pixel stride of x is a number of its own: that of a region with the same function is. */
static bool x_is_apart(const struct bind *bind)
{
    const struct window w = depthwise_window(bind->region);
    const struct region *other;
    struct row_family family;
    bool apart = operand_input(bind->region, 0).apart;

    if (apart || !has_others(bind))
        return apart;
    (void)find_family(bind, &family);
    for (int i = 0; !apart && (other = bind_region_at(bind, i)); i++) {
        struct window x;

        if (!is_alike(bind, other) || !operand_input(other, 0).apart)
            continue;
        x = depthwise_window(other);
        apart = rows_have_one_function(&family, &w, &x, columns_of(bind, &w));
    }
    return apart;
}

static const char *x_step(const struct bind *bind)
{
    return x_is_apart(bind) ? "IN_PIXEL_STRIDE" : "CHANNELS";
}

/* --- indices ---------------------------------------------------------------------------------- */

/* Indices of x and the weight for a row, column or tap: in x, or in the dequantised data. */
static void bind_places(struct bind *bind, const struct window *w)
{
    const bool coded = data_is_small(bind->region), small = weight_is_small(bind->region);
    const bool batched = w->batch > 1, multiplied = w->out_c > w->in_c;
    const char *row = w->dil[1] > 1 ? "top + kh * DIL_H" : "top + kh";

    if (coded)
        bind_text(bind, "row", "(%s) %% ROWS", row);
    else
        bind_text(bind, "row", "(%s%s)", batched ? "n * IN_H + " : "", row);
    bind_text(bind, "in", "%s",
              coded ? "rows" : bind_operand(bind, anchor_source(bind->region, 0)));
    bind_text(bind, "in_step", "%s", coded ? "CHUNK" : x_step(bind));
    bind_text(bind, "x_step", "%s", x_step(bind));
    bind_text(bind, "in_first", coded ? "c" : "first + c");
    bind_text(bind, "kernel", small ? "number" : "weight");
    bind_text(bind, "tap", multiplied ? "(m * K_H + kh) * K_W" : "kh * K_W");
    bind_text(bind, "w_step", small ? "CHUNK" : "CHANNELS");
    bind_text(bind, "w_first", small ? "c" : "first + c");
    bind_text(bind, "decoded_row", batched ? "(n * IN_H + n_rows)" : "n_rows");
}

static void bind_depthwise_weight(struct bind *bind, const struct window *w)
{
    const int64_t taps = window_k_len(w), multiplier = w->out_c / w->in_c;
    const struct type *type = anchor_input(bind->region, 1);
    const struct panels panels = { .groups = multiplier,
                                   .n_rows = w->in_c,
                                   .len = taps,
                                   .group_step = taps,
                                   .row_step = multiplier * taps,
                                   .len_step = 1,
                                   .width = w->in_c };
    const char *shape =
        multiplier > 1 ? "[MULTIPLIER, K_H, K_W, CHANNELS]" : "[K_H, K_W, CHANNELS]";

    bind_weight_taps(bind, &panels,
                     multiplier > 1 ? "[multiplier, k_h, k_w, channels]" : "[k_h, k_w, channels]");
    bind_text(bind, "weight_shape", "%s", shape);
    bind_text(bind, "n_taps", multiplier > 1 ? "MULTIPLIER * K_H * K_W" : "K_H * K_W");
    if (type->quant && type->quant->kind == QTYPE_BLOCKS) {
        const int64_t len = type->quant->block, n = (taps + len - 1) / len;
        const char *row = multiplier == 1 ? arena_printf(bind->arena, "t / %" PRId64, len)
                          : n == 1        ? "t / (K_H * K_W)"
                                          : arena_printf(bind->arena,
                                                         "(t / (K_H * K_W) * %" PRId64
                                                         " + t %% (K_H * K_W) / %" PRId64 ")",
                                                         n, len);

        if (multiplier * n == 1)
            bind_text(bind, "scale_at", "first + i");
        else
            bind_text(bind, "scale_at", "%s * CHANNELS + first + i", row);
    }
}

/* A block of the result's channels is contiguous: on PCs it is quantised, and operands are
 * dequantised, by vectors. */
static bool bind_rows_of_channels(struct bind *bind, const struct position *position, int64_t block)
{
    struct epilogue_row row = { .i = "i", .n = "CHUNK", .most = "CHUNK", .multiple = block };

    bind_start(bind, "CHANNELS", "first", position, &row.start);
    return bind_row_epilogue(bind, "sum[j * CHUNK + i]", position, &row);
}

/* Whether the epilogue runs in registers: bias and clamp, with nothing to dequantise on the
 * stack. */
static bool goes_straight(const struct region *region, const struct window *w,
                          struct limits *limits)
{
    return !data_is_small(region) && !weight_is_small(region) && w->out_c == w->in_c &&
           vectors_are_compared(region->machine) && region_limits(region, limits);
}

static void bind_once(struct bind *bind, const char *vector)
{
    const bool has = bind->machine->lanes == 0 || !machine_never_defines(bind->machine, "__AVX__");

    bind_text(bind, "once_from", "%s",
              has ? arena_printf(bind->arena, "%s(", bind_vector_fn(bind, "once", vector)) : "");
    bind_text(bind, "once_to", "%s", has ? ")" : "");
}

static void bind_straight(struct bind *bind, const struct window *w, const struct limits *limits,
                          const char *vector)
{
    const char *row = w->batch > 1 ? "(n * OUT_H + oh)" : "oh";
    const char *step = pixel_stride_of_y(bind->region, "CHANNELS"), *text;
    int at;

    bind_limits(bind, limits);
    text = limit_text(bind, limits, vector, limits->bias ? "@ + bias" : "@");
    at = (int)strcspn(text, "@");
    bind_text(bind, "limited_from", "%.*s", at, text); /* what stands around a sum */
    bind_text(bind, "limited_to", "%s", text + at + 1);
    bind_text(bind, "to", "(%s * OUT_W + ow) * %s + first + c", row, step);
    bind_text(bind, "out_step", "%s", step);
}

static bool bind_depthwise_epilogue(struct bind *bind, const struct window *w, int64_t block)
{
    const bool in_rows = bind->region->fn->ret->inputs[0]->type.dtype != DTYPE_F32 &&
                         machine_has_deep_stack(bind->machine) && w->out_c == w->in_c;
    struct position position;
    const int rank = w->rank + 2;

    bind_text(bind, "oc", w->out_c > w->in_c ? "(first + i) * MULTIPLIER + m" : "first + i");
    bind_at(bind, w->batch > 1 ? "((n * OUT_H + oh) * OUT_W + ow + j)" : "(oh * OUT_W + ow + j)",
            w->out_c > w->in_c ? "(CHANNELS * MULTIPLIER)" : "CHANNELS", "oc", &position);
    if (w->batch > 1)
        position.coord[0] = "n";
    if (w->out[1] > 1)
        position.coord[1] = "oh";
    if (w->out[2] > 1)
        position.coord[rank - 2] = "ow + j";
    if (w->out_c > 1)
        position.coord[rank - 1] = "oc";
    bind_helper(bind, "keep_loop");
    bind_flag(bind, "in_rows", in_rows);
    bind_flag(bind, "array", !in_rows);
    return in_rows ? bind_rows_of_channels(bind, &position, block)
                   : bind_epilogue(bind, "sum[j * CHUNK + i]", &position);
}

/* Binds how BLOCK values of a pixel are dequantised by vectors, into the kept rows or a strip's. */
static void bind_decoding(struct bind *bind, const struct window *w, bool strips, int64_t block)
{
    struct arena *arena = bind->arena;
    struct value *x = anchor_source(bind->region, 0);
    const bool coded = data_is_small(bind->region) && !anchor_decoder(bind->region->anchor, 0);
    const char *row = w->batch > 1 ? "(n * IN_H + n_rows)" : "n_rows";
    const char *from = arena_printf(arena, "(%s * IN_W + %siw) * %s + first", row,
                                    strips ? "left + " : "", x_step(bind));
    const char *to =
        arena_printf(arena, "&rows[(n_rows %% ROWS * %s + iw) * CHUNK]", strips ? "WIDTH" : "IN_W");
    const char *decode =
        coded ? codec_unpack(bind, &x->type, bind_operand(bind, x), from, "CHUNK", to, block)
              : NULL;

    bind_flag(bind, "by_vector", decode != NULL);
    bind_text(bind, "decode", "%s", decode ? decode : "");
}

static bool bind_depthwise(struct bind *bind)
{
    const struct window w = depthwise_window(bind->region);
    struct row_family family;
    const bool coded = data_is_small(bind->region), small = weight_is_small(bind->region);
    const bool strips = depthwise_goes_down_strips(bind->region, &w), kept = coded && !strips;
    const int64_t block = block_of(w.in_c, coded || small), rows = rows_of(&w);
    const struct row_vector vector = bind_row_vector(bind, block);
    struct limits limits;
    const bool straight = goes_straight(bind->region, &w, &limits);

    bind_data(bind);
    bind_helper(bind, "window");
    bind_once(bind, vector.type);
    bind_input(bind, "x", 0);
    bind_window(bind, &w);
    /* gcc's 16-lane loops are no help for rows of 8, which it would then compute one by one. */
    bind_text(bind, "wide", block % WIDE_LANES == 0 ? "WIDE WIDE_LOOPS" : "WIDE");
    bind_flag(bind, "batched", w.batch > 1);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "in_c", w.in_c);
    bind_int(bind, "c_block", block);
    bind_pixel_strides_of(bind, x_is_apart(bind));
    bind_flag(bind, "multiplied", w.out_c > w.in_c);
    bind_int(bind, "multiplier", w.out_c / w.in_c);
    bind_int(bind, "rows", rows);
    bind_flag(bind, "by_block", coded || small);
    bind_flag(bind, "strips", strips);
    bind_flag(bind, "kept", kept);
    bind_text(bind, "vector", "%s", vector.type);
    bind_text(bind, "lanes", "%s", vector.lanes);
    bind_text(bind, "channel",
              vector.overlaps ? "block + %s < CHUNK ? block : CHUNK - %s" : "block", vector.lanes,
              vector.lanes);
    bind_text(bind, "numbers", kept ? "rows + ROWS * IN_W * CHUNK" : "(float *)scratch");
    if (kept || small)
        bind_scratch_numbers(bind, (kept ? kept_numbers(&w) : 0) +
                                       (small ? block * window_k_len(&w) * w.out_c / w.in_c : 0));
    bind_depthwise_weight(bind, &w);
    bind_row_tiles(bind, &w, !strips && find_family(bind, &family) ? &family : NULL,
                   columns_of(bind, &w), sums_are_fused(bind) ? vector.fuse : NULL);
    bind_places(bind, &w);
    bind_decoding(bind, &w, strips, block);
    bind_flag(bind, "straight", straight);
    if (straight)
        bind_straight(bind, &w, &limits, vector.type);
    return straight || bind_depthwise_epilogue(bind, &w, block);
}

/* Row by row. Dequantised data goes block by block of the channels: all rows of a block, then the
 * next. So y may begin exactly where x does, and only there, if pixels have the same size: a block
 * of a pixel of y lies over that block of the same or an earlier pixel of x. Whole rows of x are
 * dequantised before the rows of y at the same place are written; for strips that depends on the
 * window. */
static bool overlaps_depthwise(const struct region *region, struct overlap *overlap)
{
    const struct window w = depthwise_window(region);
    const size_t x_bytes = x_element_bytes(region);

    if (!window_is_last(&w))
        return false;
    overlap->exact = data_is_small(region);
    if (overlap->exact && (w.in_c != w.out_c || x_bytes != y_element_bytes(region)))
        return false;
    if (overlap->exact && depthwise_goes_down_strips(region, &w))
        return overlap_lies_over(&w, true);
    if (overlap->exact)
        return w.out[2] <= w.in[2] && w.pad[1] <= (w.k[1] - 1) * w.dil[1];
    overlap->bytes = overlap_of_windows(region, &w, GROUP_OF_ROW);
    return !weight_is_small(region);
}

const struct kernel kernel_depthwise = {
    .name = "depthwise",
    .sums = SUMS_PLAIN,
    .fuses = true,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .overlaps = overlaps_depthwise,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_depthwise, bind_depthwise } },
};
