/* band_winograd.c - f32 convolutions with constant weights of few input channels, channels first,
 * by 1-D Winograd: first layers whose kernels have many rows.
 *
 * method   F(m, r) in the vertical direction, with m + r - 1 = 6 points (0, 1, -1, 2, -2 and
 *          infinity) or 8 (1/2 and -1/2 as well). The kernel has r rows on every stride-th row of
 *          x, or fewer, padded with zeros; so each plane of x becomes `stride` planes. A band of x
 *          is copied, as in conv_band; the rows of a plane under m rows of y are transformed to 6
 *          or 8 lines, by vectors of columns; register tiles sum over all planes and the kernel's
 *          columns; the output transform makes m rows of y. So 6 stride, or 8 stride, products
 *          replace m k_h
 *
 * Errors: docs/lab/kernels.md. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv_band.h"
#include "codegen_c/kernels/conv/conv_places.h"
#include "codegen_c/kernels/conv/conv_tiles.h"
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/microkernel/limits.h"
#include "codegen_c/microkernel/pairs.h"
#include "codegen_c/microkernel/pixel_stride.h"

enum {
    MOST_POINTS = 8,
    FEWEST_ROWS = 2, /* rows of y at a time */
    FEWEST_TAPS = 3  /* F(5, 2), of 3 x 3 with stride 2, gains nothing */
};

/* Costs per vector, in multiply-adds; measured on a Zen 5 (docs/lab/kernels.md). */
enum {
    SUM = 2,       /* a sum besides its products: conv_band's, and of each point */
    RESULT = 4,    /* a result, from the sums of all points */
    TRANSFORM = 4, /* a vector of a transformed line */
    PERCENT = 90   /* of the direct products' time; the rest is for what the model lacks */
};

/* F(m, r), with `points` products. */
struct rows {
    int points;
    int64_t m; /* rows of y at a time; 0 = impossible */
    int64_t r; /* kernel rows on every stride-th row of x */
};

static struct rows rows_of(const struct window *w, int points)
{
    const int64_t r = (w->k[1] + w->stride[1] - 1) / w->stride[1], m = points + 1 - r;

    return (struct rows){ points, m >= FEWEST_ROWS && w->out[1] >= FEWEST_ROWS ? m : 0, r };
}

static int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static int64_t planes_of(const struct window *w)
{
    return w->in_c * w->stride[1];
}

/* Planes under all r kernel rows; of the others the last row is zeros, as are the weights at
 * infinity, whose products are skipped. */
static int64_t full_planes(const struct window *w)
{
    return ((w->k[1] - 1) % w->stride[1] + 1) * w->in_c;
}

/* Columns of the band and of the lines: whole vectors. */
static int64_t line_width(const struct region *region, const struct window *w)
{
    return round_up(band_width(w), region->machine->lanes);
}

/* Whether 1-D Winograd can compute it, be it faster or not. */
static bool accepts_band_winograd_anyway(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!takes_band(region, why))
        return false;
    *why = "--winograd says otherwise";
    if (region->winograd != WINOGRAD_AUTO)
        return false;
    *why = "the machine has no vectors of known length, no second cache, or a small stack";
    if (!machine_has_deep_stack(region->machine))
        return false;
    *why = "it has one row, groups, dilated rows, or a kernel of too few or too many rows";
    if (w.rank != 2 || w.groups > 1 || w.dil[1] > 1 || rows_of(&w, MOST_POINTS).r < FEWEST_TAPS ||
        rows_of(&w, MOST_POINTS).m == 0)
        return false;
    *why = "a weight is no finite number";
    return decode_are_finite(region->anchor->inputs[1]);
}

static int64_t time_of(const struct region *region, const struct window *w, const struct rows *rows)
{
    const int64_t groups = (w->out[1] + rows->m - 1) / rows->m;
    const int64_t planes = planes_of(w), lanes = region->machine->lanes;
    const int64_t len = planes * w->k[2], last = full_planes(w) * w->k[2];
    const int64_t vectors = (w->out_c + lanes - 1) / lanes;
    int pixels, channels;

    tile_extents(region->machine, w->out[2], w->out_c, &pixels, &channels);
    return groups * (round_up(w->out[2], pixels) * vectors *
                         ((rows->points - 1) * len + last + rows->points * SUM) +
                     rows->m * w->out[2] * vectors * RESULT +
                     rows->points * planes * (line_width(region, w) / lanes) * TRANSFORM);
}

