/* smooth.c - ranges of data move into weights, so that data of a transformer fits 8 bits.
 *
 * needs    the prepared float graph, before it is calibrated; samples
 * gives    the same function. Where only products with constant weights read a layer norm, channel
 *          j of its gamma and beta is divided by s_j, and the weights that read it are
 *          multiplied: no node is added
 * method   SmoothQuant (Xiao et al. 2022, 2211.10438): s_j = max|x_j|^a / max|w_j|^(1 - a). What
 *          data and weights lose then is foretold from the sums of gram.h; a norm whose products
 *          would lose more stays as it is. What layers lose is not what the network loses: it is
 *          quantised with and without, and where its results come out worse (outcome.h), all norms
 *          are as they were again */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/gram.h"
#include "quantize/outcome.h"
#include "quantize/workers.h"
#include "relay_ir/copy.h"

static const double limit = 0x1p8; /* of a factor, and of its reciprocal */

enum { GAMMA = 1, BETA = 2, MAX_READERS = 16 };

/* A constant that was exchanged for another one. */
struct changed {
    struct node *node;
    int input;
    struct value *was;
    bool was_shared; /* and has its name still */
    struct changed *next;
};

struct smoothing {
    struct quantization *q;
    struct changed *changed;
    struct node *norm;
    int n;
    struct gram grams[MAX_READERS];
    double *factors; /* [in_c] */
};

/* --- which norms ------------------------------------------------------------------------------ */

static bool is_vector(const struct value *value, int64_t n)
{
    return value && value->kind == VALUE_CONSTANT && value->type.dtype == DTYPE_F32 &&
           type_elements(&value->type) == n;
}

static bool takes(struct node *reader, const struct value *y, struct gram *gram)
{
    const struct value *weight = reader->n_inputs == 2 ? reader->inputs[1] : NULL;

    return (reader->op == OP_DENSE || reader->op == OP_MATMUL) && reader->inputs[0] == y &&
           weight->kind == VALUE_CONSTANT && weight->type.dtype == DTYPE_F32 &&
           !weight->uses->next && gram_prepare(reader, gram) &&
           gram->linear.in_axis == y->type.rank - 1;
}

/* All who read the value are products, or views that leave its last dimension alone, of whose
 * readers the same holds. */
static bool add_readers(struct smoothing *s, const struct value *y)
{
    for (const struct use *use = y->uses; use; use = use->next) {
        struct node *reader = use->node;

        if (reader->op == OP_RESHAPE && reader->outputs[0]->type.rank > 0 &&
            reader->outputs[0]->type.dim[reader->outputs[0]->type.rank - 1] ==
                y->type.dim[y->type.rank - 1]) {
            if (!add_readers(s, reader->outputs[0]))
                return false;
        } else if (s->n == MAX_READERS || !takes(reader, y, &s->grams[s->n++])) {
            return false;
        }
    }
    return y->uses != NULL;
}

static bool find_readers(struct smoothing *s)
{
    const struct value *y = s->norm->outputs[0];
    const int64_t n = y->type.rank ? y->type.dim[y->type.rank - 1] : 0;

    s->n = 0;
    if (s->norm->attrs.norm.axis != y->type.rank - 1 || !is_vector(s->norm->inputs[GAMMA], n) ||
        !is_vector(s->norm->inputs[BETA], n))
        return false;
    return add_readers(s, y);
}

/* --- factors ---------------------------------------------------------------------------------- */

static int64_t place_of(const struct gram *gram, int64_t o, int64_t i)
{
    return gram->linear.in_first ? i * gram->linear.out_c + o : o * gram->k + i;
}

static void find_factors(struct smoothing *s)
{
    const double alpha = s->q->options->smooth;
    const float *x = s->grams[0].greatest;

    for (int64_t i = 0; i < s->grams[0].k; i++) {
        double most = 0;

        for (int r = 0; r < s->n; r++) {
            const float *w = s->grams[r].product->inputs[1]->data;

            for (int64_t o = 0; o < s->grams[r].linear.out_c; o++)
                most = fmax(most, fabs((double)w[place_of(&s->grams[r], o, i)]));
        }
        s->factors[i] = x[i] > 0 && most > 0 ? pow((double)x[i], alpha) / pow(most, 1 - alpha) : 1;
        s->factors[i] = fmin(fmax(s->factors[i], 1 / limit), limit);
    }
}

