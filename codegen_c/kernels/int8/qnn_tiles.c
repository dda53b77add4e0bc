/* qnn_tiles.c - int8 convolutions and dense layers with constant weights, by dot products.
 *
 * The inputs under the kernel are gathered for a few output pixels at a time: one kernel for all
 * strides, dilations, paddings and layouts, at the price of one copy per output channels
 * products. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/window.h"
#include "codegen_c/microkernel/dot.h"

enum { X, W, X_ZERO, W_ZERO };
enum { FEW = 4 };         /* output channels of a group: fewer would leave tiles empty */
enum { MOST_BLOCKS = 8 }; /* most values of the knob */
enum { WIDE_LANES = 8 };  /* with fewer (SSE2) an unknown zero point costs what vectors gain */

/* How a patch is gathered on the stack: `len` elements at a time, in copies of `run`: kernel rows,
 * taps or, with 0, the rest of a tap or of the piece. */
struct patch_part {
    int64_t len, run;
    bool by_rows;
};

static int64_t divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* The fewest pieces, of about equal length, of whole runs and steps of four; false if a piece would
 * be too long. */
static bool part_of_runs(int64_t n, int64_t run, int64_t most_numbers, struct patch_part *part)
{
    const int64_t unit = run % 4 == 0 ? 1 : run % 2 == 0 ? 2 : 4; /* in runs */
    const int64_t most = most_numbers / (run * unit) * unit;

    if (most == 0)
        return false;
    part->run = run;
    part->len = run * unit * divide_up(divide_up(n, divide_up(n, most)), unit);
    return true;
}

static bool is_one_row(const struct window *w)
{
    return w->batch * window_out_len(w) == 1;
}

/* Contiguous elements, in x and in a patch, of a kernel row. */
static bool has_rows(const struct window *w)
{
    return w->dil[2] == 1 && (!w->channels_last || w->groups == 1);
}

/* Whether windows are the channels of one pixel, and contiguous. */
static bool is_pointwise(const struct window *w)
{
    return w->channels_last && w->groups == 1 && window_k_len(w) == 1 && !w->padded &&
           w->stride[1] == 1 && w->stride[2] == 1;
}

/* The fewest pieces of n elements, of about equal length, in steps of four. */
static int64_t even_part(int64_t n, int64_t most)
{
    return divide_up(n, 4 * divide_up(n, most)) * 4;
}

/* False for patches that are neither small, to be gathered whole, nor channels last. */
static bool part_of_patch(const struct window *w, const struct dot *dot, struct patch_part *part)
{
    const int64_t in_c = w->in_c / w->groups, taps = window_k_len(w), row = w->k[2] * in_c;
    const int64_t most = dot_most_part(is_one_row(w));

    *part = (struct patch_part){ .len = divide_up(dot->len, 4) * 4 };
    if (part->len <= most)
        return true;
    if (!w->channels_last)
        return false;
    part->by_rows = has_rows(w) && part_of_runs(w->k[0] * w->k[1], row, most, part);
    if (!part->by_rows && !part_of_runs(taps, in_c, most, part))
        part->len = even_part(in_c * taps, most);
    return true;
}

static size_t scratch_qnn_conv_tiles(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const struct dot dot = dot_of_conv_tiles(region, &w);
    struct patch_part part;

    return part_of_patch(&w, &dot, &part) ? dot_scratch(region->machine, &dot, is_one_row(&w)) : 0;
}

static bool accepts_qnn_conv_tiles(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    const struct dot dot = dot_of_conv_tiles(region, &w);

    if (w.rank == 3) {
        *why = "the convolution has three dimensions";
        return false;
    }
    if (dot.groups > 1 && dot.channels < FEW) {
        *why = "the groups have few channels";
        return false;
    }
    return takes_sizes(region, why) && takes_window(&w, why) && takes_dot(region, &dot, why);
}