/* The faster of six and eight points. */
static struct rows fastest(const struct region *region, const struct window *w)
{
    const struct rows six = rows_of(w, 6), eight = rows_of(w, MOST_POINTS);

    return six.m && time_of(region, w, &six) <= time_of(region, w, &eight) ? six : eight;
}

static bool accepts_band_winograd(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);
    int64_t vectors, direct;
    struct rows rows;

    if (!accepts_band_winograd_anyway(region, why))
        return false;
    rows = fastest(region, &w);
    vectors = (w.out_c + region->machine->lanes - 1) / region->machine->lanes;
    direct = window_out_len(&w) * vectors * (window_k_len(&w) * w.in_c + SUM);
    *why = "fewer multiplications do not pay for what they cost";
    return time_of(region, &w, &rows) * 100 < direct * PERCENT;
}

/* The chosen one; by default the fastest. */
static struct rows chosen_rows(struct bind *bind, const struct window *w)
{
    const struct rows six = rows_of(w, 6), eight = rows_of(w, MOST_POINTS);
    const int64_t sizes[] = { eight.m, six.m };
    const int64_t m =
        bind_knob(bind, KNOB_WINOGRAD, fastest(bind->region, w).m, six.m ? 2 : 1, sizes);

    return m == six.m ? six : eight;
}

/* The transformed kernel over all columns of all planes, [out_c, planes, k_w, points]. Plane phase
 * * in_c + ic has rows phase, phase + stride, ... of channel ic; at each point it is the polynomial
 * of these rows, over the product of the point's distances from the others. */
static float *transformed(struct bind *bind, const struct window *w, const struct rows *rows)
{
    static const double point[] = { 0, 1, -1, 2, -2, 0.5, -0.5 };
    static const double over_six[] = { 4, -6, -6, 24, 24 };
    static const double over_eight[] = { 1, -4.5, -4.5, 90, 90, 1.40625, 1.40625 };
    const double *const over = rows->points == MOST_POINTS ? over_eight : over_six;
    const int64_t stride = w->stride[1], columns = w->k[2], last = rows->r - 1;
    const float *from = bind->region->anchor->inputs[1]->data; /* OIHW */
    float *const to =
        arena_array(bind->arena, float, w->out_c *planes_of(w) * rows->points * columns);
    float *next = to;

    for (int64_t oc = 0; oc < w->out_c; oc++)
        for (int64_t plane = 0; plane < planes_of(w); plane++)
            for (int64_t kw = 0; kw < columns; kw++) {
                const int64_t phase = plane / w->in_c, channel = oc * w->in_c + plane % w->in_c;
                const float *const column = &from[channel * w->k[1] * columns + kw];
                const int64_t n_rows = (w->k[1] - phase + stride - 1) / stride;

                for (int f = 0; f < rows->points - 1; f++) {
                    double sum = 0;

                    for (int64_t i = n_rows - 1; i >= 0; i--)
                        sum = sum * point[f] + column[(i * stride + phase) * columns];
                    *next++ = (float)(sum / over[f]);
                }
                *next++ = n_rows > last ? column[(last * stride + phase) * columns] : 0;
            }
    return to;
}

/* The product of the lines: one row per point, the columns of all planes side by side. */
static struct window lines_of(const struct window *w, const struct rows *rows)
{
    struct window lines = *w;

    lines.in_c = planes_of(w) * w->k[2];
    lines.k[1] = rows->points;
    lines.k[2] = 1;
    return lines;
}

static void bind_weights(struct bind *bind, const struct window *w, const struct rows *rows,
                         const struct panels *panels)
{
    struct value *value = bind->region->anchor->inputs[1], lines = *value;
    struct type type = type_scalar(DTYPE_F32);
    const int width = (int)panels->width;

    lines.data = transformed(bind, w, rows);
    bind_text(bind, "weight", "%s",
              bind_packed(bind, value, &type, panels_make(bind, &lines, panels, &type),
                          arena_printf(bind->arena,
                                       "transformed for %d rows of y: [out_c / %d, %d, "
                                       "planes, k_w, %d of out_c]",
                                       (int)rows->m, width, rows->points, width)));
    if (panels->n_rows > width) {
        bind_text(bind, "weight_shape", "[OUT_C / %d, POINTS, PLANES, K_W, %d]", width, width);
        bind_text(bind, "weight_at", "&weight[block / %d * %d * POINTS * LEN + block %% %d]", width,
                  width, width);
    } else {
        bind_text(bind, "weight_shape", "[POINTS, PLANES, K_W, %d]", (int)panels_rows(panels));
        bind_text(bind, "weight_at", "&weight[block]");
    }
}

