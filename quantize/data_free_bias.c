/* data_free_bias.c - bias correction without data: the mean of a product's input channels is what
 * the batch norms in front of it say (Nagel et al. 2019, 4.2.1).
 *
 * needs    observe: the prepared float graph; correct: the simulated one
 * gives    the bias has what (weights - quantised weights) make of that mean. What quantisation of
 *          data shifts is not seen. Where nothing is known of the data (the first layer, what comes
 *          behind a maximum pool, models without batch norms), the product is left alone */
#include "quantize/expectation.h"
#include "quantize/layer_mean.h"

static void observe(struct quantization *q, const struct node *product, const struct linear *linear,
                    const struct expectation *x)
{
    struct arena arena = { NULL };
    double *in = arena_array(&arena, double, linear->in_c);
    double *out = arena_array(&arena, double, linear->out_c);

    for (int64_t i = 0; i < linear->in_c; i++)
        in[i] = clipped_mean(&x->channels[i]);
    if (product_mean(q->ctx, product, linear, in, out))
        layer_mean_add(q, product, linear, in, &(struct layer_result){ .mean = out });
    arena_release(&arena);
}

bool data_free_observe(struct quantization *q)
{
    const struct batch_norms *norms = q->statistics ? q->statistics : q->options->batch_norms;
    struct function *fn = q->module->main;
    struct arena arena = { NULL };
    const struct expectation **known;
    struct linear linear;

    if ((!norms || !batch_norms_count(norms)) && q->options->data_free)
        return true; /* nobody asked for it */
    if (!norms || !batch_norms_count(norms)) {
        diag_warn(q->ctx, DIAG_CALIB_TABLE, NULL,
                  "the model has no batch norms: biases cannot be corrected without data");
        diag_help(q->ctx, "correct biases by data, or export the model with its batch norms (not "
                          "folded into convolutions)");
        return true;
    }
    known = expectations(q->ctx, &arena, fn, norms);
    for (const struct node *node = fn->first; node; node = node->next) {
        const struct expectation *x =
            node->n_inputs == 2 && node->inputs[0] ? known[node->inputs[0]->id] : NULL;

        if (x && linear_of(node, &linear) && x->axis == linear.in_axis && x->n == linear.in_c)
            observe(q, node, &linear, x);
    }
    arena_release(&arena);
    return true;
}

static bool correct(struct quantization *q, struct node *product, const struct linear *linear,
                    const struct layer_mean *mean)
{
    struct arena arena = { NULL };
    double *shift = arena_array(&arena, double, linear->out_c);
    bool ok = true;

    if (product_mean(q->ctx, product, linear, mean->in, shift)) {
        for (int64_t c = 0; c < linear->out_c; c++)
            shift[c] = mean->out[c] - shift[c];
        ok = bias_shift(q, product, linear, shift);
        q->report->n_corrected++;
    }
    arena_release(&arena);
    return ok;
}

bool data_free_correct(struct quantization *q)
{
    bool ok = true;

    for (struct node *node = q->module->main->first, *next; node && ok; node = next) {
        const struct layer_mean *mean = layer_mean_find(q, node);
        struct linear linear;

        next = node->next;
        if (mean && linear_of(node, &linear))
            ok = correct(q, node, &linear, mean);
    }
    return ok;
}
