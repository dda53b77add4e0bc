/* cmd_verify.c - one model, three executors, layer by layer.
 *
 * The reference evaluator says what every region's outputs should be. The oneDNN engine and the
 * generated C (built with the host's compiler, run region by region) get the reference's numbers as
 * inputs of each region, so that a layer answers for its own error only; and the whole network is
 * run by each, because only that shows values lost on their way from one layer to the next.
 *
 * A layer that quantises floats may be off by one step of its quantiser: what lies in the middle
 * between two steps goes up or down with the order of the sum before it. A region of a target may
 * be off by one for each of its composites that does. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/host_code.h"
#include "cli/tensor_error.h"
#include "runtime/engine/engine.h"

enum executor { ENGINE, GENERATED, N_EXECUTORS };

static const char *const executor_name[N_EXECUTORS] = { "oneDNN engine", "generated C" };

/* Layers add up their errors, and ill-conditioned networks magnify them. */
#define WHOLE_NETWORK_FACTOR 10

struct layer {
    struct tensor reference;   /* data NULL: not computed by a node of main */
    double largest;            /* of the reference's magnitudes */
    double tolerance;          /* relative to `largest` */
    double error[N_EXECUTORS]; /* of this layer alone, relative to `largest`; NaN = not compared */
};

struct verification {
    struct cli *cli;
    struct module *module;
    const struct tensor *inputs;
    struct tensor *outputs; /* the reference's */
    struct map layers;      /* by the value's name, which stays when codegen_c changes main */
    double tolerance;
    double whole[N_EXECUTORS]; /* errors of the network's outputs */
    int n_onednn, n_reference;
};

static struct layer *layer_of(const struct verification *v, const struct value *value)
{
    return map_get(&v->layers, value->name);
}

/* How far apart the format's numbers of that magnitude lie; integers' always by 1. */
static double code_step(const struct type *type, double magnitude)
{
    const struct minifloat *format = type_minifloat(type);

    return format && magnitude > 0 ? ldexp(1, ilogb(magnitude) - format->mantissa_bits) : 1;
}

static double greatest_code(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    return format ? minifloat_max(format) : 1;
}

/* How often a layer quantises floats, with *step the greatest step between neighbours: the scale,
 * of floats times the distance of the greatest codes. */
static int count_quantisers(const struct function *fn, double *step)
{
    int count = 0;

    for (const struct node *n = fn->first; n; n = n->next)
        if (n->op == OP_QNN_QUANTIZE && n->inputs[1]->kind == VALUE_CONSTANT) {
            const struct tensor scale = value_tensor(n->inputs[1]);
            const struct type *codes = &n->outputs[0]->type;
            const double unit = code_step(codes, greatest_code(codes));

            for (int64_t i = 0; i < type_elements(&scale.type); i++)
                *step = fmax(*step, tensor_at(&scale, i) * unit);
            count++;
        } else if (n->op == OP_CALL) { /* a composite */
            count += count_quantisers(n->callee, step);
        }
    return count;
}

static double layer_tolerance(const struct verification *v, const struct value *value,
                              double largest)
{
    double step = 0;

    if (value->def->op == OP_CALL) {
        const int count = count_quantisers(value->def->callee, &step);

        step =
            count * (dtype_is_float(value->type.dtype) ? step : code_step(&value->type, largest));
    }
    return largest > 0 ? v->tolerance + step / largest : v->tolerance + step;
}

static void keep_reference(void *user, const struct value *value, const struct tensor *tensor)
{
    struct verification *v = user;
    struct layer *layer = arena_new(&v->cli->ctx->perm, struct layer);

    map_set(&v->layers, value->name, layer);
    layer->reference = tensor_new(&v->cli->bulk, &tensor->type);
    memcpy(layer->reference.data, tensor->data, type_bytes(&tensor->type));
    layer->largest = largest_magnitude(tensor);
    layer->tolerance = layer_tolerance(v, value, layer->largest);
    for (int i = 0; i < N_EXECUTORS; i++)
        layer->error[i] = NAN;
}