/* Row `row` of m as a C expression: powers of the points times sums, or differences, of opposite
 * points' sums. */
static const char *sum_of_row(struct bind *bind, const struct rows *rows, int row)
{
    const char *of = row % 2 ? "odd" : "even";
    struct str text = { .arena = bind->arena };

    str_printf(&text, "%s%s1 + %s2", row ? "" : "p0 + ", of, of);
    if (row)
        str_printf(&text, " * %d.0f", 1 << row);
    if (rows->points == MOST_POINTS)
        str_printf(&text, " + %s_half", of);
    if (row && rows->points == MOST_POINTS)
        str_printf(&text, " * %gf", 1.0 / (1 << row));
    if (row + 1 == rows->m)
        str_printf(&text, " + p%d", rows->points - 1);
    return str_text(&text);
}

/* Requests the output transform of m rows: to y if end is not NULL, else to an array. */
static const char *bind_output(struct bind *bind, const struct rows *rows,
                               const struct row_vector *vector, const struct epilogue_store *end)
{
    const char *name = arena_printf(bind->arena, "winograd_%d_of_%d_rows%s%s", (int)rows->m,
                                    rows->points, end ? "_stores" : "", end ? end->name : "");
    const char *fn;
    struct keys keys;

    if (vector->most != 16)
        name = arena_printf(bind->arena, "%s_%d", name, vector->most);
    fn = bind_own_helper(bind, name);
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "points", rows->points);
    keys_set_int(&keys, "m", rows->m);
    keys_set_int(&keys, "taps", rows->r);
    keys_set_flag(&keys, "eight", rows->points == MOST_POINTS);
    keys_set(&keys, "vector", vector->type);
    for (int i = 0; i < rows->m; i++)
        keys_set(&keys, arena_printf(bind->arena, "sum%d", i), sum_of_row(bind, rows, i));
    keys_set_flag(&keys, "stores", end != NULL);
    keys_offer(&keys, "channels", end && *end->channel ? "1" : "");
    keys_offer(&keys, "end_params", end ? end->params : "");
    keys_offer(&keys, "end_channel", end ? end->channel : "");
    keys_offer(&keys, "end_shared", end ? end->shared : "");
    keys_offer(&keys, "end",
               end ? epilogue_store_text(bind, end, "(sum)", "y[j * step]", false, false) : "");
    return bind_new_helper(bind, name, "templates/helpers/winograd_rows_output.c.tmpl", &keys);
}

/* Binds the output transform by vectors of channels, stored to y if these are whole and the
 * epilogue has a vector text. False after errors. */
static bool bind_results(struct bind *bind, const struct window *w, const struct rows *rows,
                         const struct panels *panels, const struct tile *tile)
{
    const struct row_vector *vector = &tile->vector;
    const int own = bind->machine->lanes, lanes = vector->most < own ? vector->most : own;
    struct tile_place place = conv_tile_place(bind, w);
    struct epilogue_store end;
    bool stores;

    place.pixel = w->batch > 1 ? "(g * OUT_LEN + first + j)" : "(first + j)";
    place.channel = "block + i";
    place.apart = "OUT_W";
    stores = w->out_c % lanes == 0 && vectors_are_compared(bind->machine) &&
             epilogue_store_of(bind, w, &place, vector->type, vector->lanes, &end);
    bind_flag(bind, "stores", stores);
    bind_text(
        bind, "results", "%s",
        stores ? arena_printf(bind->arena, "%s, n_rows%s", epilogue_store_y(bind, &place), end.args)
               : arena_printf(bind->arena, "&out[j * %s + i], %s * %s", tile->channels,
                              tile->pixels, tile->channels));
    bind_text(bind, "transform_output", "%s",
              bind_output(bind, rows, vector, stores ? &end : NULL));
    bind_text(bind, "out_lanes", "%s", vector->lanes);
    bind_conv_channels(bind, panels, tile);
    if (stores)
        return true;
    if (w->out_channels_last)
        bind_helper(bind, "keep_loop");
    return bind_conv_position(
        bind, w,
        arena_printf(bind->arena, "out[(r * %s + j) * %s + i]", tile->pixels, tile->channels));
}

