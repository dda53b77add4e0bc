/* winograd.c - see winograd.h.
 *
 * method   the inputs of a group of tiles are transformed to n^2 matrices [tiles, in_c]; register
 *          tiles (tile.h) multiply each by its matrix of weights; the products are transformed
 *          back, `tile` output channels at a time, right before the epilogue. Weights are
 *          transformed at compile time, or at run time, `depth` inputs at a time, without factors
 *          that the inputs get instead */
#include "codegen_c/kernels/conv/winograd.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "codegen_c/microkernel/tile.h"

enum {
    TAPS = 9,
    MOST_PAD = 2 /* so that each tile overlaps x */
};

/* Whether Winograd can compute it, be it faster or not. */
static bool takes_winograd(const struct region *region, struct window *out, const char **why)
{
    struct window w;

    if (!accepts_conv(region, why))
        return false;
    w = window_of_conv(region);
    *why = "the channels are not last";
    if (!w.channels_last || !w.out_channels_last)
        return false;
    *why = "it is no convolution of 3 x 3 with strides of 1 or 2, without dilation and groups";
    if (w.k[1] != 3 || w.k[2] != 3 || w.groups != 1 || w.stride[1] != w.stride[2] ||
        w.stride[1] > 2 || w.dil[1] * w.dil[2] != 1)
        return false;
    *why = "there are outputs that see nothing but padding";
    for (int i = 1; i < 3; i++)
        if (w.pad[i] > MOST_PAD || (w.out[i] - 1) * w.stride[i] + 3 - w.in[i] - w.pad[i] > MOST_PAD)
            return false;
    *out = w;
    return true;
}

bool accepts_winograd(const struct region *region, const char **why)
{
    struct window w;

    if (!takes_winograd(region, &w, why))
        return false;
    *why = "fewer multiplications do not pay for what they cost";
    return winograd_shape(region, &w).m > 0;
}

static bool accepts_winograd_anyway(const struct region *region, const char **why)
{
    struct window w;

    *why = "it is not asked for";
    return region->winograd == WINOGRAD_AUTO && takes_winograd(region, &w, why);
}

static int matrices_of(const struct winograd_shape *s)
{
    return (s->m + 2) * (s->m + 2);
}

static struct panels panels_of(struct bind *bind, const struct window *w,
                               const struct winograd_shape *s)
{
    struct panels panels = { .groups = 1,
                             .n_rows = w->out_c,
                             .len = matrices_of(s) * w->in_c,
                             .width = tile_panel(bind->machine),
                             .ragged = true };

    panels.slack = panels.width - panels_last_width(&panels);
    return panels;
}

/* Binds the scales of the weights for inner products, and their correction sums: scale, w_pairs,
 * and room_c, the number of each in a matrix. */
static void bind_pairs_of_weights(struct bind *bind, const struct winograd_shape *s,
                                  const struct panels *panels, const struct tile *tile,
                                  float *weights)
{
    const int64_t room =
        (panels->n_rows + tile->most_channels - 1) / tile->most_channels * tile->most_channels;
    const char *of = bind->region->anchor->inputs[1]->name;
    struct type type = type_scalar(DTYPE_F32);
    float *scales, *sums;

    type.rank = 2;
    type.dim[0] = matrices_of(s);
    type.dim[1] = room;
    scales = constant_alloc(bind->region->fn, &type);
    sums = constant_alloc(bind->region->fn, &type);
    winograd_scale_weights(s, weights, panels, room, scales, sums);
    bind_int(bind, "room_c", room);
    bind_text(bind, "scale", "%s",
              bind_quantized(bind, arena_printf(bind->arena, "%s.scale", of), &type, scales,
                             "powers of two"));
    bind_text(bind, "w_pairs", "%s",
              bind_quantized(bind, arena_printf(bind->arena, "%s.pairs", of), &type, sums,
                             "alternating sums of products of neighbours"));
}

/* Expected mean squares of the rows of transformed inputs: "42, 34, 34, 10". */
static void bind_usual_squares(struct bind *bind, const struct winograd_shape *s)
{
    struct str text = { .arena = bind->arena };

    for (int i = 0; i < s->n; i++)
        str_printf(&text, "%s%g", i ? ", " : "",
                   winograd_usual_square(s->m, s->stride, i < s->m + 1 ? i : s->m + 1));
    bind_text(bind, "usual", "%s", str_text(&text));
}

