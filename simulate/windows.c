/* windows.c - convolutions and pools. */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/spatial.h"
#include "runtime/embed/row_sum_f32.h"
#include "simulate/operators.h"

/* --- convolutions ----------------------------------------------------------------------------- */

/* A position of the output: where its window begins in the input (of a transposed convolution: the
 * position itself, with the padding). */
struct place {
    int64_t at[MAX_SPATIAL];
};

static struct place place_of(const struct spatial *s, int64_t index)
{
    struct place place;

    for (int i = MAX_SPATIAL - 1; i >= 0; i--) {
        place.at[i] = index % s->dim[i].out;
        index /= s->dim[i].out;
    }
    return place;
}

/* The input element under a tap, -1 where there is none. */
static int64_t element_under(const struct spatial *s, const struct place *y, const int64_t *tap)
{
    int64_t index = 0;

    for (int i = 0; i < MAX_SPATIAL; i++) {
        const struct slide *d = &s->dim[i];
        const int64_t x = y->at[i] * d->stride - d->pad_before + tap[i] * d->dilation;

        if (x < 0 || x >= d->in)
            return -1;
        index = index * d->in + x;
    }
    return index;
}

/* The input element that a tap of a transposed convolution brings to an output position. */
static int64_t element_behind(const struct spatial *s, const struct place *y, const int64_t *tap)
{
    int64_t index = 0;

    for (int i = 0; i < MAX_SPATIAL; i++) {
        const struct slide *d = &s->dim[i];
        const int64_t x = y->at[i] + d->pad_before - tap[i] * d->dilation;

        if (x < 0 || x % d->stride != 0 || x / d->stride >= d->in)
            return -1;
        index = index * d->in + x / d->stride;
    }
    return index;
}

static int64_t taps_of(const struct spatial *s)
{
    return s->dim[0].kernel * s->dim[1].kernel * s->dim[2].kernel;
}

static int64_t extent_of(const struct spatial *s, bool out)
{
    int64_t n = 1;

    for (int i = 0; i < MAX_SPATIAL; i++)
        n *= out ? s->dim[i].out : s->dim[i].in;
    return n;
}

/* Whether there is one place and the kernel covers the whole input: then the sum is a row of a
 * matrix product, in the order in which x lies. */
static bool covers_input(const struct spatial *s)
{
    for (int i = 0; i < MAX_SPATIAL; i++)
        if (s->dim[i].out != 1 || s->dim[i].kernel != s->dim[i].in || s->dim[i].pad_before > 0)
            return false;
    return true;
}

/* One output: over the kernel in row-major order and, at each tap, over the input channels, or
 * (by_channels) the other way round. x has these steps; w is always one channel after the other. */
static float conv_sum(const struct spatial *s, const struct place *y, int64_t in_c, const float *x,
                      const struct layout_steps *step, const float *w, bool by_channels, bool fused)
{
    const bool last = !by_channels && (step->channel == 1 || !covers_input(s));
    const int64_t n_taps = taps_of(s), n = in_c * n_taps;
    float sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t ic = last ? i % in_c : i / n_taps, k = last ? i / in_c : i % n_taps;
        const int64_t tap[] = { k / (s->dim[1].kernel * s->dim[2].kernel),
                                k / s->dim[2].kernel % s->dim[1].kernel, k % s->dim[2].kernel };
        const int64_t at = element_under(s, y, tap);

        if (at >= 0)
            sum = add_product(sum, x[ic * step->channel + at * step->place], w[ic * n_taps + k],
                              fused);
    }
    return sum;
}

/* Of the whole extents: three, the missing ones first. */
static void set_out(struct spatial *s, int rank, const int64_t *extents)
{
    for (int i = 0; i < MAX_SPATIAL; i++)
        s->dim[i].out = i < MAX_SPATIAL - rank ? 1 : extents[i - (MAX_SPATIAL - rank)];
}

/* --- operators with windows ------------------------------------------------------------------- */

