/* bias_correction.c - what quantisation shifts the mean of an output channel by goes into the bias.
 *
 * needs    observe: the float graph; correct: the simulated graph, products under their names
 * gives    for each product with constant weights: its mean per output channel, over samples and
 *          positions, is that of the float model, behind a relu or clip if there is one; nothing is
 *          added at run time but, where a product had no bias, one
 * method   Nagel et al. 2019 (1906.04721), 4.2 and appendix D: layer after layer, each computed
 *          with all corrections in front of it. By data: means are measured, and what gives them
 *          back is found by bias_match.c; data-free: data_free_bias.c. Means are not the results:
 *          where these come out worse (outcome.h), all corrections are taken back */
#include <string.h>

#include "quantize/bias_match.h"
#include "quantize/data_free.h"
#include "quantize/layer_mean.h"
#include "quantize/layer_walk.h"
#include "quantize/outcome.h"
#include "relay_ir/products.h"

enum {
    PICKED = 2048, /* numbers of a channel, over all samples */
    MAX_SAMPLES = 128
}; /* docs/guide/corrections.md has what fewer do */

static const size_t walk_bytes = (size_t)512 << 20;

static bool is_constant(const struct value *value, int depth)
{
    if (value->kind != VALUE_OUTPUT || depth == 0)
        return value->kind == VALUE_CONSTANT;
    for (int i = 0; i < value->def->n_inputs; i++)
        if (value->def->inputs[i] && !is_constant(value->def->inputs[i], depth - 1))
            return false;
    return true;
}

/* Weights are constants, or quantised values behind a cast or dequantize. */
static bool has_weights(const struct node *product)
{
    return is_product(product->op) && is_constant(product->inputs[1], 2) &&
           product->inputs[0]->kind != VALUE_CONSTANT &&
           dtype_is_float(product->outputs[0]->type.dtype);
}

static bool walk_layers(struct quantization *q,
                        bool (*wants)(void *user, const struct node *product),
                        bool (*see)(void *user, struct node *product, const struct linear *linear,
                                    const struct layer_result *result))
{
    const struct calibration_source *samples = q->options->samples;
    const int64_t n = samples->n < MAX_SAMPLES ? samples->n : MAX_SAMPLES;
    const struct layer_walk walk = {
        .ctx = q->ctx,
        .fn = q->module->main,
        .source = samples,
        .n_samples = n,
        .pick = PICKED / n,
        .n_threads = q->options->n_threads > 0 ? q->options->n_threads : 1,
        .memory = walk_bytes,
        .what = "bias correction",
        .wants = wants,
        .see = see,
        .user = q,
    };

    return layer_walk(&walk);
}

static bool wants_any(void *user, const struct node *product)
{
    (void)user;
    return has_weights(product);
}

static bool remember(void *user, struct node *product, const struct linear *linear,
                     const struct layer_result *result)
{
    layer_mean_add(user, product, linear, NULL, result);
    return true;
}

static bool wants_known(void *user, const struct node *product)
{
    return has_weights(product) && layer_mean_find(user, product);
}

static bool correct(void *user, struct node *product, const struct linear *linear,
                    const struct layer_result *found)
{
    const int64_t n = found->n_picked;
    struct quantization *q = user;
    const struct layer_mean *wanted = layer_mean_find(q, product);
    const struct activation activation = activation_of(product, linear);
    struct arena arena = { NULL };
    double *shift = arena_array(&arena, double, linear->out_c);
    bool ok;

    for (int64_t c = 0; c < linear->out_c; c++)
        shift[c] = bias_match(&activation, c, wanted->picked + c * n, found->picked + c * n, n,
                              wanted->out[c] - found->mean[c]);
    q->report->n_corrected++;
    ok = bias_shift(q, product, linear, shift);
    arena_release(&arena);
    return ok;
}

bool quantize_observe(struct quantization *q)
{
    estimate_begin(q);
    if ((q->options->round != ROUND_NEAREST || /* whose judge the results are, too */
         (choose_scale_wanted(q) && q->options->samples && q->options->samples->n > 0)) &&
        !q->wanted) {
        q->wanted = outcome_of(q);
        if (!q->wanted)
            return false;
    }
    if (q->options->bias == BIAS_DATA_FREE)
        return data_free_observe(q);
    if (q->options->bias == BIAS_AS_IS)
        return true;
    if (!q->options->samples || q->options->samples->n < 1) {
        diag_error(q->ctx, DIAG_USAGE, NULL, "bias correction by data needs samples");
        diag_help(q->ctx, "give --data, or correct without data from the batch norms of the model");
        return false;
    }
    if (!q->wanted)
        q->wanted = outcome_of(q);
    return q->wanted && walk_layers(q, wants_any, remember);
}

/* By data; taken back when the results of the network are nearer to the float model's without. */
static bool correct_or_restore(struct quantization *q)
{
    struct quantize_report *report = q->report;

    if (!q->wanted)
        return walk_layers(q, wants_known, correct);
    if (!outcome_loss(q, q->wanted, &report->loss_before) ||
        !walk_layers(q, wants_known, correct) || !outcome_loss(q, q->wanted, &report->loss_after))
        return false;
    report->is_restored = report->n_corrected > 0 && report->loss_after > report->loss_before;
    if (report->is_restored)
        bias_restore(q);
    return true;
}

bool quantize_correct_bias(struct quantization *q)
{
    int n = 0;
    bool ok = true;

    if (q->options->bias == BIAS_AS_IS)
        return true;
    for (const struct node *node = q->module->main->first; node; node = node->next)
        n += is_product(node->op);
    if (q->options->bias == BIAS_DATA_FREE)
        ok = data_free_correct(q);
    else
        ok = correct_or_restore(q);
    if (q->report->n_corrected || !q->options->data_free) /* nobody asked for it */
        q->report->n_uncorrected = n - q->report->n_corrected;
    return ok;
}