static bool run_reference(struct verification *v)
{
    struct function *fn = v->module->main;
    const struct observer keep = { .see = keep_reference, .user = v };

    return interpret(v->cli->ctx, fn, v->inputs, v->outputs, &v->cli->bulk, &keep);
}

/* What the reference gave a value of main. */
static struct tensor wanted_tensor(const struct verification *v, const struct value *value)
{
    if (value->kind == VALUE_PARAM)
        return v->inputs[value->index];
    if (value->kind == VALUE_CONSTANT)
        return value_tensor(value);
    return (*layer_of(v, value)).reference;
}

static void compare_outputs(struct verification *v, enum executor executor,
                            const struct tensor *found)
{
    for (int i = 0; i < v->module->main->ret->n_inputs; i++) {
        const double error =
            relative_error(&v->outputs[i], largest_magnitude(&v->outputs[i]), &found[i]);

        v->whole[executor] = error > v->whole[executor] ? error : v->whole[executor];
    }
}

/* Runs a function on the engine with given inputs; outputs live in `bulk`. */
static bool engine_once(struct verification *v, struct function *fn, const struct tensor *inputs,
                        struct tensor *outputs, struct bulk *bulk, bool count)
{
    struct engine *engine = engine_new(v->cli->ctx, fn);
    const bool ok = engine && engine_run(engine, inputs, outputs, bulk, NULL);

    if (engine && count)
        engine_count(engine, &v->n_onednn, &v->n_reference);
    if (engine)
        engine_free(engine);
    return ok;
}

static bool engine_region(struct verification *v, const struct node *call)
{
    struct arena *arena = &v->cli->ctx->scratch;
    struct tensor *inputs = arena_array(arena, struct tensor, call->n_inputs);
    struct tensor *outputs = arena_array(arena, struct tensor, call->n_outputs);
    struct bulk bulk = { 0 };
    bool ok;

    for (int i = 0; i < call->n_inputs; i++)
        inputs[i] = wanted_tensor(v, call->inputs[i]);
    ok = engine_once(v, call->callee, inputs, outputs, &bulk, false);
    for (int i = 0; i < call->n_outputs && ok; i++) {
        struct layer *layer = layer_of(v, call->outputs[i]);

        layer->error[ENGINE] = relative_error(&layer->reference, layer->largest, &outputs[i]);
    }
    bulk_release(&bulk);
    return ok;
}

static bool run_engine(struct verification *v)
{
    struct function *fn = v->module->main;
    struct tensor *outputs = arena_array(&v->cli->ctx->perm, struct tensor, fn->ret->n_inputs);

    if (!engine_once(v, fn, v->inputs, outputs, &v->cli->bulk, true))
        return false;
    compare_outputs(v, ENGINE, outputs);
    for (const struct node *node = fn->first; node; node = node->next)
        if (node->op == OP_CALL && !engine_region(v, node))
            return false;
    return true;
}

/* Where a place is in the arena or in an output; NULL = elsewhere. */
static unsigned char *place_data(const struct host_code *code, const struct tensor *outputs,
                                 const struct codegen_place *place)
{
    unsigned char *arena = (unsigned char *)(uintptr_t)generated_arena(code->generated);

    if (place->kind == PLACE_OUTPUT)
        return (unsigned char *)outputs[place->index].data + place->offset;
    return place->kind == PLACE_ARENA ? arena + place->offset : NULL;
}

/* Pixel by pixel, into a place or (`out`) out of it: the pixels of a part of a concatenation have
 * others in between. */
static void copy_place(unsigned char *data, const struct codegen_place *place,
                       const struct tensor *tensor, bool out)
{
    const struct type *type = &tensor->type;
    const size_t bytes = type_bytes(type), size = dtype_bytes(type->dtype);
    const size_t pixel = place->pitch ? (size_t)type->dim[type->rank - 1] * size : bytes;
    unsigned char *other = tensor->data;

    for (size_t at = 0; at < bytes; at += pixel) {
        if (out)
            memcpy(other + at, data, pixel);
        else
            memcpy(data, other + at, pixel);
        data += (size_t)place->pitch * size;
    }
}

