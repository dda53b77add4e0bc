/* verify_layers.c - the graph after the passes on the reference evaluator, which keeps what each
 * layer gave; and on oneDNN, layer by layer on the reference's numbers. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/tensor_error.h"
#include "driver/commands/verify.h"
#include "runtime/engine/engine.h"

struct layer *layer_of(const struct verification *v, const struct value *value)
{
    return map_get(&v->layers, value->name);
}

void layer_note(struct layer *layer, enum column column, double error, double limit)
{
    struct column_error *c = &layer->column[column];

    if (isnan(c->error) || error / limit > c->error / c->limit)
        *c = (struct column_error){ error, limit };
}

struct tensor wanted_tensor(const struct verification *v, const struct verify_set *set,
                            const struct value *value)
{
    (void)v;
    if (value->kind == VALUE_PARAM)
        return set->inputs[value->index];
    if (value->kind == VALUE_CONSTANT)
        return value_tensor(value);
    return *(const struct tensor *)map_get(&set->values, value->name);
}

/* --- tolerances ------------------------------------------------------------------------------- */

/* How far the format's numbers of that magnitude lie; integers' always by 1. */
static double code_step(const struct type *type, double magnitude)
{
    const struct minifloat *format = type_minifloat(type);

    if (!format || !(magnitude > 0))
        return 1;
    return ldexp(1, ilogb(fmin(magnitude, minifloat_max(format))) - format->mantissa_bits);
}

/* Whether the node rounds floats to quantised values of one step: with a scale, or without. */
static bool is_quantiser(const struct node *n)
{
    return (n->op == OP_QNN_QUANTIZE && n->inputs[1]->kind == VALUE_CONSTANT) ||
           (n->op == OP_CAST && type_minifloat(&n->outputs[0]->type) &&
            dtype_kind(n->inputs[0]->type.dtype) == KIND_FLOAT);
}

/* The greatest distance of neighbours among what a quantiser makes of numbers up to `largest`. */
static double quantiser_step(const struct node *n, double largest)
{
    const struct type *quantized = &n->outputs[0]->type;
    double step = 0;

    if (n->op == OP_CAST)
        return code_step(quantized, largest);
    const struct tensor scale = value_tensor(n->inputs[1]);
    for (int64_t i = 0; i < type_elements(&scale.type); i++)
        step =
            fmax(step, tensor_at(&scale, i) * code_step(quantized, largest / tensor_at(&scale, i)));
    return step;
}

/* How often a region quantises floats, with *step the greatest step among numbers up to `largest`.
 */
static int count_quantisers(const struct function *fn, double largest, double *step)
{
    int count = 0;

    for (const struct node *n = fn->first; n; n = n->next)
        if (is_quantiser(n)) {
            *step = fmax(*step, quantiser_step(n, largest));
            count++;
        } else if (n->op == OP_CALL) { /* a composite */
            count += count_quantisers(n->callee, largest, step);
        }
    return count;
}

/* The numbers that a layer has to do with: what it makes, and what it reads. */
static double largest_around(const struct verification *v, const struct verify_set *set,
                             const struct node *call, double largest)
{
    for (int i = 0; i < call->n_inputs; i++) {
        const struct tensor input = wanted_tensor(v, set, call->inputs[i]);

        if (dtype_is_float(input.type.dtype))
            largest = fmax(largest, largest_magnitude(&input));
    }
    return largest;
}

double layer_tolerance(const struct verification *v, const struct verify_set *set,
                       const struct value *value, double largest)
{
    double step = 0;

    if (value->def->op == OP_CALL) {
        const struct function *fn = value->def->callee;
        const bool floats =
            dtype_kind(value->type.dtype) == KIND_FLOAT && !type_minifloat(&value->type);
        const int count = count_quantisers(
            fn, floats ? largest_around(v, set, value->def, largest) : largest, &step);

        step = count * (floats ? step : code_step(&value->type, largest));
    }
    return largest > 0 ? v->tolerance + step / largest : v->tolerance + step;
}

/* --- the reference ---------------------------------------------------------------------------- */

struct keeping {
    struct verification *v;
    struct verify_set *set;
};