bool simulate_conv(const struct simulation *sim, const struct node *node,
                   const struct tensor *const *in, struct tensor *out)
{
    const struct conv_attrs *attrs = &node->attrs.conv;
    const struct type x = type_channels_first(&in[0]->type, attrs->data_layout);
    const struct type y = type_channels_first(&out->type, attrs->out_layout), *w = &in[1]->type;
    const struct layout_steps from = layout_steps(&in[0]->type, attrs->data_layout);
    const struct layout_steps to = layout_steps(&out->type, attrs->out_layout);
    const int64_t out_c = w->dim[0], group_out = out_c / attrs->groups, group_in = w->dim[1];
    struct spatial s = spatial_make(x.rank - 2, x.dim + 2, w->dim + 2, &attrs->strides,
                                    &attrs->padding, &attrs->dilation);
    struct bulk bulk = { NULL, 0 };
    const float *data = floats_of(&bulk, in[0]), *weights = floats_of(&bulk, in[1]);
    const int64_t len = group_in * taps_of(&s);
    const bool fused = fuses_products(sim, node);
    const bool by_channels = sums_of(sim, node) == SUMS_CHANNELS;
    struct block_sums sums;
    const bool in_blocks = sums_by_blocks(sim, node, in[1], &bulk, &sums);
    int64_t n_out;

    set_out(&s, x.rank - 2, y.dim + 2);
    n_out = extent_of(&s, true);
    for (int64_t i = 0; i < x.dim[0] * out_c * n_out; i++) {
        const int64_t oc = i / n_out % out_c, image = i / n_out / out_c;
        const float *at = data + image * from.image + oc / group_out * group_in * from.channel;
        const struct place place = place_of(&s, i % n_out);

        ((float *)out->data)[image * to.image + oc * to.channel + i % n_out * to.place] =
            in_blocks
                ? block_sum(&sums, oc, at)
                : conv_sum(&s, &place, group_in, at, &from, weights + oc * len, by_channels, fused);
    }
    bulk_release(&bulk);
    return true;
}

/* The weight of an input channel and a tap, in a transposed convolution. */
struct transposed_weights {
    const float *at; /* of the output channel, the first of the group's input channels */
    int64_t step;    /* from one input channel to the next */
};

/* One output: over the kernel's planes and rows, within these over the input channels, within these
 * over the kernel's columns. With the channels last: over the kernel, at each tap over the input
 * channels. x begins at the group's first channel. */
static float transposed_sum(const struct spatial *s, const struct place *y, int64_t in_c,
                            const float *x, const struct layout_steps *step,
                            const struct transposed_weights *w, bool fused)
{
    const bool last = step->channel == 1;
    const int64_t k_w = s->dim[2].kernel, k_h = s->dim[1].kernel, n = in_c * taps_of(s);
    float sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t ic = last ? i % in_c : i / k_w % in_c;
        const int64_t row = i / k_w / in_c, kw = last ? i / in_c % k_w : i % k_w;
        const int64_t tap[] = { row / k_h, row % k_h, kw };
        const int64_t at = element_behind(s, y, tap);

        if (at >= 0)
            sum = add_product(sum, w->at[ic * w->step + row * k_w + kw],
                              x[ic * step->channel + at * step->place], fused);
    }
    return sum;
}

bool simulate_conv_transpose(const struct simulation *sim, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const struct conv_transpose_attrs *attrs = &node->attrs.conv_transpose;
    const struct type x = type_channels_first(&in[0]->type, attrs->data_layout), *w = &in[1]->type;
    const struct type y = type_channels_first(&out->type, attrs->data_layout);
    const struct layout_steps from = layout_steps(&in[0]->type, attrs->data_layout);
    const struct layout_steps to = layout_steps(&out->type, attrs->data_layout);
    const int64_t out_c = y.dim[1], group_out = w->dim[1], group_in = x.dim[1] / attrs->groups;
    struct spatial s = spatial_make(x.rank - 2, x.dim + 2, w->dim + 2, &attrs->strides,
                                    &attrs->padding, &attrs->dilation);
    struct bulk bulk = { NULL, 0 };
    const float *data = floats_of(&bulk, in[0]), *weights = floats_of(&bulk, in[1]);
    const bool fused = fuses_products(sim, node);
    int64_t n_out, n_taps;

    set_out(&s, x.rank - 2, y.dim + 2);
    n_out = extent_of(&s, true);
    n_taps = taps_of(&s);
    for (int64_t i = 0; i < type_elements(&out->type); i++) {
        const int64_t oc = i / n_out % out_c, image = i / n_out / out_c, group = oc / group_out;
        const struct place place = place_of(&s, i % n_out);
        const struct transposed_weights of_channel = {
            weights + (group * group_in * group_out + oc % group_out) * n_taps, group_out * n_taps
        };

        ((float *)out->data)[image * to.image + oc * to.channel + i % n_out * to.place] =
            transposed_sum(&s, &place, group_in,
                           data + image * from.image + group * group_in * from.channel, &from,
                           &of_channel, fused);
    }
    bulk_release(&bulk);
    return true;
}

/* --- averages --------------------------------------------------------------------------------- */

static float average(float sum, int64_t n)
{
    return n > 0 ? sum / (float)n : 0;
}

