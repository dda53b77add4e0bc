/* cmd_verify.c - one model, three executors, layer by layer.
 *
 * The reference evaluator says what every region's outputs should be; the oneDNN engine and the
 * generated C (built with the host's compiler, run region by region) are held against it. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/host_code.h"
#include "runtime/engine/engine.h"

enum executor { ENGINE, GENERATED, N_EXECUTORS };

static const char *const executor_name[N_EXECUTORS] = { "oneDNN engine", "generated C" };

struct layer {
    struct tensor reference;       /* data NULL: not computed by a node of main */
    double largest;                /* of the reference's magnitudes */
    double error[N_EXECUTORS];     /* relative to `largest`; NaN = not compared */
};

struct verification {
    struct cli *cli;
    struct module *module;
    const struct tensor *inputs;
    struct layer *layers; /* by value id */
    double tolerance;
    enum executor now;
    int n_onednn, n_reference;
};

/* Largest |a - b| over the elements; NaN agrees with NaN, an infinity with itself. */
static double largest_error(const struct tensor *a, const struct tensor *b)
{
    const int64_t n = type_elements(&a->type);
    double worst = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = tensor_at(a, i), y = tensor_at(b, i);
        const double error = (isnan(x) && isnan(y)) || x == y ? 0 : fabs(x - y);

        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

static double largest_magnitude(const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    double largest = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = fabs(tensor_at(tensor, i));

        if (isfinite(x) && x > largest)
            largest = x;
    }
    return largest;
}

static double relative_error(const struct layer *layer, const struct tensor *found)
{
    const double error = largest_error(&layer->reference, found);

    return layer->largest > 0 ? error / layer->largest : error;
}

static void keep_reference(void *user, const struct value *value, const struct tensor *tensor)
{
    struct verification *v = user;
    struct layer *layer = &v->layers[value->id];

    layer->reference = tensor_new(&v->cli->bulk, &tensor->type);
    memcpy(layer->reference.data, tensor->data, type_bytes(&tensor->type));
    layer->largest = largest_magnitude(tensor);
    for (int i = 0; i < N_EXECUTORS; i++)
        layer->error[i] = NAN;
}

static void compare_layer(void *user, const struct value *value, const struct tensor *tensor)
{
    struct verification *v = user;
    struct layer *layer = &v->layers[value->id];

    if (layer->reference.data)
        layer->error[v->now] = relative_error(layer, tensor);
}

static bool run_reference(struct verification *v)
{
    struct function *fn = v->module->main;
    struct tensor *outputs = arena_array(&v->cli->ctx->perm, struct tensor, fn->ret->n_inputs);
    const struct observer keep = { .see = keep_reference, .user = v };

    return interpret(v->cli->ctx, fn, v->inputs, outputs, &v->cli->bulk, &keep);
}

static bool run_engine(struct verification *v)
{
    struct function *fn = v->module->main;
    struct tensor *outputs = arena_array(&v->cli->ctx->perm, struct tensor, fn->ret->n_inputs);
    const struct observer compare = { .see = compare_layer, .user = v };
    struct engine *engine = engine_new(v->cli->ctx, fn);
    bool ok;

    v->now = ENGINE;
    if (!engine)
        return false;
    engine_count(engine, &v->n_onednn, &v->n_reference);
    ok = engine_run(engine, v->inputs, outputs, &v->cli->bulk, &compare);
    engine_free(engine);
    return ok;
}

static bool compare_region(struct verification *v, const struct host_code *code,
                           const struct tensor *outputs, int region)
{
    const struct codegen_region *r = &code->result.regions[region];
    const unsigned char *arena = generated_arena(code->generated);

    if (!generated_step(code->generated, region))
        return false;
    for (int i = 0; i < r->call->n_outputs; i++) {
        const struct codegen_place *place = &r->results[i];
        const void *data = place->kind == PLACE_OUTPUT ? outputs[place->index].data
                                                       : arena + place->offset;
        const struct tensor found = { r->call->outputs[i]->type, (void *)(uintptr_t)data };

        compare_layer(v, r->call->outputs[i], &found);
    }
    return true;
}

