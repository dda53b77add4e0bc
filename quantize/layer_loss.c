#include "quantize/layer_loss.h"

#include <string.h>

#include "quantize/format_search.h"
#include "quantize/workers.h"
#include "relay_ir/outline.h"
#include "runtime/engine/engine.h"

enum { MAX_SAMPLES = 16 };

/* A product, and what it reads when it is quantised. */
struct judged {
    const struct node *node;
    const float *weights;     /* rounded; NULL = as they are */
    struct data_scale *scale; /* [n_inputs] */
    bool *is_small;           /* [n_inputs], of data */
};

/* Each thread has the function with a quantised twin behind each product, and takes the samples
 * that have its number, modulo their number: no sum depends on the threads. */
struct worker {
    struct sample_worker common;
    struct quantization *q;
    struct module *module;
    int n_judged;
    const struct judged *judged;
    struct map products, twins; /* name of the result -> (index of the product + 1) */
    int64_t n_samples;
    double *losses;        /* [n_samples, n_judged] */
    int64_t sample;        /* at hand */
    struct bulk *bulk;     /* of it */
    const float **results; /* [n_judged] of the float products, until their twins come */
};

/* --- without samples -------------------------------------------------------------------------- */

static float *rounded_weights(const struct node *node, const struct precision *p, struct bulk *bulk)
{
    const struct value *weight = node->inputs[1];
    float *numbers;
    int rank;

    if (!p->has_weights || weight->kind != VALUE_CONSTANT || weight->type.dtype != DTYPE_F32 ||
        type_elements(&weight->type) == 0)
        return NULL;
    numbers = bulk_alloc(bulk, (size_t)type_elements(&weight->type) * sizeof *numbers);
    weights_round(weight, product_channel_axis(node, &rank), p, numbers);
    return numbers;
}

static double weight_loss(const struct quantization *q, const struct judged *judged)
{
    const struct value *weight = judged->node->inputs[1];
    struct metrics_result result;

    if (!judged->weights)
        return 0;
    metrics_of(&q->ctx->scratch, weight->data, judged->weights, type_elements(&weight->type),
               &result);
    return result.loss[q->options->loss];
}

/* Of what the table knows of an input; 0 where that is nothing. */
static double data_loss(const struct quantization *q, const struct judged *judged, int input)
{
    const struct value *value = judged->node->inputs[input];
    const struct calib_tensor *tensor =
        q->calibration ? calib_find(q->calibration, value->name) : NULL;
    const struct data_scale *s = &judged->scale[input];
    const struct scale_rule rule = { .kind = SCALE_FIXED, .number = (double)s->scale };
    const struct search_space space = { 1, 1, &s->format, &rule, q->options->loss };
    struct search_result result;

    if (!tensor || !tensor->histogram)
        return 0;
    search_histogram(&q->ctx->scratch, &space, tensor->histogram, &result);
    return result.trials[0].loss[q->options->loss];
}

static void losses_of_tables(const struct quantization *q, int n, const struct judged *judged,
                             double *losses)
{
    for (int k = 0; k < n; k++) {
        losses[k] = weight_loss(q, &judged[k]);
        for (int i = 0; i < judged[k].node->n_inputs; i++)
            losses[k] += judged[k].is_small[i] ? data_loss(q, &judged[k], i) : 0;
    }
}

/* --- the function with twins ------------------------------------------------------------------ */

static struct value *number_new(struct function *fn, enum dtype dtype, double number)
{
    const struct type type = type_scalar(dtype);
    void *data = constant_alloc(fn, &type);

    if (dtype == DTYPE_F32)
        dtype_store(dtype, data, 0, number);
    else
        dtype_store_int(dtype, data, 0, (int64_t)number);
    return constant_new(fn, "judged", &type, data);
}