/* The region's inputs become the reference's. */
static bool generated_region(struct verification *v, const struct host_code *code,
                             const struct tensor *outputs, int region)
{
    const struct codegen_region *r = &code->result.regions[region];
    struct bulk bulk = { NULL, 0 };

    for (int i = 0; i < r->call->n_inputs; i++) {
        const struct codegen_place *place = &code->result.places[r->call->inputs[i]->id];
        const struct tensor wanted = wanted_tensor(v, r->call->inputs[i]);

        if (place_data(code, outputs, place))
            copy_place(place_data(code, outputs, place), place, &wanted, false);
    }
    if (!generated_step(code->generated, region))
        return false;
    for (int i = 0; i < r->call->n_outputs; i++) {
        struct layer *layer = layer_of(v, r->call->outputs[i]);
        unsigned char *data = place_data(code, outputs, &r->results[i]);
        struct tensor found;

        if (!data)
            continue;
        found = tensor_new(&bulk, &layer->reference.type);
        copy_place(data, &r->results[i], &found, true);
        layer->error[GENERATED] = relative_error(&layer->reference, layer->largest, &found);
    }
    bulk_release(&bulk);
    return true;
}

/* The regions first: only so can a message about a crash name one. */
static bool step_through(struct verification *v, const struct host_code *code)
{
    struct function *fn = v->module->main;
    struct tensor *outputs = arena_array(&v->cli->ctx->perm, struct tensor, fn->ret->n_inputs);

    if (!generated_begin(code->generated, v->inputs, outputs, &v->cli->bulk))
        return false;
    for (int i = 0; i < code->result.n_regions; i++)
        if (!generated_region(v, code, outputs, i))
            return false;
    if (!generated_run(code->generated, v->inputs, outputs, &v->cli->bulk))
        return false;
    compare_outputs(v, GENERATED, outputs);
    return true;
}

static bool run_generated(struct verification *v)
{
    struct host_code code;
    const bool ok = host_code_build(v->cli, v->module, true, &code) && step_through(v, &code);

    host_code_free(&code);
    return ok;
}

/* The target that a layer was given to; "" = c. */
static const char *layer_target(const struct value *value)
{
    const char *compiler = value->def->callee->compiler;

    return compiler && strcmp(compiler, "c") != 0 ? compiler : "";
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
    if (*layer_target(value))
        cJSON_AddStringToObject(row, "target", layer_target(value));
    cJSON_AddNumberToObject(row, "largest", layer->largest);
    for (int i = 0; i < N_EXECUTORS; i++)
        if (!isnan(layer->error[i]))
            cJSON_AddNumberToObject(row, i == ENGINE ? "engine_error" : "generated_error",
                                    layer->error[i]);
    cJSON_AddItemToArray(list, row);
}

/* What the layers' lines add up to. */
struct summary {
    int n_layers;
    double tolerance; /* the greatest of a layer */
    double worst[N_EXECUTORS];
    const struct value *first[N_EXECUTORS]; /* beyond the tolerance */
};

static void report_layer(struct verification *v, const struct value *value, cJSON *list,
                         struct summary *summary)
{
    struct arena *arena = &v->cli->ctx->perm;
    const struct layer *layer = layer_of(v, value);

    summary->n_layers++;
    summary->tolerance = fmax(summary->tolerance, layer->tolerance);
    say(v->cli, "%-36s %-18s %10.3g %10s %10s%s%s\n", str_safe(arena, value->name, 33),
        shape_text(arena, &value->type), layer->largest, error_text(arena, layer->error[ENGINE]),
        error_text(arena, layer->error[GENERATED]), *layer_target(value) ? "  " : "",
        layer_target(value));
    if (list)
        add_json(v->cli, list, value, layer);
    for (int i = 0; i < N_EXECUTORS; i++) {
        if (layer->error[i] > summary->worst[i])
            summary->worst[i] = layer->error[i];
        if (layer->error[i] > layer->tolerance && !summary->first[i])
            summary->first[i] = value;
    }
}

enum { MOST_NOTED = 16 }; /* composites of a region */

