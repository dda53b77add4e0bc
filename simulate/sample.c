/* sample.c - reading between elements: image.resize, image.grid_sample, vision.roi_align. Places
 * are told in double, as in the C; what is read there is weighed in f32. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/ops/spatial.h"
#include "runtime/embed/cubic_weight.h"
#include "runtime/embed/index_within.h"
#include "runtime/embed/mirrored.h"
#include "runtime/embed/neighbours.h"
#include "simulate/operators.h"

/* --- image.resize ----------------------------------------------------------------------------- */

/* The dimensions that change, and what each of their positions is made of. */
struct resized {
    int n;
    int dim[MAX_RANK];
    const struct resize_taps *taps[MAX_RANK];
};

/* One output at these coordinates, the unchanged ones of which lead to `from`: over the
 * combinations of taps, the last dimension's innermost; a tap's weight is the product of those of
 * its dimensions, the first first. */
static float resized_sum(const struct resized *r, const int64_t *at, const int64_t *step,
                         const float *from)
{
    int k[MAX_RANK] = { 0 }, d;
    float sum = 0;

    do {
        const float *x = from;
        float weight = 0;

        for (int i = 0; i < r->n; i++) {
            const struct resize_taps *taps = &r->taps[i][at[r->dim[i]]];
            const float part = (float)taps->weight[k[i]];

            weight = i ? weight * part : part;
            x += taps->at[k[i]] * step[r->dim[i]];
        }
        sum += weight * *x;
        for (d = r->n - 1; d >= 0 && ++k[d] == r->taps[d][at[r->dim[d]]].n; d--)
            k[d] = 0;
    } while (d >= 0);
    return sum;
}

bool simulate_resize(const struct simulation *sim, const struct node *node,
                     const struct tensor *const *in, struct tensor *out)
{
    const struct resize_attrs *attrs = &node->attrs.resize;
    const struct type *y = &out->type;
    const int64_t n = type_elements(y);
    struct bulk bulk = { NULL, 0 };
    struct resized r = { .n = 0 };
    int64_t step[MAX_RANK];

    (void)sim;
    for (int i = 0; i < y->rank && n > 0; i++)
        if (resize_changes(node, i)) {
            r.taps[r.n] = resize_taps(&bulk, node, i);
            r.dim[r.n++] = i;
        }
    if (strcmp(attrs->method, "nearest_neighbor") == 0 || r.n == 0) { /* bits are moved */
        bulk_release(&bulk);
        return false;
    }
    shape_strides(&in[0]->type, step);
    for (int64_t i = 0; i < n; i++) {
        const float *from = in[0]->data;
        int64_t at[MAX_RANK], rest = i;
        bool outside = false;

        for (int d = y->rank - 1; d >= 0; d--) {
            at[d] = rest % y->dim[d];
            rest /= y->dim[d];
            if (!resize_changes(node, d))
                from += at[d] * step[d];
        }
        for (int k = 0; k < r.n; k++)
            outside = outside || r.taps[k][at[r.dim[k]]].outside;
        ((float *)out->data)[i] =
            outside ? (float)attrs->extrapolation_value : resized_sum(&r, at, step, from);
    }
    bulk_release(&bulk);
    return true;
}

/* --- image.grid_sample ------------------------------------------------------------------------ */

enum { MOST_TAPS = 4, MOST_SHARES = 64 /* combinations of taps */ };

/* How a place becomes taps. */
struct sampling {
    bool nearest, cubic, align_corners, border, reflection;
    int n_taps;
};

struct taps {
    int64_t at[MOST_TAPS]; /* -1 = outside, where zeros are */
    float weight[MOST_TAPS];
};

static struct sampling sampling_of(const struct grid_sample_attrs *attrs)
{
    struct sampling s = { .nearest = strcmp(attrs->method, "nearest_neighbor") == 0,
                          .cubic = strcmp(attrs->method, "cubic") == 0,
                          .align_corners = attrs->align_corners,
                          .border = strcmp(attrs->padding_mode, "border") == 0,
                          .reflection = strcmp(attrs->padding_mode, "reflection") == 0 };

