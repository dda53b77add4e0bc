/* rows.c - what runs along one axis: softmax and log_softmax, lp_normalize, cumsum and cumprod. */
#include <math.h>

#include "relay_ir/ops/ops.h"
#include "relay_ir/type.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/log_f32.h"
#include "runtime/embed/row_magnitudes_f32.h"
#include "runtime/embed/row_powers_f32.h"
#include "runtime/embed/row_squares_f32.h"
#include "runtime/embed/row_sum_f32.h"
#include "simulate/operators.h"

/* Elements at[0], at[step], ... of x and y: n of them. */
struct line {
    const float *x;
    float *y;
    int64_t step, n;
};

static int64_t count_lines(const struct type *type, int64_t axis)
{
    return type->dim[axis] ? type_elements(type) / type->dim[axis] : 0;
}

/* Line number i of the lines along an axis. */
static struct line line_along(const struct tensor *x, struct tensor *y, int64_t axis, int64_t i)
{
    const struct type *type = &x->type;
    const int64_t step = type_span(type, (int)axis + 1, type->rank), n = type->dim[axis];
    const int64_t start = i / step * step * n + i % step;

    return (struct line){ (const float *)x->data + start, (float *)y->data + start, step, n };
}

/* Which of equal numbers, and NaN or not: then all results are NaN anyway. */
static float highest_of(const struct line *line)
{
    float highest = line->x[0];

    for (int64_t i = 1; i < line->n; i++)
        highest = line->x[i * line->step] > highest ? line->x[i * line->step] : highest;
    return highest;
}

/* The sum of e^(x - highest), which stand in y then: one after the other. */
static float powers(const struct line *line, float highest, float (*power)(float))
{
    float sum = 0;

    for (int64_t i = 0; i < line->n; i++)
        sum += line->y[i * line->step] = power(line->x[i * line->step] - highest);
    return sum;
}

/* softmax: divides by a sum that is taken one after the other. softmax_short: multiplies by its
 * inverse. softmax_group, softmax_rows: likewise, the sum by rows. */
bool simulate_softmax(const struct simulation *sim, const struct node *node,
                      const struct tensor *const *in, struct tensor *out)
{
    const int64_t axis = node->attrs.axis.axis, n = count_lines(&out->type, axis);
    const bool is_short = sums_of(sim, node) == SUMS_INVERSE;
    const bool by_rows = sums_of(sim, node) == SUMS_ROWS;

    for (int64_t i = 0; i < n; i++) {
        const struct line line = line_along(in[0], out, axis, i);
        float sum =
            powers(&line, highest_of(&line), is_short || by_rows ? exp_negative_f32 : exp_f32);

        if (by_rows)
            sum = row_sum_f32(line.y, (int)line.n);
        for (int64_t k = 0; k < line.n; k++)
            line.y[k * line.step] = is_short || by_rows ? line.y[k * line.step] * (1 / sum)
                                                        : line.y[k * line.step] / sum;
    }
    return true;
}

bool simulate_log_softmax(const struct simulation *sim, const struct node *node,
                          const struct tensor *const *in, struct tensor *out)
{
    const int64_t axis = node->attrs.axis.axis, n = count_lines(&out->type, axis);
    const bool by_rows = sums_of(sim, node) == SUMS_ROWS;

    for (int64_t i = 0; i < n; i++) {
        const struct line line = line_along(in[0], out, axis, i);
        const float highest = highest_of(&line);
        const float log_sum = log_f32(by_rows ? row_powers_f32(line.x, (int)line.n, highest)
                                              : powers(&line, highest, exp_f32));

        for (int64_t k = 0; k < line.n; k++)
            line.y[k * line.step] = line.x[k * line.step] - highest - log_sum;
    }
    return true;
}

static float lp_norm(const struct line *line, bool squares)
{
    float norm = 0;

    for (int64_t k = 0; k < line->n; k++) {
        const float v = line->x[k * line->step];

        norm += squares ? v * v : fabsf(v);
    }
    return squares ? sqrtf(norm) : norm;
}

/* lp_normalize_rows adds up by rows, and multiplies by what a 2-norm's inverse is; the others
 * divide. */
bool simulate_lp_normalize(const struct simulation *sim, const struct node *node,
                           const struct tensor *const *in, struct tensor *out)
{
    const int64_t axis = node->attrs.lp_normalize.axis, n = count_lines(&out->type, axis);
    const bool squares = node->attrs.lp_normalize.p == 2;
    const bool by_rows = sums_of(sim, node) == SUMS_ROWS;

    for (int64_t i = 0; i < n; i++) {
        const struct line line = line_along(in[0], out, axis, i);
        const float norm = !by_rows  ? lp_norm(&line, squares)
                           : squares ? sqrtf(row_squares_f32(line.x, (int)line.n))
                                     : row_magnitudes_f32(line.x, (int)line.n);

        for (int64_t k = 0; k < line.n; k++) {
            const float v = line.x[k * line.step];

            line.y[k * line.step] = by_rows && squares ? v * (norm == 0 ? 0 : 1 / norm)
                                    : norm == 0        ? 0
                                                       : v / norm;
        }
    }
    return true;
}

bool simulate_cumulative(const struct simulation *sim, const struct node *node,
                         const struct tensor *const *in, struct tensor *out)
{
    const struct cumsum_attrs *attrs = &node->attrs.cumsum;
    const int64_t n = count_lines(&out->type, attrs->axis);

    (void)sim;
    for (int64_t i = 0; i < n; i++) {
        const struct line line = line_along(in[0], out, attrs->axis, i);
        float sum = (float)cumulative_begin(node->op);

        for (int64_t k = 0; k < line.n; k++) {
            const int64_t at = (attrs->reverse ? line.n - 1 - k : k) * line.step;
            const float before = sum;

            sum = (float)cumulative_step(node->op, sum, line.x[at]);
            line.y[at] = attrs->exclusive ? before : sum;
        }
    }
    return true;
}