/* --- what is lost ----------------------------------------------------------------------------- */

/* The variance of what rounding adds to a number of data: of a uniform step of integers, of steps
 * that grow with the number for FP8. */
static double data_noise(const struct precision *p, double mean_square, double greatest)
{
    const double step = p->data.dtype == DTYPE_I8
                            ? greatest / 127
                            : ldexp(1, -p->data.codec.mantissa_bits) * sqrt(mean_square);

    return p->has_data ? step * step / 12 : 0;
}

/* One output row of a product, multiplied by the factors and stored small: (w - q) H (w - q), and
 * what the noise of the data makes of it. */
static double row_loss(const struct smoothing *s, const struct gram *gram, int64_t o,
                       const double *factors, double greatest, float *scaled, double *error)
{
    const struct precision *p = &s->q->options->precision;
    const float *w = gram->product->inputs[1]->data;
    const int64_t k = gram->k;
    double scale, loss = 0;

    for (int64_t i = 0; i < k; i++)
        scaled[i] = (float)((double)w[place_of(gram, o, i)] * factors[i]);
    scale = (double)scale_of_numbers(&p->weight_scale, &p->weights, scaled, k);
    for (int64_t i = 0; i < k; i++) {
        const double mean_square = (double)gram->sums[i * k + i] / (double)gram->n;
        const double noise = data_noise(p, mean_square / (factors[i] * factors[i]), greatest);

        error[i] =
            p->has_weights
                ? ((double)scaled[i] - number_format_round(&p->weights, (double)scaled[i], scale)) /
                      factors[i]
                : 0;
        loss += (double)gram->n * noise * (double)scaled[i] * (double)scaled[i];
    }
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            loss += error[i] * error[j] * (double)gram->sums[i * k + j];
    return loss;
}

static double loss_of(const struct smoothing *s, const double *factors)
{
    struct arena arena = { NULL };
    const int64_t k = s->grams[0].k;
    float *scaled = arena_array(&arena, float, k);
    double *error = arena_array(&arena, double, k), loss = 0, greatest = 0;

    for (int64_t i = 0; i < k; i++)
        greatest = fmax(greatest, (double)s->grams[0].greatest[i] / factors[i]);
    for (int r = 0; r < s->n; r++)
        for (int64_t o = 0; o < s->grams[r].linear.out_c; o++)
            loss += row_loss(s, &s->grams[r], o, factors, greatest, scaled, error);
    arena_release(&arena);
    return loss;
}

/* --- the graph -------------------------------------------------------------------------------- */

/* Exchanges the input of the node for numbers that come of it; *was is what it was. */
static float *exchange(struct smoothing *s, struct node *node, int input, const float **was)
{
    struct value *old = node->inputs[input];
    const struct type type = old->type;
    struct changed *changed = arena_new(&s->q->ctx->perm, struct changed);
    float *data = constant_alloc(node->fn, &type);

    *changed = (struct changed){ node, input, old, old->uses->next != NULL, s->changed };
    s->changed = changed;
    constant_exchange(node, input, &type, data);
    *was = old->data;
    return data;
}

static void scale_vector(struct smoothing *s, int input)
{
    const int64_t n = type_elements(&s->norm->inputs[input]->type);
    const float *was;
    float *data = exchange(s, s->norm, input, &was);

    for (int64_t i = 0; i < n; i++)
        data[i] = (float)((double)was[i] / s->factors[i]);
}

static void scale_weights(struct smoothing *s, const struct gram *gram)
{
    const float *was;
    float *data = exchange(s, (struct node *)(uintptr_t)gram->product, 1, &was);

    for (int64_t o = 0; o < gram->linear.out_c; o++)
        for (int64_t i = 0; i < gram->k; i++) {
            const int64_t at = place_of(gram, o, i);

            data[at] = (float)((double)was[at] * s->factors[i]);
        }
}