    s.n_taps = s.nearest ? 1 : s.cubic ? 4 : 2;
    return s;
}

static int64_t tap_at(const struct sampling *s, int64_t i, int64_t last, double begin, double end)
{
    if (i >= 0 && i <= last)
        return i;
    if (s->border)
        return i < 0 ? 0 : last;
    return s->reflection ? (int64_t)mirrored((double)i, begin, end) : -1;
}

static struct taps taps_at(const struct sampling *s, double coordinate, int64_t extent)
{
    const double last = (double)(extent - 1);
    const double begin = s->align_corners ? 0 : -0.5;
    const double end = s->align_corners ? last : last + 0.5;
    double place =
        s->align_corners ? (coordinate + 1) / 2 * last : ((coordinate + 1) * (last + 1) - 1) / 2;
    struct taps taps;
    bool is_near;
    int64_t first;

    if (s->nearest)
        place = nearbyint(place);
    if (s->border && s->cubic)
        place = place < -2 ? -2 : place > last + 2 ? last + 2 : place;
    else if (s->border && (place < begin || place > end))
        place = place < begin ? 0 : last;
    if (s->reflection && (place < begin || place > end))
        place = mirrored(place, begin, end);
    is_near = place >= -s->n_taps && place <= last + s->n_taps;
    first = is_near ? (int64_t)floor(place) - s->cubic : 0;
    for (int k = 0; k < s->n_taps; k++) {
        const double distance = place - (double)(first + k);

        taps.at[k] = is_near ? tap_at(s, first + k, extent - 1, begin, end) : -1;
        taps.weight[k] = s->nearest ? 1
                         : s->cubic ? (float)cubic_weight(distance)
                                    : (float)(1 - fabs(distance));
    }
    return taps;
}

/* The combinations of taps that lie inside, the last dimension's innermost: elements of a plane,
 * and their shares. The number of them. */
static int combine(const struct type *x, const struct sampling *s, const struct taps *taps,
                   int64_t *from, float *share)
{
    const int rank = x->rank - 2;
    int n = 0, n_combinations = 1;

    for (int d = 0; d < rank; d++)
        n_combinations *= s->n_taps;
    for (int i = 0; i < n_combinations; i++) {
        int rest = i, k[MAX_SPATIAL];
        bool inside = true;

        for (int d = rank - 1; d >= 0; d--) {
            k[d] = rest % s->n_taps;
            rest /= s->n_taps;
            inside = inside && taps[d].at[k[d]] >= 0;
        }
        if (!inside)
            continue;
        from[n] = 0;
        for (int d = 0; d < rank; d++) {
            from[n] = from[n] * x->dim[2 + d] + taps[d].at[k[d]];
            share[n] = d ? share[n] * taps[d].weight[k[d]] : taps[d].weight[k[d]];
        }
        n++;
    }
    return n;
}

bool simulate_grid_sample(const struct simulation *sim, const struct node *node,
                          const struct tensor *const *in, struct tensor *out)
{
    const struct sampling sampling = sampling_of(&node->attrs.grid_sample);
    const struct type *x = &in[0]->type;
    const int rank = x->rank - 2;
    const int64_t channels = x->dim[1], plane = type_span(x, 2, x->rank);
    const int64_t n_places = type_span(&out->type, 2, out->type.rank);

    (void)sim;
    for (int64_t i = 0; i < x->dim[0] * n_places; i++) {
        struct taps taps[MAX_SPATIAL];
        int64_t from[MOST_SHARES];
        float share[MOST_SHARES];
        int n;

        for (int d = 0; d < rank; d++)
            taps[d] = taps_at(&sampling, tensor_at(in[1], i * rank + rank - 1 - d), x->dim[2 + d]);
        n = combine(x, &sampling, taps, from, share);
        for (int64_t c = 0; c < channels; c++) {
            const int64_t image = i / n_places * channels + c;
            const float *at = (const float *)in[0]->data + image * plane;
            float sum = 0;

            for (int k = 0; k < n; k++)
                sum += share[k] * at[from[k]];
            ((float *)out->data)[image * n_places + i % n_places] = sum;
        }
    }
    return true;
}