/* Packs untransformed 3 x 3 kernels, those of an input together. */
static void bind_kernels(struct bind *bind, const struct window *w, const struct winograd_shape *s)
{
    const int64_t len = TAPS * w->in_c;
    const struct panels panels = { .groups = 1,
                                   .n_rows = w->out_c,
                                   .len = len,
                                   .row_step = len,
                                   .len_step = 1,
                                   .width = tile_panel(bind->machine) };
    const int width = (int)panels.width;

    bind_panels(
        bind, "weight", 1, &panels,
        arena_printf(bind->arena, "[out_c / %d, in_c, %d, %d of out_c]", width, TAPS, width));
    bind_text(bind, "weight_shape", "[OUT_C / %d, IN_C, TAPS, %d]", width, width);
    bind_text(bind, "panel_at", "&weight[block / %d * %d * TAPS * IN_C + block %% %d]", width,
              width, width);
    bind_int(bind, "panel", width);
    bind_int(bind, "depth", s->depth);
}

static void bind_weights(struct bind *bind, const struct winograd_shape *s,
                         const struct panels *panels, const struct tile *tile)
{
    struct value *weights = bind->region->anchor->inputs[1];
    struct type type = type_scalar(DTYPE_F32);
    float *packed = winograd_weights(bind, s, weights, panels, &type);
    const int64_t rows = panels_rows(panels), last = panels_last_width(panels);
    const int width = (int)panels->width;

    if (s->pairs) {
        bind_pairs_of_weights(bind, s, panels, tile, packed);
        bind_usual_squares(bind, s);
    }
    bind_text(bind, "weight", "%s",
              bind_packed(bind, weights, &type, packed,
                          arena_printf(bind->arena,
                                       "transformed for tiles of %d x %d outputs: "
                                       "[out_c / %d, %d, in_c, %d of out_c]%s",
                                       s->m, s->m, width, matrices_of(s), width,
                                       s->pairs ? ", over scales" : "")));
    if (rows < width)
        bind_text(bind, "weight_shape", "[MATRICES, IN_C, %d]", (int)rows);
    else
        bind_text(bind, "weight_shape", "[OUT_C / %d, MATRICES, IN_C, %d]", width, width);
    if (last == width || rows == last)
        bind_int(bind, "width", last);
    else
        bind_text(bind, "width", "block < %d ? %d : %d", (int)(rows - last), width, (int)last);
    if (panels->n_rows > width)
        bind_text(bind, "panel_at", "&weight[block / %d * %d * MATRICES * IN_C + block %% %d]",
                  width, width, width);
    else
        bind_text(bind, "panel_at", "&weight[block]");
}

/* Whether some tile reaches beyond x. */
static bool reaches_outside(const struct window *w, const struct winograd_shape *s)
{
    for (int i = 1; i < 3; i++) {
        const int64_t before = (w->out[i] - 1) / s->m * s->m * s->stride; /* the last tile */

        if (w->pad[i] > 0 || before + s->n > w->in[i])
            return true;
    }
    return false;
}

static void bind_geometry(struct bind *bind, const struct window *w, const struct winograd_shape *s)
{
    const bool reaches = reaches_outside(w, s), strided = operand_input(bind->region, 0).apart;
    const char *pixel_stride = pixel_stride_of_x(bind->region, "IN_C");
    struct str steps = { .arena = bind->arena };

    bind_input(bind, "x", 0);
    bind_int(bind, "in_h", w->in[1]);
    bind_int(bind, "in_w", w->in[2]);
    bind_int(bind, "out_h", w->out[1]);
    bind_int(bind, "out_w", w->out[2]);
    if (w->pad[1])
        str_printf(&steps, "PAD_H = %" PRId64 ",%s", w->pad[1], w->pad[2] ? " " : "");
    if (w->pad[2])
        str_printf(&steps, "PAD_W = %" PRId64 ",", w->pad[2]);
    bind_text(bind, "steps", "%s", str_text(&steps));
    bind_text(bind, "pad_h", w->pad[1] ? " - PAD_H" : "");
    bind_text(bind, "pad_w", w->pad[2] ? " - PAD_W" : "");
    bind_flag(bind, "batched", w->batch > 1);
    bind_int(bind, "batch", w->batch);
    bind_int(bind, "in_c", w->in_c);
    bind_int(bind, "out_c", w->out_c);
    bind_int(bind, "m", s->m);
    bind_text(bind, "n", "%s", s->stride == 2 ? "2 * M + 1" : "M + 2");
    bind_text(bind, "stride", "%s", s->stride == 2 ? ", stride 2" : "");
    bind_text(bind, "between", "%s", s->stride == 2 ? "2 * M" : "M");
    bind_text(bind, "matrix", "%s",
              s->stride == 2
                  ? "((f / N > M ? M + 1 : f / N) * (M + 2) + (f % N > M ? M + 1 : f % N))"
                  : "f");
    bind_int(bind, "group", s->group);
    bind_int(bind, "gap", WINOGRAD_GAP);
    bind_flag(bind, "reaches", reaches);
    bind_pixel_strides(bind);
    bind_text(bind, "pixel_stride", "%s", pixel_stride);
    bind_flag(bind, "stepped", strided && reaches);
    bind_flag(bind, "strided", strided);
    bind_text(bind, "column", "%s", strided && reaches ? "column_step" : pixel_stride);
}