/* Indices of inputs and results; `all`: channels of all groups. */
static void bind_conv_places(struct bind *bind, const struct window *w, bool quads)
{
    const bool many = w->groups > 1, planar = !w->channels_last;
    const char *all = many ? "(GROUPS * IN_C)" : "IN_C", *step = planar ? "1" : all;
    const char *image = w->batch > 1 ? "(first + p) / PLANE" : "";
    const char *in_len = arena_printf(bind->arena, "IN_H * IN_W * %s", all);

    bind_flag(bind, "many", many);
    bind_flag(bind, "planar", planar);
    bind_flag(bind, "rows", has_rows(w));
    bind_text(bind, "whose", many ? "a group" : "all groups");
    bind_text(bind, "step", "%s", step);
    bind_flag(bind, "quads", quads);
    bind_text(bind, "wide", quads ? "4" : "K_W");
    bind_flag(bind, "inside", has_rows(w) && window_k_len(w) > 1);
    bind_text(bind, "pixel_step", planar ? "" : " * %s", all);
    bind_flag(bind, "long_rows", has_rows(w) && !planar && !is_pointwise(w));
    bind_text(bind, "row", quads ? "4" : planar ? "K_W" : "ROW");
    bind_text(bind, "row_at", planar ? "(ic * IN_H + ih) * IN_W + left" : "(ih * IN_W + left) * %s",
              all);
    bind_text(bind, "in_shape", planar ? "[IN_C, IN_H, IN_W]" : "[IN_H, IN_W, %s]", all);
    bind_text(bind, "patch_shape",
              quads                  ? "[IN_C, K_H, K_W and one more]"
              : planar               ? "[IN_C, K_H, K_W]"
              : window_k_len(w) == 1 ? "[IN_C]"
                                     : "[K_H, K_W, IN_C]");
    bind_text(bind, "in_at", "%s%s%s%s%s", image, w->batch > 1 ? " * " : "",
              w->batch > 1 ? in_len : "", w->batch > 1 && many ? " + " : "",
              many           ? planar ? "g * IN_C * IN_H * IN_W" : "g * IN_C"
              : w->batch > 1 ? ""
                             : "0");
    bind_text(bind, "stored_at", many ? "(g * STORED + block)" : "block");
    bind_text(bind, "oc", many ? "g * OUT_C + block + i" : "block + i");
    all = many ? "(GROUPS * OUT_C)" : "OUT_C";
    if (w->out_channels_last)
        bind_text(bind, "at", "(first + p) * %s + oc", all);
    else if (w->batch == 1)
        bind_text(bind, "at", "oc * PLANE + first + p");
    else
        bind_text(bind, "at", "(%s * %s + oc) * PLANE + (first + p) %% PLANE", image, all);
}

/* Binds the NC block: all channels, unless tuning chooses fewer, whose weights stay in a cache
 * while all pixels go by; inputs are then gathered again for each block. */
static void bind_dot_nc_block(struct bind *bind, int64_t channels)
{
    int64_t values[MOST_BLOCKS], nc;
    int n = 0;

    values[n++] = channels;
    for (nc = DOT_BLOCK; nc < channels && n < MOST_BLOCKS; nc *= 2)
        values[n++] = nc;
    nc = bind_knob(bind, KNOB_NC, channels, n, values);
    if (bind->region->place.overlaps) /* then all channels of a position go together */
        nc = channels;
    bind_flag(bind, "nc_blocks", nc < channels);
    bind_int(bind, "nc", nc);
    bind_text(bind, "first_block", nc < channels ? "chunk" : "0");
    bind_text(bind, "last_block",
              nc >= channels      ? "OUT_C"
              : channels % nc > 0 ? "chunk + CHUNK && block < OUT_C"
                                  : "chunk + CHUNK");
}

/* Whether a tile's patches can be read from x in place: they have that layout and stay until all
 * channels, or with overlap those of one panel, are done. */
static bool lies_as_patches(const struct region *region, const struct window *w)
{
    return is_pointwise(w) && w->in_c % 4 == 0 &&
           (!region->place.overlaps || w->out_c <= DOT_BLOCK);
}