/* --- vision.roi_align ------------------------------------------------------------------------- */

/* One dimension of a region: where the first bin starts, the size of each, and its samples. */
struct span {
    double start, bin;
    int samples;
};

static struct span span_of(const struct roi_align_attrs *attrs, double begin, double end,
                           int64_t bins)
{
    struct span span;
    double size = (end - begin) * attrs->spatial_scale;

    if (!attrs->aligned && size < 1)
        size = 1;
    span.start = begin * attrs->spatial_scale - (attrs->aligned ? 0.5 : 0);
    span.bin = size / (double)bins;
    span.samples =
        attrs->sample_ratio ? (int)attrs->sample_ratio : (int)ceil(span.bin > 0 ? span.bin : 0);
    return span;
}

/* Bin (oh, ow) of a plane: over the samples, and over the four elements around each. */
static float pool_bin(const float *x, const struct type *type, const struct span *span, int64_t oh,
                      int64_t ow, bool max)
{
    const int n = span[0].samples * span[1].samples;
    float pooled = 0;

    for (int i = 0; i < n; i++) {
        const double down = (double)oh + (i / span[1].samples + 0.5) / span[0].samples;
        const double right = (double)ow + (i % span[1].samples + 0.5) / span[1].samples;
        int ih[2], iw[2];
        double dh, dw;

        if (!neighbours(span[0].start + down * span[0].bin, (int)type->dim[2], ih, &dh) ||
            !neighbours(span[1].start + right * span[1].bin, (int)type->dim[3], iw, &dw)) {
            pooled = max && pooled < 0 ? 0 : pooled;
            continue;
        }
        for (int k = 0; k < 4; k++) {
            const double share = (k / 2 ? dh : 1 - dh) * (k % 2 ? dw : 1 - dw);
            const float part = (float)share * x[ih[k / 2] * type->dim[3] + iw[k % 2]];

            if (!max)
                pooled += part;
            else if ((i == 0 && k == 0) || part > pooled)
                pooled = part;
        }
    }
    return max || n == 0 ? pooled : pooled / (float)n;
}

/* A region that is too big for any image is an error of relay_ir's evaluator. */
static bool is_usual(const struct span *span)
{
    return fabs(span->start) < (double)SPATIAL_MOST && span->bin <= ROI_MOST_SAMPLES;
}

bool simulate_roi_align(const struct simulation *sim, const struct node *node,
                        const struct tensor *const *in, struct tensor *out)
{
    const struct roi_align_attrs *attrs = &node->attrs.roi_align;
    const struct type *x = &in[0]->type, *y = &out->type;
    const bool max = strcmp(attrs->mode, "max") == 0;
    const int64_t plane = x->dim[2] * x->dim[3], region = type_span(y, 1, 4);

    (void)sim;
    for (int64_t r = 0; r < y->dim[0]; r++) {
        const int64_t image = index_within(tensor_int_at(in[2], r), (int)x->dim[0]);
        const float *roi = (const float *)in[1]->data + 4 * r;
        const struct span span[] = { span_of(attrs, roi[1], roi[3], y->dim[2]),
                                     span_of(attrs, roi[0], roi[2], y->dim[3]) };

        if (!is_usual(&span[0]) || !is_usual(&span[1]))
            return false;
        for (int64_t i = 0; i < region; i++)
            ((float *)out->data)[r * region + i] =
                pool_bin((const float *)in[0]->data +
                             (image * x->dim[1] + i / y->dim[3] / y->dim[2]) * plane,
                         x, span, i / y->dim[3] % y->dim[2], i % y->dim[3], max);
    }
    return true;
}
