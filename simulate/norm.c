/* norm.c - normalisations: mean and variance by rows (runtime/embed/row_sum_f32.h,
 * row_spread_f32.h) where the kernels read rows, else one element after the other. */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/norm.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/log_f32.h"
#include "runtime/embed/row_spread_f32.h"
#include "runtime/embed/row_sum_f32.h"
#include "simulate/operators.h"

bool simulate_batch_norm(const struct simulation *sim, const struct node *node,
                         const struct tensor *const *in, struct tensor *out)
{
    const float *x = in[0]->data, *scale = in[1]->data, *bias = in[2]->data;
    const float *mean = in[3]->data, *variance = in[4]->data;
    const struct type *type = &out->type;
    const int axis = (int)node->attrs.batch_norm.axis;
    const int64_t size = type_span(type, axis + 1, type->rank), n = type_elements(type);
    const float epsilon = (float)node->attrs.batch_norm.epsilon;
    float *y = out->data;

    (void)sim;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / size % type->dim[axis];
        const float factor = scale[c] / sqrtf(variance[c] + epsilon);

        y[i] = (x[i] - mean[c]) * factor + bias[c];
    }
    return true;
}

struct moments {
    float mean, factor; /* factor: 1 / deviation */
};

/* Of n elements that lie side by side. */
static struct moments moments_of(const float *x, int64_t n, bool by_rows, float epsilon)
{
    float mean = 0, variance = 0;

    if (by_rows) {
        mean = row_sum_f32(x, (int)n) / (float)n;
        variance = row_spread_f32(x, (int)n, mean) / (float)n;
        return (struct moments){ mean, 1 / sqrtf(variance + epsilon) };
    }
    for (int64_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (float)n;
    for (int64_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    return (struct moments){ mean, 1 / sqrtf(variance / (float)n + epsilon) };
}

bool simulate_layer_norm(const struct simulation *sim, const struct node *node,
                         const struct tensor *const *in, struct tensor *out)
{
    const float *x = in[0]->data, *scale = in[1]->data;
    const float *bias = node->n_inputs > 2 && in[2] ? in[2]->data : NULL;
    const int64_t n = type_elements(&out->type);
    const int64_t len = type_span(&out->type, (int)node->attrs.norm.axis, out->type.rank);
    const bool by_rows = adds_by_rows(sim, node, len);
    float *y = out->data;

    for (int64_t start = 0; start < n; start += len) {
        const struct moments m =
            moments_of(x + start, len, by_rows, (float)node->attrs.norm.epsilon);

        for (int64_t i = 0; i < len; i++) {
            const float v = (x[start + i] - m.mean) * m.factor * scale[i];

            y[start + i] = bias ? v + bias[i] : v; /* -0 + 0 would be 0 */
        }
    }
    return true;
}

/* Sums of what `of` makes of a channel's elements, `step` apart: four positions in a step, then the
 * rest. */
static float channel_sum(const float *x, int64_t n, int64_t step)
{
    float sum = 0;
    int64_t p = 0;

    for (; p + 4 <= n; p += 4, x += 4 * step)
        sum += (x[0] + x[step]) + (x[2 * step] + x[3 * step]);
    for (; p < n; p++, x += step)
        sum += x[0];
    return sum;
}

static float channel_spread(const float *x, int64_t n, int64_t step, float mean)
{
    float sum = 0;
    int64_t p = 0;

    for (; p + 4 <= n; p += 4, x += 4 * step) {
        const float a = x[0] - mean, b = x[step] - mean;
        const float c = x[2 * step] - mean, d = x[3 * step] - mean;

        sum += (a * a + b * b) + (c * c + d * d);
    }
    for (; p < n; p++, x += step)
        sum += (x[0] - mean) * (x[0] - mean);
    return sum;
}

/* A group of group_c channels that are last: the channels' sums, one after the other. */
static struct moments moments_last(const float *x, int64_t group_c, int64_t plane, int64_t step,
                                   float epsilon)
{
    const float n = (float)(group_c * plane);
    float mean = 0, variance = 0;

    for (int64_t c = 0; c < group_c; c++)
        mean += channel_sum(x + c, plane, step);
    mean /= n;
    for (int64_t c = 0; c < group_c; c++)
        variance += channel_spread(x + c, plane, step, mean);
    return (struct moments){ mean, 1 / sqrtf(variance / n + epsilon) };
}

bool simulate_group_norm(const struct simulation *sim, const struct node *node,
                         const struct tensor *const *in, struct tensor *out)
{
    const struct type *type = &out->type;
    const bool last = norm_is_last(node);
    const int64_t channels = type->dim[last ? type->rank - 1 : 1];
    const int64_t groups = node->op == OP_GROUP_NORM ? node->attrs.norm.groups : channels;
    const int64_t group_c = channels / groups;
    const int64_t plane =
        last ? type_span(type, 1, type->rank - 1) : type_span(type, 2, type->rank);
    const bool by_rows = !last && adds_by_rows(sim, node, group_c * plane);
    const float epsilon = (float)node->attrs.norm.epsilon;
    const float *scale = in[1]->data, *bias = in[2]->data;

    for (int64_t g = 0; g < type->dim[0] * groups; g++) {
        const int64_t group = g % groups;
        const int64_t start =
            last ? g / groups * plane * channels + group * group_c : g * group_c * plane;
        const float *x = (const float *)in[0]->data + start;
        float *y = (float *)out->data + start;
        const struct moments m = last ? moments_last(x, group_c, plane, channels, epsilon)
                                      : moments_of(x, group_c * plane, by_rows, epsilon);

        for (int64_t i = 0; i < group_c * plane; i++) {
            const int64_t k = last ? i % group_c : i / plane, c = group * group_c + k;
            const int64_t at = last ? i / group_c * channels + k : i;

            y[at] = (x[at] - m.mean) * m.factor * scale[c] + bias[c];
        }
    }
    return true;
}

/* The squares of the channels from the first to the last. */
bool simulate_lrn(const struct simulation *sim, const struct node *node,
                  const struct tensor *const *in, struct tensor *out)
{
    const struct lrn_attrs *attrs = &node->attrs.lrn;
    const struct type *type = &out->type;
    const int axis = layout_channel_axis(attrs->layout, type->rank);
    const int64_t channels = type->dim[axis], step = type_span(type, axis + 1, type->rank);
    const float alpha = (float)attrs->alpha, beta = (float)attrs->beta, bias = (float)attrs->bias;
    const int64_t low = (attrs->size - 1) / 2, n = type_elements(type);
    const float *x = in[0]->data;
    float *y = out->data;

    (void)sim;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / step % channels;
        float sum = 0;

        for (int64_t k = c - low; k < c - low + attrs->size; k++)
            if (k >= 0 && k < channels)
                sum += x[i + (k - c) * step] * x[i + (k - c) * step];
        y[i] = x[i] * exp_f32(-beta * log_f32(bias + alpha / (float)attrs->size * sum));
    }
    return true;
}