/* Rows of y whose band is copied: a fraction of the L2, or what m rows need. */
static int64_t band_of(const struct region *region, const struct window *w, const struct rows *rows)
{
    const int64_t m = rows->m, all = round_up(w->out[1], m);
    const int64_t row = w->in_c * line_width(region, w) * w->stride[1] * (int64_t)sizeof(float);
    const int64_t fit = (int64_t)region->machine->l2_bytes / 16 / row - (rows->r - 1);
    const int64_t band = fit < m ? m : fit / m * m;

    return band < all ? band : all;
}

static void bind_band(struct bind *bind, const struct window *w, const struct rows *rows,
                      const struct tile *tile)
{
    const int64_t band = band_of(bind->region, w, rows), width = line_width(bind->region, w);
    const int64_t stride = w->stride[1];

    bind_int(bind, "m", rows->m);
    bind_int(bind, "taps_h", rows->r);
    bind_int(bind, "points", rows->points);
    bind_text(bind, "phases", stride > 1 ? " * STRIDE_H" : "");
    bind_int(bind, "band", band);
    bind_text(bind, "band_h", "(BAND + POINTS - M)%s", stride > 1 ? " * STRIDE_H" : "");
    bind_int(bind, "band_w", width);
    bind_text(bind, "band_top", "oh%s%s", stride > 1 ? " * STRIDE_H" : "",
              w->pad[1] > 0 ? " - PAD_H" : "");
    bind_int(bind, "width_copied", band_width_inside(w));
    bind_text(bind, "in_front", w->pad[2] > 0 ? "PAD_W + " : "");
    bind_text(bind, "dil_w", w->dil[2] > 1 ? " * DIL_W" : "");
    bind_text(bind, "stride_w", w->stride[2] > 1 ? " * STRIDE_W" : "");
    bind_text(bind, "plane_row",
              stride > 1 ? "(plane %% IN_C * BAND_H + (row - oh) * STRIDE_H + plane / IN_C)"
                         : "(plane * BAND_H + row - oh)");
    bind_int(bind, "full_planes", full_planes(w));
    bind_flag(bind, "all_full", full_planes(w) == planes_of(w));
    bind_text(bind, "len",
              full_planes(w) == planes_of(w) ? "LEN" : "f < POINTS - 1 ? LEN : FULL * K_W");
    bind_text(bind, "row_step", stride > 1 ? "STRIDE_H * BAND_W" : "BAND_W");
    /* The surplus pixels of a row's last tile read beyond it. */
    bind_scratch_numbers(bind, w->in_c * (band + rows->r - 1) * stride * width +
                                   rows->points * planes_of(w) * width +
                                   (tile->most_pixels - 1) * w->stride[2]);
}

static bool bind_band_winograd(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const struct rows rows = chosen_rows(bind, &w);
    const struct window lines = lines_of(&w, &rows);
    const struct panels panels = conv_panels(&lines, tile_panel_of(bind->machine, w.out_c));
    const struct tile tile = bind_tile_of_sums(bind, w.out[2], w.out_c, w.stride[2]);
    const struct row_vector vector = bind_row_vector(bind, line_width(bind->region, &w));

    bind_text(bind, "tile_fn", "%s", tile.fn);
    bind_band(bind, &w, &rows, &tile);
    bind_text(bind, "transform_input", "%s", bind_winograd_input(bind, rows.points, &vector));
    bind_weights(bind, &w, &rows, &panels);
    bind_planes_apart(bind, &w);
    bind_conv_places(bind, &w);
    bind_conv_width(bind, &panels, "block");
    bind->region->config.winograd_tile = (int)rows.m;
    bind->region->config.winograd_more =
        (size_t)(panels_rows(&panels) * w.in_c * w.k[2] * (rows.points * w.stride[1] - w.k[1]) *
                 (int64_t)sizeof(float));
    return bind_results(bind, &w, &rows, &panels, &tile);
}

const struct kernel kernel_band_winograd = {
    .name = "band_winograd",
    .sums = SUMS_NOT_SIMULATED,
    .reads_strided = reads_side_by_side,
    .writes_strided = writes_conv_pixels,
    .forms = { { OPS(OP_CONV2D), accepts_band_winograd, bind_band_winograd },
               { OPS(OP_CONV2D), accepts_band_winograd_anyway, bind_band_winograd, .late = true } },
};
