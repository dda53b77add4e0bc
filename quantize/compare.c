#include "quantize/compare.h"

#include <string.h>

#include "runtime/engine/engine.h"

/* A value of the float model, and its counterpart. */
struct pair {
    const struct value *x, *y;
    struct metrics *metrics;
    float *copy; /* of x in the sample at hand; of the run's bulk */
};

struct run {
    struct ctx *ctx;
    struct function *reference, *quantized;
    int n;
    struct pair *pairs;
    struct map by_name; /* name -> struct pair * */
    struct bulk *bulk;  /* of the sample at hand */
    bool add;           /* second pass */
};

static struct pair *pair_of(const struct run *run, const struct value *value)
{
    return map_get(&run->by_name, value->name);
}

static void see_reference(void *user, const struct value *value, const struct tensor *tensor)
{
    struct run *run = user;
    struct pair *pair = pair_of(run, value);
    const size_t bytes = type_bytes(&tensor->type);

    if (!pair || pair->x != value)
        return;
    pair->copy = bulk_alloc(run->bulk, bytes);
    memcpy(pair->copy, tensor->data, bytes);
}

static void see_quantized(void *user, const struct value *value, const struct tensor *tensor)
{
    struct run *run = user;
    struct pair *pair = pair_of(run, value);
    const int64_t n = type_elements(&tensor->type);

    if (!pair || pair->y != value || !pair->copy)
        return;
    if (run->add)
        metrics_add(pair->metrics, pair->copy, tensor->data, n);
    else
        metrics_range(pair->metrics, pair->copy, tensor->data, n);
}

/* --- which values ----------------------------------------------------------------------------- */

static void add_pair(struct run *run, const struct value *x, const struct map *quantized)
{
    const struct value *y = map_get(quantized, x->name);

    if (!y || x->type.dtype != DTYPE_F32 || y->type.dtype != DTYPE_F32 ||
        !type_same_shape(&x->type, &y->type) || op_row(x->def->op)->pattern == PATTERN_VIEW)
        return;
    run->pairs[run->n] = (struct pair){ x, y, metrics_new(&run->ctx->perm), NULL };
    map_set(&run->by_name, x->name, &run->pairs[run->n++]);
}

static void find_pairs(struct run *run)
{
    struct map quantized = { .arena = &run->ctx->perm };
    size_t n = 0;

    for (const struct node *node = run->quantized->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            map_set(&quantized, node->outputs[i]->name, node->outputs[i]);
    for (const struct node *node = run->reference->first; node; node = node->next)
        n += (size_t)node->n_outputs;
    run->pairs = arena_array(&run->ctx->perm, struct pair, n);
    for (const struct node *node = run->reference->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            add_pair(run, node->outputs[i], &quantized);
}

/* --- data ------------------------------------------------------------------------------------- */

static bool run_sample(struct run *run, struct engine *const engines[2], int64_t index,
                       const struct calibration_source *source)
{
    const struct observer observers[2] = { { .see = see_reference, .user = run },
                                           { .see = see_quantized, .user = run } };
    struct bulk bulk = { 0 };
    struct tensor *inputs =
        arena_array(&run->ctx->scratch, struct tensor, run->reference->n_params);
    struct tensor *outputs =
        arena_array(&run->ctx->scratch, struct tensor, run->reference->ret->n_inputs);
    bool ok = source->load(source->user, run->ctx, &bulk, index, inputs);

    run->bulk = &bulk;
    for (int i = 0; i < run->n; i++)
        run->pairs[i].copy = NULL;
    for (int i = 0; i < 2 && ok; i++)
        ok = engine_run(engines[i], inputs, outputs, &bulk, &observers[i]);
    run->bulk = NULL;
    bulk_release(&bulk);
    return ok;
}

static bool run_all(struct run *run, const struct calibration_source *source)
{
    struct engine *engines[2] = { engine_new(run->ctx, run->reference),
                                  engine_new(run->ctx, run->quantized) };
    bool ok = engines[0] && engines[1];

    for (int pass = 0; pass < 2 && ok; pass++) {
        run->add = pass == 1;
        for (int64_t i = 0; i < source->n && ok; i++)
            ok = run_sample(run, engines, i, source);
    }
    engine_free(engines[0]);
    engine_free(engines[1]);
    return ok;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* The f32 constant that became these quantised values: it had their name. */
static const struct value *original_of(const struct run *run, const struct value *quantized)
{
    for (const struct value *c = run->reference->constants; c; c = c->next)
        if (strcmp(c->name, quantized->name) == 0 && c->type.dtype == DTYPE_F32 &&
            type_same_shape(&c->type, &quantized->type))
            return c;
    return NULL;
}

static bool is_decoded_weight(const struct node *node)
{
    return (node->op == OP_QNN_DEQUANTIZE || node->op == OP_CAST) &&
           node->inputs[0]->kind == VALUE_CONSTANT && node->outputs[0]->type.dtype == DTYPE_F32;
}

static void compare_weight(struct run *run, const struct node *node, struct comparison *out)
{
    const struct value *quantized = node->inputs[0], *original = original_of(run, quantized);
    struct bulk bulk = { 0 };
    struct tensor numbers;

    if (original && interpret_constant(run->ctx, node->outputs[0], type_elements(&original->type),
                                       &bulk, &numbers)) {
        struct compared_layer *layer = &out->layers[out->n++];

        *layer = (struct compared_layer){ .name = quantized->name, .op = OP_COUNT };
        metrics_of(&run->ctx->perm, original->data, numbers.data, type_elements(&original->type),
                   &layer->metrics);
    }
    bulk_release(&bulk);
}

/* --- all -------------------------------------------------------------------------------------- */

static void collect(const struct run *run, struct comparison *out)
{
    for (int i = 0; i < run->n; i++) {
        struct compared_layer *layer = &out->layers[out->n++];

        *layer = (struct compared_layer){ .name = run->pairs[i].x->name,
                                          .op = run->pairs[i].x->def->op,
                                          .is_result = value_is_result(run->pairs[i].x) };
        metrics_result(run->pairs[i].metrics, &layer->metrics);
    }
}

bool compare_modules(struct ctx *ctx, struct module *reference, struct module *quantized,
                     const struct calibration_source *source, struct comparison *out)
{
    struct run run = { .ctx = ctx,
                       .reference = reference->main,
                       .quantized = quantized->main,
                       .by_name = { .arena = &ctx->perm } };
    size_t n_weights = 0;

    find_pairs(&run);
    for (const struct node *node = quantized->main->first; node; node = node->next)
        n_weights += is_decoded_weight(node);
    *out = (struct comparison){ .n_samples = source->n };
    out->layers = arena_array(&ctx->perm, struct compared_layer, n_weights + (size_t)run.n);
    for (const struct node *node = quantized->main->first; node; node = node->next)
        if (is_decoded_weight(node))
            compare_weight(&run, node, out);
    if (!run_all(&run, source))
        return false;
    collect(&run, out);
    return true;
}