/* The numbers of a value as they would be read. NULL after an error. */
static struct value *rounded_data(struct function *fn, struct value *value,
                                  const struct data_scale *s)
{
    const union attrs attrs = { .quantize = { .saturate = true } };
    struct value *inputs[3] = { value, number_new(fn, DTYPE_F32, (double)s->scale),
                                number_new(fn, s->format.dtype, s->zero) };

    inputs[0] = build(fn, OP_QNN_QUANTIZE, &attrs, "judged", NULL, NULL, 3, inputs);
    return inputs[0] ? build(fn, OP_QNN_DEQUANTIZE, NULL, "judged", NULL, NULL, 3, inputs) : NULL;
}

/* Behind the product that was outlined last. */
static bool add_twin(struct worker *worker, int k)
{
    struct function *fn = worker->module->main;
    const struct judged *judged = &worker->judged[k];
    const struct node *node = fn->last;
    struct value **inputs = arena_array(&worker->module->arena, struct value *, node->n_inputs);
    const struct value *twin;

    for (int i = 0; i < node->n_inputs; i++) {
        inputs[i] = node->inputs[i];
        if (judged->is_small[i])
            inputs[i] = rounded_data(fn, inputs[i], &judged->scale[i]);
        if (i == 1 && judged->weights)
            inputs[i] = constant_new(fn, "judged", &inputs[i]->type, judged->weights);
        if (node->inputs[i] && !inputs[i])
            return false;
    }
    twin = build(fn, node->op, &node->attrs, "judged", node->origin, NULL, node->n_inputs, inputs);
    if (!twin)
        return false;
    map_set(&worker->products, node->outputs[0]->name, (void *)(uintptr_t)(k + 1));
    map_set(&worker->twins, twin->name, (void *)(uintptr_t)(k + 1));
    return true;
}

static bool make_function(struct worker *worker)
{
    const struct function *from = worker->q->module->main;
    struct function *fn = worker->module->main;
    struct arena *arena = &worker->module->arena;
    struct value **outer = arena_array(arena, struct value *, from->n_params);
    struct value **results = arena_array(arena, struct value *, from->ret->n_inputs);
    const char **names = arena_array(arena, const char *, from->ret->n_inputs);
    int k = 0;

    for (int i = 0; i < from->n_params; i++)
        param_new(fn, from->params[i]->name, &from->params[i]->type);
    for (const struct node *node = from->first; node; node = node->next) {
        if (!node_outline(fn, node, outer))
            return false;
        if (k < worker->n_judged && worker->judged[k].node == node && !add_twin(worker, k++))
            return false;
    }
    for (int i = 0; i < from->ret->n_inputs; i++) {
        results[i] = map_get(&fn->names, from->ret->inputs[i]->name);
        names[i] = from->ret->inputs[i]->name;
        if (!results[i]) { /* a constant that no node reads */
            const struct value *c = from->ret->inputs[i];

            results[i] = constant_new(fn, c->name, &c->type, c->data);
        }
    }
    results_set(fn, from->ret->n_inputs, results, names);
    return true;
}

static bool make_engine(void *user)
{
    struct worker *worker = user;

    worker->module = module_new(worker->common.ctx);
    if (make_function(worker))
        worker->common.engine = engine_new(worker->common.ctx, worker->module->main);
    return worker->common.engine != NULL;
}

static void free_module(void *user)
{
    struct worker *worker = user;

    module_free(worker->module);
}

/* --- samples ---------------------------------------------------------------------------------- */

static void see(void *user, const struct value *value, const struct tensor *tensor)
{
    struct worker *worker = user;
    const size_t product = (size_t)(uintptr_t)map_get(&worker->products, value->name);
    const size_t twin = (size_t)(uintptr_t)map_get(&worker->twins, value->name);
    const size_t bytes = type_bytes(&tensor->type);
    struct metrics_result result;

    if (product) {
        float *copy = bulk_alloc(worker->bulk, bytes);

        memcpy(copy, tensor->data, bytes);
        worker->results[product - 1] = copy;
    } else if (twin) {
        metrics_of(&worker->common.ctx->scratch, worker->results[twin - 1], tensor->data,
                   type_elements(&tensor->type), &result);
        worker->losses[worker->sample * worker->n_judged + (int64_t)twin - 1] =
            result.loss[worker->q->options->loss];
    }
}