static void keep_value(void *user, const struct value *value, const struct tensor *tensor)
{
    const struct keeping *keeping = user;
    struct driver_state *driver = keeping->v->driver;
    struct tensor *kept = arena_new(&driver->ctx->perm, struct tensor);

    *kept = tensor_new(&driver->bulk, &value->type);
    memcpy(kept->data, tensor->data, type_bytes(&tensor->type));
    map_set(&keeping->set->values, value->name, kept);
}

static void add_layers(struct verification *v)
{
    for (const struct node *node = v->module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            struct layer *layer = arena_new(&v->driver->ctx->perm, struct layer);

            for (int c = 0; c < N_COLUMNS; c++)
                layer->column[c] = (struct column_error){ NAN, 1 };
            map_set(&v->layers, node->outputs[i]->name, layer);
        }
}

bool verify_run_reference(struct verification *v)
{
    struct function *fn = v->module->main;
    bool ok = true;

    v->layers.arena = &v->driver->ctx->perm;
    add_layers(v);
    for (int k = 0; k < v->n_sets && ok; k++) {
        struct verify_set *set = &v->sets[k];
        struct keeping keeping = { v, set };
        const struct observer keep = { .see = keep_value, .user = &keeping };

        set->values.arena = &v->driver->ctx->perm;
        set->outputs = arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
        ok = interpret(v->driver->ctx, fn, set->inputs, set->outputs, &v->driver->bulk, &keep);
        for (const struct node *node = fn->first; node && ok; node = node->next)
            for (int i = 0; i < node->n_outputs; i++) {
                const struct tensor kept = wanted_tensor(v, set, node->outputs[i]);
                struct layer *layer = layer_of(v, node->outputs[i]);

                layer->largest = fmax(layer->largest, largest_magnitude(&kept));
            }
        for (int i = 0; i < fn->ret->n_inputs && ok; i++)
            set->outputs[i].type.quant = fn->ret->inputs[i]->type.quant;
    }
    return ok;
}

/* --- the engine ------------------------------------------------------------------------------- */

/* A region on the numbers that the reference gave what it reads. */
static bool engine_region(struct verification *v, struct engine *engine,
                          const struct verify_set *set, const struct node *call)
{
    struct arena *arena = &v->driver->ctx->scratch;
    struct tensor *inputs = arena_array(arena, struct tensor, call->n_inputs);
    struct tensor *outputs = arena_array(arena, struct tensor, call->n_outputs);
    struct bulk bulk = { 0 };
    bool ok;

    for (int i = 0; i < call->n_inputs; i++)
        inputs[i] = wanted_tensor(v, set, call->inputs[i]);
    ok = engine_run(engine, inputs, outputs, &bulk, NULL);
    for (int i = 0; i < call->n_outputs && ok; i++) {
        const struct tensor wanted = wanted_tensor(v, set, call->outputs[i]);
        const double largest = largest_magnitude(&wanted);

        layer_note(layer_of(v, call->outputs[i]), ENGINE,
                   relative_error(&wanted, largest, &outputs[i]),
                   layer_tolerance(v, set, call->outputs[i], largest));
    }
    bulk_release(&bulk);
    return ok;
}

static bool engine_regions(struct verification *v, const struct node *call)
{
    struct engine *engine = engine_new(v->driver->ctx, call->callee);
    bool ok = engine != NULL;

    for (int k = 0; k < v->n_sets && ok; k++)
        ok = engine_region(v, engine, &v->sets[k], call);
    engine_free(engine);
    return ok;
}

bool verify_run_engine(struct verification *v)
{
    struct function *fn = v->module->main;
    struct engine *engine = engine_new(v->driver->ctx, fn);
    bool ok = engine != NULL;

    for (int k = 0; k < v->n_sets && ok; k++) {
        struct verify_set *set = &v->sets[k];

        set->engine = arena_array(&v->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
        ok = engine_run(engine, set->inputs, set->engine, &v->driver->bulk, NULL);
        for (int i = 0; i < fn->ret->n_inputs && ok; i++)
            set->engine[i].type.quant = fn->ret->inputs[i]->type.quant;
    }
    if (engine)
        engine_count(engine, &v->n_onednn, &v->n_reference);
    engine_free(engine);
    for (const struct node *node = fn->first; node && ok; node = node->next)
        if (node->op == OP_CALL)
            ok = engine_regions(v, node);
    return ok;
}
