/* data_free_ranges.c - a calibration table without data: ranges of values, per channel a clipped
 * normal that the batch norms in front give (expectation.h).
 *
 * method   quantiles of each channel are counted; the range is the mean and ten deviations at
 *          either side, within the bounds of relu or clip. Nagel et al. (2019, 4.1.1) take six, for
 *          integers; real tails are longer, and a float loses little by room above. A model's
 *          input in front of a convolution and its batch norm: what makes the variance that the
 *          batch norm has seen, with room for what it does not see */
#include <math.h>

#include "base/str.h"
#include "quantize/data_free.h"
#include "quantize/expectation.h"

enum { QUANTILES = 128 };

static const double reach = 10, input_reach = 8;

/* z with that share of the standard normal below, by bisection: called QUANTILES times. */
static double probit(double share)
{
    double low = -8, high = 8;

    for (int i = 0; i < 60; i++) {
        const double z = (low + high) / 2;

        if (0.5 * erfc(-z / sqrt(2)) < share)
            low = z;
        else
            high = z;
    }
    return (low + high) / 2;
}

static double inside(const struct clipped_normal *x, double z)
{
    return fmin(fmax(x->mean + z * x->deviation, x->low), x->high);
}

static void count(struct histogram *h, double x)
{
    const double at = fabs(x) / h->limit * HISTOGRAM_BINS;

    h->n++;
    h->zeros += x == 0;
    h->bins[at < HISTOGRAM_BINS ? (int)at : HISTOGRAM_BINS - 1]++;
}

static bool fill(struct arena *arena, const char *name, const struct clipped_normal *channels,
                 int64_t n, const double *z, struct calib_tensor *out)
{
    double sum = 0;

    *out = (struct calib_tensor){ .name = name, .shape = "", .min = INFINITY, .max = -INFINITY };
    for (int64_t i = 0; i < n; i++) {
        out->min = fmin(out->min, inside(&channels[i], -reach));
        out->max = fmax(out->max, inside(&channels[i], reach));
        sum += clipped_mean(&channels[i]);
    }
    if (n == 0 || !isfinite(out->min) || !isfinite(out->max) || (out->min == 0 && out->max == 0))
        return false;
    out->mean = sum / (double)n;
    out->histogram = arena_new(arena, struct histogram);
    out->histogram->limit = fmax(-out->min, out->max);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < QUANTILES; k++)
            count(out->histogram, inside(&channels[i], z[k]));
    out->n_thresholds = 1;
    out->thresholds = arena_new(arena, struct calib_threshold);
    *out->thresholds = (struct calib_threshold){ "max", out->histogram->limit };
    return true;
}

static bool has_own_range(const struct value *value)
{
    return value->type.dtype == DTYPE_F32 && value->kind != VALUE_CONSTANT;
}

const struct calib_table *data_free_table(struct quantization *q)
{
    const struct batch_norms *norms = q->statistics ? q->statistics : q->options->batch_norms;
    struct function *fn = q->module->main;
    struct arena *perm = &q->ctx->perm, arena = { NULL };
    struct calib_table *table = arena_new(perm, struct calib_table);
    const struct expectation **known;
    double z[QUANTILES];

    if (!norms || !batch_norms_count(norms))
        return NULL;
    known = expectations_through(q->ctx, &arena, fn, norms);
    *table = (struct calib_table){ .model = "" };
    table->at = arena_array(perm, struct calib_tensor, fn->n_values);
    for (int k = 0; k < QUANTILES; k++)
        z[k] = probit((k + 0.5) / QUANTILES);
    for (int i = 0; i < fn->n_params; i++) {
        const double rms = batch_norms_input(norms, fn->params[i]->name);
        const struct clipped_normal all = { 0, rms, -input_reach * rms, input_reach * rms };

        if (rms > 0 && has_own_range(fn->params[i]))
            table->n += fill(perm, fn->params[i]->name, &all, 1, z, &table->at[table->n]);
    }
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *value = node->outputs[i];
            const struct expectation *e = known[value->id];

            if (e && has_own_range(value))
                table->n += fill(perm, value->name, e->channels, e->n, z, &table->at[table->n]);
        }
    arena_release(&arena);
    return table->n ? table : NULL;
}
