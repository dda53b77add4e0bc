/* estimate.c - what quantisation does to the results, on inputs that are made up.
 *
 * method   smooth random fields (sums of cosines, with more of what is slow, and noise) of the size
 *          that the first batch norm has seen go through the float graph and through the simulated
 *          one, both by the reference evaluators. Noise is the mean square of what differs by that
 *          of the results. Scores of classes count without what they have in common, and in front
 *          of a softmax: differences of scores are what decides */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/batch_norms.h"
#include "quantize/data_free.h"
#include "relay_ir/interpret.h"
#include "relay_ir/validate/cost.h"
#include "relay_ir/validate/inputs.h"

enum { MOST_SAMPLES = 8, WAVES = 10 };

/* Multiply-accumulates and elements of all samples, and bytes of one: about a second. */
static const double most_work = 4e8, most_bytes = 256e6;

struct estimate {
    int n_samples, n_results;
    struct bulk bulk;
    struct tensor *inputs;  /* [n_samples][n_params] */
    struct tensor *results; /* [n_samples][n_results] */
};

/* --- inputs ----------------------------------------------------------------------------------- */

static double rms_of(const struct quantization *q, const struct value *param)
{
    const double rms =
        q->options->batch_norms ? batch_norms_input(q->options->batch_norms, param->name) : 0;

    return rms > 0 ? rms : 1;
}

struct wave {
    double y, x, phase, height;
};

/* Planes of the last two dimensions: half of what varies is common to all. */
static void fill(struct tensor *tensor, double rms, uint64_t *state)
{
    const double turn = 2 * 3.14159265358979323846;
    const struct type *type = &tensor->type;
    const int64_t n = type_elements(type);
    const int64_t w = type->rank > 0 ? type->dim[type->rank - 1] : 1;
    const int64_t h = type->rank > 1 ? type->dim[type->rank - 2] : 1;
    struct wave waves[2 * WAVES];
    double squares = 0;
    float *to = tensor->data;
    double level = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t at = i % (w * h);
        double sum;

        for (int k = 0; at == 0 && k < 2 * WAVES; k++)
            if (i == 0 || k >= WAVES) {
                const double f = 0.3 + 6 * random_unit(state) * random_unit(state);
                const double angle = turn * random_unit(state);

                waves[k] = (struct wave){ f * sin(angle) / (double)h, f * cos(angle) / (double)w,
                                          turn * random_unit(state), 1 / (0.5 + f) };
                level = k == WAVES || i == 0 ? random_unit(state) - 0.5 : level;
            }
        sum = level + 0.3 * (random_unit(state) + random_unit(state) - 1);
        for (int k = 0; k < 2 * WAVES; k++)
            sum += waves[k].height *
                   cos(turn * (waves[k].y * (double)(at / w) + waves[k].x * (double)(at % w)) +
                       waves[k].phase);
        to[i] = (float)sum;
        squares += sum * sum;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)((double)to[i] * rms / sqrt(squares / (double)n + 1e-30));
}

static bool takes_floats(const struct function *fn)
{
    for (int i = 0; i < fn->n_params; i++)
        if (fn->params[i]->type.dtype != DTYPE_F32 || type_elements(&fn->params[i]->type) == 0)
            return false;
    for (int i = 0; i < fn->ret->n_inputs; i++)
        if (fn->ret->inputs[i]->type.dtype != DTYPE_F32)
            return false;
    return fn->n_params > 0;
}

/* --- results ---------------------------------------------------------------------------------- */

/* A row of scores: softmax and what it reads differ by what all have in common, after a
 * logarithm. */
static bool is_softmax(const struct value *result)
{
    const struct node *node = result->def;

    while (node && op_row(node->op)->pattern == PATTERN_VIEW)
        node = node->inputs[0]->def;
    return node && node->op == OP_SOFTMAX;
}