static bool step_through(struct verification *v, const struct host_code *code)
{
    struct function *fn = v->module->main;
    struct tensor *outputs = arena_array(&v->cli->ctx->perm, struct tensor, fn->ret->n_inputs);

    v->now = GENERATED;
    if (!generated_begin(code->generated, v->inputs, outputs, &v->cli->bulk))
        return false;
    for (int i = 0; i < code->result.n_regions; i++)
        if (!compare_region(v, code, outputs, i))
            return false;
    return true;
}

static bool run_generated(struct verification *v)
{
    struct host_code code;
    const bool ok = host_code_build(v->cli, v->module, true, &code) && step_through(v, &code);

    host_code_free(v->cli, &code);
    return ok;
}

static const char *error_text(struct arena *arena, double error)
{
    return isnan(error) ? "-" : arena_printf(arena, "%.1e", error);
}

static void add_json(struct cli *cli, cJSON *list, const struct value *value,
                     const struct layer *layer)
{
    cJSON *row = cJSON_CreateObject();

    cJSON_AddStringToObject(row, "value", str_safe(&cli->ctx->perm, value->name, 4096));
    cJSON_AddNumberToObject(row, "largest", layer->largest);
    for (int i = 0; i < N_EXECUTORS; i++)
        if (!isnan(layer->error[i]))
            cJSON_AddNumberToObject(row, i == ENGINE ? "engine_error" : "generated_error",
                                    layer->error[i]);
    cJSON_AddItemToArray(list, row);
}

/* The table; per executor the first layer beyond the tolerance is an error. */
static bool report(struct verification *v)
{
    struct cli *cli = v->cli;
    struct arena *arena = &cli->ctx->perm;
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "layers") : NULL;
    const struct node *first[N_EXECUTORS] = { NULL };
    double worst[N_EXECUTORS] = { 0 };
    int n = 0;

    say(cli, "%-36s %-18s %10s %10s %10s\n", "layer", "shape", "largest", "oneDNN",
        "generated");
    for (struct node *node = v->module->main->first; node; node = node->next)
        for (int o = 0; o < node->n_outputs && node->op == OP_CALL; o++) {
            const struct value *value = node->outputs[o];
            const struct layer *layer = &v->layers[value->id];

            n++;
            say(cli, "%-36s %-18s %10.3g %10s %10s\n", str_safe(arena, value->name, 33),
                shape_text(arena, &value->type), layer->largest,
                error_text(arena, layer->error[ENGINE]),
                error_text(arena, layer->error[GENERATED]));
            if (list)
                add_json(cli, list, value, layer);
            for (int i = 0; i < N_EXECUTORS; i++) {
                worst[i] = layer->error[i] > worst[i] ? layer->error[i] : worst[i];
                if (layer->error[i] > v->tolerance && !first[i])
                    first[i] = node;
            }
        }
    say(cli, "%d layers; largest error relative to the layer: oneDNN %.1e, generated C %.1e "
             "(tolerance %.0e)\n"
             "oneDNN ran %d operators, the reference evaluator %d\n",
        n, worst[ENGINE], worst[GENERATED], v->tolerance, v->n_onednn, v->n_reference);
    for (int i = 0; i < N_EXECUTORS; i++)
        if (first[i]) {
            diag_error(cli->ctx, DIAG_MISMATCH, node_origin(first[i]),
                       "the %s differs from the reference from layer '%s' on", executor_name[i],
                       str_safe(arena, first[i]->outputs[0]->name, 120));
            diag_note(cli->ctx, "the largest error of any layer is %.2e, the tolerance %.2e",
                      worst[i], v->tolerance);
        }
    return !first[ENGINE] && !first[GENERATED];
}

bool command_verify(struct cli *cli)
{
    struct verification v = { .cli = cli };
    struct tensor *inputs = NULL;
    bool ok;

    if (!option_real(cli->ctx, &cli->args, OPTION_TOLERANCE, 1e-4, &v.tolerance))
        return false;
    v.module = load_model(cli);
    ok = v.module && load_inputs(cli, v.module->main, &inputs) && run_passes(cli, v.module);
    if (ok) {
        function_number(v.module->main);
        v.inputs = inputs;
        v.layers = arena_array(&cli->ctx->perm, struct layer, v.module->main->n_values);
        ok = run_reference(&v) && run_engine(&v) && run_generated(&v) && report(&v);
    }
    module_free(v.module);
    return ok;
}