/* Whether patches are converted from where they lie in x, side by side, and not gathered before. */
static void bind_straight(struct bind *bind, bool side_by_side, int64_t len)
{
    const bool plain = dot_is_plain(bind->machine),
               straight = plain && side_by_side && len % 4 == 0;

    bind_flag(bind, "straight", straight);
    bind_flag(bind, "gathers", plain && !straight);
}

static void bind_pixels(struct bind *bind, const struct window *w, bool parts)
{
    const bool direct = !parts && lies_as_patches(bind->region, w) && !dot_is_plain(bind->machine);

    bind_flag(bind, "pointwise", !parts && is_pointwise(w));
    bind_straight(bind, !parts && is_pointwise(w), w->in_c);
    bind_text(bind, "filled", !parts && is_pointwise(w) ? "IN_C" : "(K_H * K_W * IN_C)");
    bind_flag(bind, "direct", direct);
    bind_text(bind, "unless_it_lies", direct ? " && !lies" : "");
}

static bool bind_qnn_conv_tiles(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct dot dot = dot_of_conv_tiles(bind->region, &w);
    struct patch_part part = { 0 };
    struct position position;

    part_of_patch(&w, &dot, &part);
    bind_type(bind);
    bind_input(bind, "x", X);
    bind_window(bind, &w);
    bind_int(bind, "run", part.run);
    bind_flag(bind, "by_rows", part.by_rows);
    bind_flag(bind, "by_taps", !part.by_rows && part.run > 0);
    bind_flag(bind, "by_runs", part.run > 0);
    bind_flag(bind, "by_pieces", part.run == 0);
    bind_text(bind, "pixels", w.batch > 1 ? "%" PRId64 " * PLANE" : "PLANE", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_conv_places(bind, &w, dot.quads);
    bind_dot(bind, &dot, is_one_row(&w), part.len);
    bind_dot_nc_block(bind, dot.channels);
    bind_text(bind, "turn", dot_is_plain(bind->machine) ? "" : " ^ dot_turn(X_SIGNED)");
    bind_pixels(bind, &w, bind->region->place.low_scratch && part.len < dot.len);
    position_by_division(bind, "at", &position);
    position.hoists = true;
    if (w.out_c > 1)
        position.coord[w.out_channels_last ? position.rank - 1 : 1] = "oc";
    return bind_sums_epilogue(bind, "acc", &position,
                              w.out_channels_last ? epilogue_lanes(bind, &position, dot.channels)
                                                  : 0);
}

/* Rows of x times one matrix: [out_c, in_c] of qnn.dense, [in_c, out_c] of qnn.matmul unless
 * transposed. */
/* The middle of the weights less their zero point, if these do not fit int8. Sums of the inputs,
 * made once for all channels, make up for it. */
static int64_t centre_of(const struct region *region, const struct dot *dot)
{
    const struct node *node = region->anchor;
    int64_t least = 0, greatest = 0;

    if (node->inputs[W]->kind != VALUE_CONSTANT || node->inputs[W_ZERO]->kind != VALUE_CONSTANT)
        return 0;
    for (int64_t channel = 0; channel < dot->channels; channel++)
        for (int64_t k = 0; k < dot->len; k++) {
            const int64_t number = dot_weight(region, dot, channel, k);

            least = number < least ? number : least;
            greatest = number > greatest ? number : greatest;
        }
    return least < INT8_MIN || greatest > INT8_MAX ? (least + greatest + 1) / 2 : 0;
}

static struct dot dot_of_dense(const struct region *region)
{
    const struct node *node = region->anchor;
    const struct type *b = anchor_input(region, W);
    const bool rows = node->op == OP_QNN_DENSE || node->attrs.matmul.transpose_b;
    const int64_t in_c = b->dim[b->rank - (rows ? 1 : 2)];
    const int64_t out_c = b->dim[b->rank - (rows ? 2 : 1)];

    struct dot dot = { .groups = 1,
                       .channels = out_c,
                       .len = in_c,
                       .channel_step = rows ? in_c : 1,
                       .minor = 1,
                       .major_step = rows ? 1 : out_c,
                       .any_zero = region->machine->lanes >= WIDE_LANES };

    if (dot.any_zero)
        dot.centre = centre_of(region, &dot);
    return dot;
}

static bool accepts_qnn_dense_tiles(const struct region *region, const char **why)
{
    const struct type *a = anchor_input(region, X), *b = anchor_input(region, W);
    struct dot dot;

    *why = "the operands are not rows and one matrix";
    if (a->rank < 2 || b->rank < 2 || type_span(b, 0, b->rank - 2) != 1 ||
        (region->anchor->op == OP_QNN_MATMUL && region->anchor->attrs.matmul.transpose_a))
        return false;
    dot = dot_of_dense(region);
    return takes_sizes(region, why) && takes_dot(region, &dot, why);
}

static int64_t rows_of(const struct region *region)
{
    const struct type *x = anchor_input(region, X);

    return type_span(x, 0, x->rank - 1);
}

static size_t scratch_qnn_dense_tiles(const struct region *region)
{
    const struct dot dot = dot_of_dense(region);

    return dot_scratch(region->machine, &dot, rows_of(region) == 1);
}

/* Binds the zero point of x, and the correction of sums if weights are centred. */
static void bind_zero_and_centre(struct bind *bind, const struct dot *dot)
{
    struct value *zero = bind->region->anchor->inputs[X_ZERO];
    const bool known = zero->kind == VALUE_CONSTANT;

    if (known)
        keys_offer(bind->keys, "zero",
                   ((const struct key *)map_get(&bind->keys->map, "x_zero"))->text);
    else
        bind_text(bind, "zero", "%s[0]", bind_operand(bind, zero));
    bind_flag(bind, "centred", dot->centre != 0);
    bind_int(bind, "centre", dot->centre);
}

static bool bind_qnn_dense_tiles(struct bind *bind)
{
    const struct dot dot = dot_of_dense(bind->region);
    const int64_t rows = rows_of(bind->region), part = even_part(dot.len, dot_most_part(rows == 1));
    struct position position;
    int lanes;

    bind_input(bind, "x", X);
    bind_flag(bind, "single", rows == 1);
    bind_int(bind, "rows", rows);
    bind_int(bind, "in_c", dot.len);
    bind_text(bind, "filled", "IN_C");
    bind_int(bind, "out_c", dot.channels);
    bind_dot(bind, &dot, rows == 1, part);
    bind_straight(bind, !bind->region->place.low_scratch || part >= dot.len, dot.len);
    if (rows > 1)
        bind_dot_nc_block(bind, dot.channels);
    bind_zero_and_centre(bind, &dot);
    position_by_division(bind, "at", &position);
    position.hoists = rows > 1;
    if (dot.channels > 1)
        position.coord[position.rank - 1] = rows == 1 ? "at" : "oc";
    lanes = dot.centre ? 0 : epilogue_lanes(bind, &position, dot.channels);
    return bind_sums_epilogue(bind, "acc", &position, lanes);
}

/* The bytes under a tile's windows are gathered before its sums are taken; in the low-scratch form
 * again for each panel, but no tile lies over what its own windows read. */
static bool overlaps_qnn_conv_tiles(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = overlap_of_windows(region, &w, dot_most_pixels(region->machine));
    return window_is_last(&w) && w.groups == 1;
}

const struct kernel kernel_qnn_conv_tiles = {
    .name = "qnn_conv_tiles",
    .sums = SUMS_NONE,
    .overlaps = overlaps_qnn_conv_tiles,
    .spares = scratch_qnn_conv_tiles,
    .forms = { { OPS(OP_QNN_CONV1D, OP_QNN_CONV2D), accepts_qnn_conv_tiles, bind_qnn_conv_tiles } },
};

const struct kernel kernel_qnn_dense_tiles = {
    .name = "qnn_dense_tiles",
    .sums = SUMS_NONE,
    .spares = scratch_qnn_dense_tiles,
    .forms = { { OPS(OP_QNN_DENSE, OP_QNN_MATMUL), accepts_qnn_dense_tiles,
                 bind_qnn_dense_tiles } },
};