static bool run_sample(struct worker *worker, int64_t sample)
{
    const struct calibration_source *source = worker->q->options->samples;
    const struct observer observer = { .see = see, .user = worker };
    const struct function *fn = worker->module->main;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct tensor *inputs = arena_array(&arena, struct tensor, fn->n_params);
    struct tensor *outputs = arena_array(&arena, struct tensor, fn->ret->n_inputs);
    bool ok;

    worker->sample = sample;
    worker->bulk = &bulk;
    worker->results = arena_array(&arena, const float *, worker->n_judged);
    ok = source->load(source->user, worker->common.ctx, &bulk, sample, inputs) &&
         engine_run(worker->common.engine, inputs, outputs, &bulk, &observer);
    worker->bulk = NULL;
    worker->results = NULL;
    bulk_release(&bulk);
    arena_release(&arena);
    arena_release(&worker->common.ctx->scratch);
    return ok;
}

static void run_samples(void *user)
{
    struct worker *worker = user;
    struct sample_worker *common = &worker->common;

    for (int64_t s = common->index; s < worker->n_samples && common->failed < 0; s += common->n)
        if (!run_sample(worker, s))
            common->failed = s;
}

static bool losses_of_samples(struct quantization *q, int n_judged, const struct judged *judged,
                              double *losses)
{
    static const struct sample_work work = { "topk", make_engine, run_samples, free_module };
    const int64_t n_samples =
        q->options->samples->n < MAX_SAMPLES ? q->options->samples->n : MAX_SAMPLES;
    const int n = workers_wanted(n_samples, q->options->n_threads);
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n);
    double *all = arena_array(&arena, double, n_samples *n_judged);
    bool ok;

    for (int i = 0; i < n; i++)
        workers[i] = (struct worker){ .q = q,
                                      .n_judged = n_judged,
                                      .judged = judged,
                                      .products = { .arena = &arena },
                                      .twins = { .arena = &arena },
                                      .n_samples = n_samples,
                                      .losses = all };
    ok = workers_on_samples(q->ctx, workers, sizeof *workers, n, &work);
    for (int64_t s = 0; s < n_samples; s++)
        for (int k = 0; k < n_judged; k++)
            losses[k] += all[s * n_judged + k] / (double)n_samples;
    arena_release(&arena);
    return ok;
}

/* --- all -------------------------------------------------------------------------------------- */

static void judge(struct quantization *q, const struct node *node, struct bulk *bulk,
                  struct judged *out)
{
    const struct precision *p = precision_of_node(q, node, NULL);
    struct arena *arena = &q->ctx->scratch;

    *out = (struct judged){ .node = node, .weights = rounded_weights(node, p, bulk) };
    out->scale = arena_array(arena, struct data_scale, node->n_inputs);
    out->is_small = arena_array(arena, bool, node->n_inputs);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        out->is_small[i] = value && value->kind != VALUE_CONSTANT &&
                           value->type.dtype == DTYPE_F32 && reads_quantized(node, i, p) &&
                           data_scale_of(q, p, value, &out->scale[i]);
    }
}

bool layer_losses(struct quantization *q, int n, const struct node *const *products, double *losses)
{
    struct bulk bulk = { 0 };
    struct judged *judged = arena_array(&q->ctx->scratch, struct judged, n);
    bool ok = true;

    memset(losses, 0, (size_t)n * sizeof *losses);
    for (int k = 0; k < n; k++)
        judge(q, products[k], &bulk, &judged[k]);
    if (q->options->samples && q->options->samples->n > 0)
        ok = losses_of_samples(q, n, judged, losses);
    else
        losses_of_tables(q, n, judged, losses);
    bulk_release(&bulk);
    return ok;
}