/* The diagnostic's origin is the first node of the layer; a region of another target has more. */
static void note_composites(struct ctx *ctx, const struct value *value)
{
    struct arena *arena = &ctx->perm;
    int n = 0;

    if (!*layer_target(value))
        return;
    for (const struct node *node = value->def->callee->first; node; node = node->next) {
        struct str nodes = { .arena = arena };

        if (node->op != OP_CALL || !node->callee->composite || n++ >= MOST_NOTED)
            continue;
        for (const struct origin *o = node->origin; o; o = o->next)
            str_printf(&nodes, "%s%s (%s)", nodes.n ? " + " : "", str_safe(arena, o->name, 120),
                       str_safe(arena, o->op_type, 60));
        diag_note(ctx, "%s: %s", str_safe(arena, node->callee->composite, 120),
                  nodes.n ? str_text(&nodes) : str_safe(arena, node->outputs[0]->name, 120));
    }
    if (n > MOST_NOTED)
        diag_note(ctx, "and %d more composites of the region", n - MOST_NOTED);
}

static bool judge(struct verification *v, const struct summary *summary)
{
    struct ctx *ctx = v->cli->ctx;

    for (int i = 0; i < N_EXECUTORS; i++) {
        if (summary->first[i]) {
            diag_error(ctx, DIAG_MISMATCH, node_origin(summary->first[i]->def),
                       "the %s differs from the reference in layer '%s'; largest error %.2e, "
                       "tolerance %.2e",
                       executor_name[i], str_safe(&ctx->perm, summary->first[i]->name, 120),
                       layer_of(v, summary->first[i])->error[i],
                       layer_of(v, summary->first[i])->tolerance);
            note_composites(ctx, summary->first[i]);
        } else if (v->whole[i] > summary->tolerance * WHOLE_NETWORK_FACTOR)
            diag_error(ctx, DIAG_MISMATCH, NULL,
                       "the %s differs from the reference over the whole network by %.2e, though "
                       "no layer does",
                       executor_name[i], v->whole[i]);
    }
    return ctx->diags.n_errors == 0;
}

static bool report(struct verification *v)
{
    struct cli *cli = v->cli;
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "layers") : NULL;
    struct summary summary = { 0 };

    say(cli,
        "errors relative to a layer's largest output, each layer by itself\n"
        "%-36s %-18s %10s %10s %10s\n",
        "layer", "shape", "largest", "oneDNN", "generated");
    for (const struct node *node = v->module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs && node->op == OP_CALL; i++)
            report_layer(v, node->outputs[i], list, &summary);
    say(cli, "%-66s %10.1e %10.1e\n%-66s %10.1e %10.1e\n",
        arena_printf(&cli->ctx->perm, "worst of %d layers (tolerance %.0e%s)", summary.n_layers,
                     v->tolerance,
                     summary.tolerance > v->tolerance ? ", or a step where a layer quantises" : ""),
        summary.worst[ENGINE], summary.worst[GENERATED], "the whole network", v->whole[ENGINE],
        v->whole[GENERATED]);
    say(cli, "oneDNN ran %d operators, the reference evaluator %d\n", v->n_onednn, v->n_reference);
    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "whole_engine_error", v->whole[ENGINE]);
        cJSON_AddNumberToObject(cli->json, "whole_generated_error", v->whole[GENERATED]);
    }
    return judge(v, &summary);
}

bool command_verify(struct cli *cli)
{
    struct verification v = { .cli = cli };
    struct tensor *inputs = NULL;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = option_real(cli->ctx, &cli->args, OPTION_TOLERANCE, 1e-4, &v.tolerance);
    ok = prepare_machine(cli) && ok;
    ok = prepare_pools(cli) && ok;
    if (!prepare_offload(cli) || !ok)
        return false;
    v.module = load_model(cli);
    ok = v.module && load_inputs(cli, v.module->main, &inputs) && run_passes(cli, v.module) &&
         fit_inputs(cli, v.module->main, inputs);
    if (ok) {
        function_number(v.module->main);
        v.inputs = inputs;
        v.outputs = arena_array(&cli->ctx->perm, struct tensor, v.module->main->ret->n_inputs);
        v.layers.arena = &cli->ctx->perm;
        ok = run_reference(&v) && run_engine(&v) && run_generated(&v) && report(&v);
    }
    module_free(v.module);
    return ok;
}