static double mean_of(const struct tensor *t, bool logarithm)
{
    const int64_t n = type_elements(&t->type);
    const float *x = t->data;
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += logarithm ? log(fmax((double)x[i], 1e-30)) : (double)x[i];
    return n ? sum / (double)n : 0;
}

/* Adds to both sums. */
static void compare(const struct tensor *was, const struct tensor *is, bool scores, bool logarithm,
                    double *signal, double *noise)
{
    const int64_t n = type_elements(&was->type);
    const double a = scores ? mean_of(was, logarithm) : 0;
    const double b = scores ? mean_of(is, logarithm) : 0;
    const float *x = was->data, *y = is->data;

    for (int64_t i = 0; i < n; i++) {
        const double u = logarithm ? log(fmax((double)x[i], 1e-30)) : (double)x[i];
        const double v = logarithm ? log(fmax((double)y[i], 1e-30)) : (double)y[i];

        *signal += (u - a) * (u - a);
        *noise += (u - a - v + b) * (u - a - v + b);
    }
}

static bool are_scores(const struct function *fn)
{
    const struct type *type = &fn->ret->inputs[0]->type;
    const int64_t n = type_elements(type);

    return fn->ret->n_inputs == 1 && n > 1 && type->rank > 0 && n <= 65536 &&
           (type->dim[type->rank - 1] == n || (type->rank > 1 && type->dim[1] == n));
}

/* --- both graphs ------------------------------------------------------------------------------ */

static bool run_all(struct quantization *q, struct estimate *e, struct tensor *results)
{
    struct function *fn = q->module->main;
    const struct diags saved = diag_save(q->ctx);
    bool ok = true;

    for (int s = 0; s < e->n_samples && ok; s++)
        ok = interpret(q->ctx, fn, e->inputs + s * fn->n_params, results + s * e->n_results,
                       &e->bulk, NULL);
    diag_restore(q->ctx, saved);
    return ok;
}

void estimate_begin(struct quantization *q)
{
    struct function *fn = q->module->main;
    struct estimate *e;
    struct cost cost;
    uint64_t state = 1;

    if (!q->options->data_free || !takes_floats(fn))
        return;
    cost = network_cost(q->module);
    if (cost.work > most_work || cost.bytes + cost.constant_bytes > most_bytes)
        return;
    e = arena_new(&q->ctx->perm, struct estimate);
    e->n_samples = (int)fmin(MOST_SAMPLES, fmax(1, most_work / 4 / fmax(cost.work, 1)));
    e->n_results = fn->ret->n_inputs;
    e->inputs = arena_array(&q->ctx->perm, struct tensor, e->n_samples * fn->n_params);
    e->results = arena_array(&q->ctx->perm, struct tensor, e->n_samples * e->n_results);
    for (int s = 0; s < e->n_samples; s++)
        for (int i = 0; i < fn->n_params; i++) {
            struct tensor *input = &e->inputs[s * fn->n_params + i];

            *input = tensor_new(&e->bulk, &fn->params[i]->type);
            fill(input, rms_of(q, fn->params[i]), &state);
        }
    if (run_all(q, e, e->results))
        q->estimate = e;
    else
        bulk_release(&e->bulk);
}

void estimate_end(struct quantization *q, bool is_whole)
{
    const struct function *fn = q->module->main;
    struct estimate *e = q->estimate;
    const bool scores = is_whole && are_scores(fn);
    struct tensor *now;
    double noise = 0, signal = 0;

    if (!e)
        return;
    now = arena_array(&q->ctx->perm, struct tensor, e->n_samples * e->n_results);
    if (is_whole && run_all(q, e, now))
        for (int i = 0; i < e->n_samples * e->n_results; i++)
            compare(&e->results[i], &now[i], scores,
                    scores && is_softmax(fn->ret->inputs[i % e->n_results]), &signal, &noise);
    if (signal > 0 && isfinite(noise / signal)) {
        q->report->noise = noise / signal;
        q->report->is_classifier = scores;
    }
    bulk_release(&e->bulk);
    q->estimate = NULL;
}