bool simulate_global_average(const struct simulation *sim, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const char *layout = node->attrs.layout.layout;
    const struct type *type = &in[0]->type;
    const struct layout_steps step = layout_steps(type, layout);
    const int64_t channels = type->dim[layout_channel_axis(layout, type->rank)];
    const int from = layout_spatial_axis(layout);
    const int64_t len = type_span(type, from, from + type->rank - 2);
    struct bulk bulk = { NULL, 0 };
    const float *x = floats_of(&bulk, in[0]);
    const bool by_rows = adds_by_rows(sim, node, len);

    for (int64_t plane = 0; plane < type_elements(&out->type); plane++) {
        const float *at = x + plane / channels * step.image + plane % channels * step.channel;
        float sum = by_rows ? row_sum_f32(at, (int)len) : 0;

        for (int64_t i = 0; i < len && !by_rows; i++)
            sum += at[i * step.place];
        ((float *)out->data)[plane] = average(sum, len);
    }
    bulk_release(&bulk);
    return true;
}

/* How many elements of a window count: those in the input, or in the input and its padding. */
static int64_t counted(const struct spatial *s, const struct place *y, bool with_padding)
{
    int64_t n = 1;

    for (int i = 0; i < MAX_SPATIAL; i++) {
        const struct slide *d = &s->dim[i];
        const int64_t least = with_padding ? -d->pad_before : 0;
        const int64_t end = d->in + (with_padding ? d->pad_after : 0);
        int64_t taps = 0;

        for (int64_t k = 0; k < d->kernel; k++) {
            const int64_t x = y->at[i] * d->stride - d->pad_before + k * d->dilation;

            taps += x >= least && x < end;
        }
        n *= taps;
    }
    return n;
}

/* What a pool does to an element, and to the sum: the p-norm, or (p = 0) nothing. */
static float pooled_part(float x, int64_t p)
{
    return p == 0 ? x : p == 1 ? fabsf(x) : p == 2 ? x * x : powf(fabsf(x), (float)p);
}

static float pooled(float sum, int64_t p)
{
    return p <= 1 ? sum : p == 2 ? sqrtf(sum) : powf(sum, 1 / (float)p);
}

/* Over the kernel in row-major order. */
static float window_sum(const struct spatial *s, const struct place *y, const float *x,
                        int64_t step, int64_t p)
{
    float sum = 0;

    for (int64_t k = 0; k < taps_of(s); k++) {
        const int64_t tap[] = { k / (s->dim[1].kernel * s->dim[2].kernel),
                                k / s->dim[2].kernel % s->dim[1].kernel, k % s->dim[2].kernel };
        const int64_t at = element_under(s, y, tap);

        if (at >= 0)
            sum += pooled_part(x[at * step], p);
    }
    return sum;
}

/* First what is one below the other in each column, then the columns' sums. */
static float column_sum(const struct spatial *s, const struct place *y, const float *x,
                        int64_t step)
{
    float sum = 0;

    for (int64_t kw = 0; kw < s->dim[2].kernel; kw++) {
        float column = 0;

        for (int64_t kh = 0; kh < s->dim[1].kernel; kh++) {
            const int64_t tap[] = { 0, kh, kw }, at = element_under(s, y, tap);

            if (at >= 0)
                column += x[at * step];
        }
        sum += column;
    }
    return sum;
}

bool simulate_pool(const struct simulation *sim, const struct node *node,
                   const struct tensor *const *in, struct tensor *out)
{
    const struct pool_attrs *attrs = &node->attrs.pool;
    const struct type x = type_channels_first(&in[0]->type, attrs->layout);
    const struct type y = type_channels_first(&out->type, attrs->layout);
    const struct layout_steps from = layout_steps(&in[0]->type, attrs->layout);
    const struct layout_steps to = layout_steps(&out->type, attrs->layout);
    const bool is_lp =
        node->op == OP_LP_POOL1D || node->op == OP_LP_POOL2D || node->op == OP_LP_POOL3D;
    const bool by_columns = sums_of(sim, node) == SUMS_COLUMNS;
    struct spatial s = spatial_make(x.rank - 2, x.dim + 2, attrs->pool_size.at, &attrs->strides,
                                    &attrs->padding, &attrs->dilation);
    const float *data = in[0]->data;
    int64_t n_out;

    set_out(&s, x.rank - 2, y.dim + 2);
    n_out = extent_of(&s, true);
    for (int64_t i = 0; i < type_elements(&out->type); i++) {
        const int64_t c = i / n_out % y.dim[1], image = i / n_out / y.dim[1];
        const struct place place = place_of(&s, i % n_out);
        const float *at = data + image * from.image + c * from.channel;
        const float sum = by_columns ? column_sum(&s, &place, at, from.place)
                                     : window_sum(&s, &place, at, from.place, is_lp ? attrs->p : 0);

        ((float *)out->data)[image * to.image + c * to.channel + i % n_out * to.place] =
            is_lp ? pooled(sum, attrs->p)
                  : average(sum, counted(&s, &place, attrs->count_include_pad));
    }
    return true;
}