static const char *bind_transform(struct bind *bind, const char *which,
                                  const struct winograd_shape *s, const struct row_vector *vector)
{
    const char *kind = s->stride == 2 ? "strided_" : s->n == 8 ? "eight_" : "", *fn;
    const char *scaled = s->depth && strcmp(which, "input") == 0 ? "scaled_" : "";
    const char *name = arena_printf(bind->arena, "winograd%d_%s%s%s", s->m, kind, scaled, which);
    struct keys keys;

    if (vector->most != 16)
        name = arena_printf(bind->arena, "%s_%d", name, vector->most);
    fn = bind_own_helper(bind, name);
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_offer(&keys, "four", s->m == 4 ? "1" : "");
    keys_offer(&keys, "scaled", scaled);
    keys_offer(&keys, "m", arena_printf(bind->arena, "%d", s->m));
    keys_offer(&keys, "n", arena_printf(bind->arena, "%d", s->n));
    keys_offer(&keys, "vector", vector->type);
    return bind_new_helper(
        bind, name,
        arena_printf(bind->arena, "templates/helpers/winograd_%s%s.c.tmpl", kind, which), &keys);
}

const char *bind_winograd_input(struct bind *bind, int points, const struct row_vector *vector)
{
    const struct winograd_shape shape = { .m = points - 2, .stride = 1, .n = points };

    return bind_transform(bind, "input", &shape, vector);
}

/* Binds the vectors of input channels, and the two transforms. */
static void bind_transforms(struct bind *bind, const struct window *w,
                            const struct winograd_shape *s, const struct tile *tile)
{
    const struct row_vector vector = bind_row_vector(bind, w->in_c);

    bind_vector(bind);
    bind_text(bind, "lanes", "%s", vector.lanes);
    if (vector.overlaps)
        bind_text(bind, "channel", "block + %s < IN_C ? block : IN_C - %s", vector.lanes,
                  vector.lanes);
    else
        bind_text(bind, "channel", "block");
    bind_text(bind, "transform_input", "%s", bind_transform(bind, "input", s, &vector));
    bind_text(bind, "transform_output", "%s", bind_transform(bind, "output", s, &tile->vector));
    bind_text(bind, "out_lanes", "%s", tile->vector.lanes);
    if (s->depth)
        bind_text(bind, "transform_kernel", "%s", bind_transform(bind, "kernel", s, &tile->vector));
}

static bool bind_sums(struct bind *bind, const struct window *w, const struct tile *tile)
{
    struct position position;

    bind_at(bind,
            w->batch > 1 ? "((image * OUT_H + top + i) * OUT_W + left + j)"
                         : "((top + i) * OUT_W + left + j)",
            "OUT_C", "oc", &position);
    if (w->out_c > 1)
        position.coord[position.rank - 1] = "oc";
    bind_helper(bind, "keep_loop");
    return bind_epilogue(
        bind, arena_printf(bind->arena, "out[(i * M + j) * %s + c]", tile->channels), &position);
}

static struct tile bind_tile_of_shape(struct bind *bind, const struct window *w,
                                      const struct winograd_shape *s)
{
    if (s->depth)
        return bind_tile_f32(
            bind, s->tiles, w->out_c,
            (struct tile_form){ .input = TILE_ROWS, .fetch = FETCH_PACED, .adds = true });
    if (!s->pairs)
        return bind_tile_f32(
            bind, s->tiles, w->out_c,
            (struct tile_form){ .input = TILE_ROWS,
                                .fetch = bind->machine->far_l3 ? FETCH_PACED : FETCH_LINE });
    bind_vector(bind);
    bind_sums_of_pairs(bind, PAIRS_MOST);
    bind_text(bind, "step", pairs_want_one_pointer(bind->machine) ? "" : "IN_C, ");
    return bind_tile_of_pair_rows(bind, s->tiles, w->out_c,
                                  pairs_want_one_pointer(bind->machine) ? w->in_c : 0);
}