static void restore(struct smoothing *s)
{
    for (struct changed *c = s->changed; c; c = c->next) {
        struct value *now = c->node->inputs[c->input];

        node_set_input(c->node, c->input, c->was);
        if (!c->was_shared)
            value_take_name(c->was, now);
    }
}

static void write_log(const struct smoothing *s, double before, double after)
{
    if (!s->q->options->log || s->q->options->log_json) /* whose lines are searches */
        return;
    writer_printf(s->q->options->log,
                  "# smoothing of %s: %d product%s, squared error about %.4g -> %.4g%s\n",
                  str_safe(&s->q->ctx->scratch, s->norm->outputs[0]->name, 200), s->n,
                  str_plural(s->n), before, after, after < before ? "" : ": left as it was");
}

static bool smooth_norm(struct smoothing *s)
{
    struct arena arena = { NULL };
    double *ones, before, after;
    bool ok;

    s->factors = arena_array(&arena, double, s->grams[0].k);
    ones = arena_array(&arena, double, s->grams[0].k);
    for (int64_t i = 0; i < s->grams[0].k; i++)
        ones[i] = 1;
    ok = grams_collect(s->q, s->grams, s->n, true, &arena);
    if (ok) {
        find_factors(s);
        before = loss_of(s, ones);
        after = loss_of(s, s->factors);
        write_log(s, before, after);
        if (after < before) {
            scale_vector(s, GAMMA);
            scale_vector(s, BETA);
            for (int r = 0; r < s->n; r++)
                scale_weights(s, &s->grams[r]);
            s->q->report->n_smoothed++;
        } else {
            s->q->report->n_unsmoothed++;
        }
    }
    arena_release(&arena);
    return ok;
}

static bool smooth_all(struct smoothing *s)
{
    struct quantization *q = s->q;

    for (struct node *node = q->module->main->first; node; node = node->next) {
        if (node->op != OP_LAYER_NORM)
            continue;
        s->norm = node;
        if (!find_readers(s))
            q->report->n_unsmoothed++;
        else if (!smooth_norm(s))
            return false;
    }
    return true;
}

/* --- what the network makes of it ------------------------------------------------------------- */

/* How far the results are from the float model's when the module, as it is now, is quantised. */
static bool foresee(struct quantization *q, double *loss)
{
    const struct pipeline_options silent = { .log = NULL };
    struct quantize_options options = *q->options;
    struct ctx *ctx = ctx_new(q->ctx->diags.input_name);
    struct module *copy = module_copy(ctx, q->module);
    struct quantization small = { .module = copy, .ctx = ctx, .options = &options };
    struct quantize_report ignored;
    bool ok;

    options.smooth = 0;
    options.equalize = false; /* was done before */
    options.round = ROUND_NEAREST;
    options.bias = BIAS_AS_IS;
    options.simulate_only = true;
    options.log = NULL;
    ok = copy && quantize_module(copy, &options, &silent, &ignored) &&
         outcome_loss(&small, q->wanted, loss);
    if (!ok)
        workers_report(q->ctx, ctx, "smoothing");
    module_free(copy);
    ctx_free(ctx);
    return ok;
}

static void take_back(struct smoothing *s)
{
    struct quantize_report *report = s->q->report;

    restore(s);
    report->n_unsmoothed += report->n_smoothed;
    report->n_smoothed = 0;
    report->is_roughened = true;
    if (s->q->options->log && !s->q->options->log_json)
        writer_printf(s->q->options->log,
                      "# smoothing: undone, since the results got worse (%.4g -> %.4g)\n",
                      report->smooth_before, report->smooth_after);
}

bool quantize_smooth(struct quantization *q)
{
    struct quantize_report *report = q->report;
    struct smoothing s = { .q = q };

    if (q->options->smooth <= 0)
        return true;
    q->wanted = outcome_of(q);
    if (!q->wanted || !foresee(q, &report->smooth_before) || !smooth_all(&s))
        return false;
    if (report->n_smoothed == 0)
        return true;
    if (!foresee(q, &report->smooth_after))
        return false;
    if (report->smooth_after > report->smooth_before)
        take_back(&s);
    return true;
}