/* Binds what each tile prefetches of the next matrix, or the next kernels: a cache line per input;
 * or, with a slow L3, at the pace that delivers it just in time, as conv does. */
static void bind_fetch(struct bind *bind, const struct winograd_shape *s,
                       const struct panels *panels, const struct tile *tile)
{
    const int64_t lines = (panels->width + tile_line() - 1) / tile_line();
    const bool paced = s->depth || (!s->pairs && bind->machine->far_l3);

    bind_flag(bind, "paced", paced);
    bind_text(bind, "next", "%s", s->depth ? "kernels" : "matrix");
    bind_text(bind, "fetch_arg", "%s", paced ? ", FETCH" : "");
    if (paced) {
        const int64_t tiles =
            (s->group + tile->most_pixels - 1) / tile->most_pixels * (s->depth ? s->n * s->n : 1);
        const int64_t fetch = (panels->width * (s->depth ? TAPS : 1) + tiles - 1) / tiles;

        bind_int(bind, "fetch", fetch < tile_line() ? fetch : tile_line());
        bind_text(bind, "part", "FETCH * (t / %s)", tile->pixels);
    } else {
        bind_text(bind, "part", "%d * (t / %s %% %" PRId64 ")", tile_line(), tile->pixels, lines);
    }
}

/* Binds the worker partition (parallel.h): groups of tiles; or channels, if that leaves less to the
 * busiest worker, although each worker then transforms all inputs. */
static void bind_division(struct bind *bind, const struct window *w, const struct winograd_shape *s,
                          const struct tile *tile)
{
    const bool by_channels =
        bind->region->config.parts > 1 &&
        winograd_is_best_by_channels(w, s, tile->most_channels, bind->region->config.parts);

    bind_flag(bind, "by_channels", by_channels);
    if (by_channels)
        bind_text(bind, "first_block", "part_begin(this_part, OUT_C, %s)", tile->channels);
    else
        bind_text(bind, "first_block", "0");
}

static bool bind_winograd(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct winograd_shape s = winograd_chosen_shape(bind, &w);
    const struct panels panels = panels_of(bind, &w, &s);
    const struct tile tile = bind_tile_of_shape(bind, &w, &s);
    const bool ragged = w.out_c % panels.width != 0;
    const int64_t room = s.group + tile.most_pixels - 1;

    bind_geometry(bind, &w, &s);
    bind_flag(bind, "pairs", s.pairs);
    bind_flag(bind, "late", s.depth > 0);
    if (s.depth)
        bind_kernels(bind, &w, &s);
    else
        bind_weights(bind, &s, &panels, &tile);
    bind_transforms(bind, &w, &s, &tile);
    bind_text(bind, s.pairs ? "pairs_fn" : "tile_rows", "%s", tile.fn);
    if (s.depth)
        bind_text(bind, "patch", "kernel + N * DEPTH * %s", tile.channels);
    else
        bind_text(bind, "patch", s.pairs ? "x_pairs + N * N * ROOM" : "sum + N * N * SUM_STEP");
    bind_fetch(bind, &s, &panels, &tile);
    bind_division(bind, &w, &s, &tile);
    bind_flag(bind, "ragged", ragged);
    bind_text(bind, "n_channels", "%s", ragged ? "n_channels" : tile.channels);
    bind_scratch_numbers(
        bind, (int64_t)s.n * s.n *
                      (room * (w.in_c + tile.most_channels + s.pairs) + 2 * WINOGRAD_GAP + w.in_c) +
                  s.n * s.depth * tile.most_channels);
    bind->region->config.pairs = s.pairs;
    bind->region->config.winograd_tile = s.m;
    if (!s.depth)
        bind->region->config.winograd_more =
            (size_t)(panels_rows(&panels) * w.in_c * (matrices_of(&s) - TAPS) *
                     (int64_t)sizeof(float));
    return bind_sums(bind, &w, &tile);
}

const struct kernel kernel_winograd = {
    .name = "winograd",
    .sums = SUMS_NOT_SIMULATED,
    .reads_strided = reads_pixels,
    .writes_strided = writes_pixels,
    .forms = { { OPS(OP_CONV2D), accepts_winograd, bind_winograd },
               { OPS(OP_CONV2D), accepts_winograd_anyway, bind_winograd, .late = true } },
};
