/* emit_json.c - NAME.json: what was generated, for tools. Numbers of bytes and of operations are
 * exact up to 2^53. */
#include "codegen_c/emit/emit_external.h"
#include "codegen_c/emit/emit_json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/emit_state.h"
#include "codegen_c/emit/emit_variants.h"
#include "relay_ir/variants.h"

enum { SCHEMA_VERSION = 1 };

static const char *safe(struct codegen *codegen, const char *text)
{
    return str_safe(&codegen->arena, text, 400);
}

static void add_number(cJSON *to, const char *key, double number)
{
    cJSON_AddNumberToObject(to, key, number);
}

static cJSON *shape_json(const struct type *type)
{
    cJSON *list = cJSON_CreateArray();

    for (int i = 0; i < type->rank; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)type->dim[i]));
    return list;
}

static cJSON *tensor_json(struct codegen *codegen, const struct value *value, const char *c_name,
                          const char *name, bool is_input)
{
    const struct type *type = &value->type;
    cJSON *tensor = cJSON_CreateObject();

    cJSON_AddStringToObject(tensor, "parameter", c_name);
    cJSON_AddStringToObject(tensor, "name", safe(codegen, name));
    cJSON_AddStringToObject(tensor, "dtype", dtype_name(type->dtype));
    cJSON_AddItemToObject(tensor, "shape", shape_json(type));
    if (io_is_inside(codegen)) {
        cJSON_AddStringToObject(tensor, "function", io_accessor(codegen, c_name, is_input));
        cJSON_AddStringToObject(tensor, "arena", io_arena(codegen, value));
        add_number(tensor, "offset", (double)io_offset(codegen, value));
    }
    return tensor;
}

static void add_interface(struct codegen *codegen, cJSON *root)
{
    const struct function *main = codegen->module->main;
    cJSON *inputs = cJSON_AddArrayToObject(root, "inputs");
    cJSON *outputs = cJSON_AddArrayToObject(root, "outputs");

    for (int i = 0; i < interface_params(codegen->module); i++)
        if (!state_of_param(codegen->module, i))
            cJSON_AddItemToArray(inputs, tensor_json(codegen, main->params[i], codegen->input_names[i],
                                                 main->params[i]->name, true));
    for (int i = 0; i < interface_results(codegen->module); i++)
        if (!state_of_result(codegen->module, i))
            cJSON_AddItemToArray(outputs,
                             tensor_json(codegen, main->ret->inputs[i], codegen->output_names[i],
                                         main->result_names[i], false));
}

/* Only where something is kept from run to run. */
static void add_state(struct codegen *codegen, cJSON *root)
{
    const struct module *module = codegen->module;
    cJSON *json, *list;

    if (!has_state(codegen))
        return;
    json = cJSON_AddObjectToObject(root, "state");
    add_number(json, "bytes", (double)state_bytes(codegen));
    list = cJSON_AddArrayToObject(json, "fields");
    for (int i = 0; i < module->n_states; i++) {
        const struct value *param = module->main->params[module->states[i].param];
        cJSON *field = cJSON_CreateObject();

        cJSON_AddStringToObject(field, "field", state_field(codegen, i));
        cJSON_AddStringToObject(field, "name", safe(codegen, param->name));
        cJSON_AddStringToObject(field, "dtype", dtype_name(param->type.dtype));
        cJSON_AddItemToObject(field, "shape", shape_json(&param->type));
        add_number(field, "offset", (double)state_offset(codegen, i));
        cJSON_AddItemToArray(list, field);
    }
}

/* The C names of all values in a block, or the region whose scratch it is. */
static void add_block_values(struct codegen *codegen, int block, cJSON *to)
{
    const struct plan *plan = &codegen->plan;
    cJSON *values;

    if (!plan->blocks[block].value) {
        cJSON_AddStringToObject(to, "scratch_of",
                                codegen->regions[plan->blocks[block].first].c_name);
        return;
    }
    values = cJSON_AddArrayToObject(to, "values");
    for (int i = 0; i < plan->main->n_values; i++)
        if (plan->block[i] == block && codegen->local_names[i])
            cJSON_AddItemToArray(values, cJSON_CreateString(codegen->local_names[i]));
}

/* Only with --pool. */
static void add_pools(struct codegen *codegen, cJSON *arena)
{
    const struct plan *plan = &codegen->plan;
    cJSON *list;

    if (!codegen->options->n_pools)
        return;
    list = cJSON_AddArrayToObject(arena, "pools");
    for (int p = 0; p < plan->n_pools; p++) {
        cJSON *pool = cJSON_CreateObject();

        cJSON_AddStringToObject(pool, "name", plan->pools[p].of->name);
        add_number(pool, "limit", (double)plan->pools[p].of->bytes);
        add_number(pool, "bytes", (double)plan->pools[p].bytes);
        if (plan->pools[p].of->takes != POOL_OF_ARENA)
            add_number(pool, "constant_bytes", (double)plan->pools[p].constant_bytes);
        cJSON_AddBoolToObject(pool, "has_arena", pool_has_arena(codegen, p));
        add_number(pool, "traffic", (double)plan->pools[p].traffic);
        cJSON_AddItemToArray(list, pool);
    }
}

static void add_arena(struct codegen *codegen, cJSON *root)
{
    const struct plan *plan = &codegen->plan;
    cJSON *arena = cJSON_AddObjectToObject(root, "arena");
    cJSON *map;

    add_number(arena, "bytes", (double)plan->arena_bytes);
    add_number(arena, "align", machine_alignment(codegen->machine));
    add_number(arena, "lower_bound", (double)plan->lower_bound);
    cJSON_AddBoolToObject(arena, "optimal", codegen->result->arena_optimal);
    add_number(arena, "order_lower_bound", (double)plan->order_bound);
    cJSON_AddBoolToObject(arena, "order_optimal", plan->order_peak == plan->order_bound);
    add_number(arena, "without_sharing", (double)codegen->result->arena_naive_bytes);
    add_number(arena, "in_place_only", (double)codegen->result->arena_in_place_bytes);
    add_number(arena, "in_place_only_alive", (double)codegen->result->arena_in_place_alive);
    add_pools(codegen, arena);
    if (codegen->result->n_stripes)
        add_number(arena, "without_stripes", (double)codegen->result->arena_whole_bytes);
    map = cJSON_AddArrayToObject(arena, "map");
    for (int i = 0; i < plan->n_blocks; i++) {
        cJSON *block;

        if (plan->blocks[i].first >= codegen->n_listed)
            continue;
        block = cJSON_CreateObject();

        if (codegen->options->n_pools)
            cJSON_AddStringToObject(block, "pool", plan->pools[plan->blocks[i].pool].of->name);
        add_number(block, "offset", (double)plan->blocks[i].offset);
        add_number(block, "bytes", (double)plan->blocks[i].bytes);
        add_number(block, "written", plan->blocks[i].first);
        add_number(block, "last_read", plan->blocks[i].last);
        add_block_values(codegen, i, block);
        if (plan->blocks[i].before)
            cJSON_AddStringToObject(block, "reaches_into", reached_name(codegen, i));
        cJSON_AddItemToArray(map, block);
    }
}

/* The values that this one is stored within, the inner first. */
static void add_wholes(struct codegen *codegen, const struct value *root, cJSON *json)
{
    const struct plan *plan = &codegen->plan;
    cJSON *list = plan->part[root->id].whole ? cJSON_AddArrayToObject(json, "in") : NULL;

    while (plan->part[root->id].whole) {
        root = plan->root[plan->part[root->id].of->id];
        cJSON_AddItemToArray(list, cJSON_CreateString(safe(codegen, root->name)));
    }
}

/* A value that regions hand on: the one that it is a view of, by its ONNX name. */
static cJSON *value_json(struct codegen *codegen, const struct value *value)
{
    const struct value *root = codegen->plan.root[value->id];
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", safe(codegen, root->name));
    cJSON_AddStringToObject(json, "dtype", type_format(&value->type));
    cJSON_AddItemToObject(json, "shape", shape_json(&value->type));
    add_wholes(codegen, root, json);
    return json;
}

static void add_values(struct codegen *codegen, const struct node *call, cJSON *region)
{
    cJSON *inputs = cJSON_AddArrayToObject(region, "inputs");
    cJSON *results = cJSON_AddArrayToObject(region, "results");

    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i] && call->inputs[i]->kind != VALUE_CONSTANT)
            cJSON_AddItemToArray(inputs, value_json(codegen, call->inputs[i]));
    for (int i = 0; i < call->n_outputs; i++)
        cJSON_AddItemToArray(results, value_json(codegen, call->outputs[i]));
}

/* The element types of what the region reads: of its largest constant matrix, where it has one, and
 * of the first value. */
static void add_precision(const struct region *region, cJSON *json)
{
    const struct function *fn = region->fn;
    const struct value *weights = NULL;

    for (const struct value *c = fn->constants; c; c = c->next)
        if (c->uses && c->type.rank > 1 &&
            (!weights || type_elements(&c->type) > type_elements(&weights->type)))
            weights = c;
    if (fn->n_params)
        cJSON_AddStringToObject(json, "data", type_format(&fn->params[0]->type));
    if (weights)
        cJSON_AddStringToObject(json, "weights", type_format(&weights->type));
}

static cJSON *region_json(struct codegen *codegen, const struct region *region)
{
    const struct function *fn = region->fn;
    const struct emitted *emitted = &codegen->emitted[region->index];
    cJSON *json = cJSON_CreateObject(), *nodes, *outputs;

    cJSON_AddStringToObject(json, "function", region->c_name);
    if (region->external)
        add_external_json(codegen, region->external, json);
    else
        cJSON_AddStringToObject(json, "kernel", region->config.kernel->name);
    if (emitted->signature)
        cJSON_AddStringToObject(json, "signature", emitted->signature);
    nodes = cJSON_AddArrayToObject(json, "nodes");
    for (const struct origin *o = region->call->origin; o; o = o->next) {
        cJSON *node = cJSON_CreateObject();

        cJSON_AddStringToObject(node, "name", safe(codegen, o->name));
        cJSON_AddStringToObject(node, "op_type", safe(codegen, o->op_type));
        add_number(node, "index", (double)o->index);
        if (o->output)
            cJSON_AddStringToObject(node, "output", safe(codegen, o->output));
        cJSON_AddItemToArray(nodes, node);
    }
    outputs = cJSON_AddArrayToObject(json, "outputs");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        cJSON_AddItemToArray(outputs, shape_json(&fn->ret->inputs[i]->type));
    add_values(codegen, region->call, json);
    add_precision(region, json);
    add_number(json, "macs", (double)emitted->macs);
    add_number(json, "weight_bytes", (double)emitted->weight_bytes);
    add_number(json, "scratch_bytes", (double)region->config.scratch_bytes);
    if (region->config.winograd_tile) {
        add_number(json, "winograd_tile", region->config.winograd_tile);
        add_number(json, "winograd_more_weight_bytes", (double)region->config.winograd_more);
    }
    if (region->config.leaves_zeros_out)
        cJSON_AddBoolToObject(json, "leaves_zeros_out", true);
    features_add_json(&region->config.features, json);
    cJSON_AddBoolToObject(json, "in_place", region->place.in_place);
    if (region->place.overlaps)
        add_number(json, "lead", (double)region->config.overlap.bytes);
    return json;
}

static void add_finite(cJSON *to, const char *key, double number)
{
    if (isfinite(number))
        add_number(to, key, number);
}

/* The first that reads the array comes first. */
static void add_readers(const struct codegen *codegen, const struct weight *weight, cJSON *to)
{
    cJSON *list = cJSON_AddArrayToObject(to, "regions");

    for (const struct weight_reader *r = weight->used_by; r; r = r->next)
        if (r->region < codegen->n_listed)
            cJSON_InsertItemInArray(list, 0,
                                    cJSON_CreateString(codegen->regions[r->region].c_name));
}

static void add_weights(struct codegen *codegen, cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "weights");

    for (const struct weight *w = codegen->weights.first; w; w = w->next) {
        cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "symbol", w->c_name);
        cJSON_AddStringToObject(json, "name", safe(codegen, w->name));
        cJSON_AddStringToObject(json, "dtype", type_format(&w->type));
        cJSON_AddItemToObject(json, "shape", shape_json(&w->type));
        cJSON_AddStringToObject(json, "layout", w->layout);
        add_number(json, "bytes", (double)type_bytes(&w->stored));
        add_finite(json, "least", w->least);
        add_finite(json, "greatest", w->greatest);
        add_finite(json, "mean", w->mean);
        add_finite(json, "deviation", w->deviation);
        add_readers(codegen, w, json);
        if (w->pool)
            cJSON_AddStringToObject(json, "pool", w->pool->name);
        cJSON_AddStringToObject(json, "crc32",
                                arena_printf(&codegen->arena, "%08x", (unsigned)w->crc32));
        cJSON_AddItemToArray(list, json);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void add_files(struct codegen *codegen, cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "files");

    for (int i = 0; i < codegen->result->n_files; i++) {
        cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "name", base_name(codegen->result->files[i]));
        add_number(json, "bytes", (double)writer_size(codegen->writers[i]));
        cJSON_AddStringToObject(
            json, "crc32",
            arena_printf(&codegen->arena, "%08x", (unsigned)writer_crc32(codegen->writers[i])));
        cJSON_AddItemToArray(list, json);
    }
}

static void add_shared_files(const struct codegen *codegen, cJSON *root)
{
    cJSON *list;

    if (!codegen->kernels)
        return;
    list = cJSON_AddArrayToObject(root, "shared_files");
    cJSON_AddItemToArray(list, cJSON_CreateString("relayc_kernels.h"));
    cJSON_AddItemToArray(list, cJSON_CreateString("relayc_kernels.c"));
}

/* Only with --cc: sections of the objects, and the stack. */
static void add_measured(const struct codegen_measured *measured, cJSON *root)
{
    cJSON *json;

    if (!measured)
        return;
    json = cJSON_AddObjectToObject(root, "measured");
    cJSON_AddStringToObject(json, "compiler", measured->compiler);
    add_number(json, "text", (double)measured->text);
    add_number(json, "rodata", (double)measured->rodata);
    add_number(json, "data", (double)measured->data);
    add_number(json, "bss", (double)measured->bss);
    if (measured->has_stack) {
        add_number(json, "stack", (double)measured->stack);
        cJSON_AddStringToObject(json, "stack_without", measured->beyond);
    }
}

static void add_model(struct codegen *codegen, cJSON *root)
{
    const struct codegen_options *options = codegen->options;
    cJSON *model;

    cJSON_AddStringToObject(root, "schema", "relayc-model");
    add_number(root, "version", SCHEMA_VERSION);
    if (options->version)
        cJSON_AddStringToObject(root, "relayc", options->version);
    cJSON_AddStringToObject(root, "name", options->name);
    cJSON_AddStringToObject(root, "options", safe(codegen, options->command));
    cJSON_AddStringToObject(root, "target", codegen->machine->name);
    if (codegen->options->parts > 1) {
        add_number(root, "parts", codegen->options->parts);
        add_number(root, "regions_in_parts", codegen->n_split);
    }
    cJSON_AddBoolToObject(root, "deterministic", codegen->options->deterministic);
    model = cJSON_AddObjectToObject(root, "model");
    cJSON_AddStringToObject(model, "file", safe(codegen, options->model_file));
    cJSON_AddStringToObject(model, "sha256", safe(codegen, options->model_sha256));
    add_number(model, "opset", codegen->module->opset);
    add_number(model, "onnx_nodes", codegen->result->n_onnx_nodes);
    add_number(root, "macs", (double)codegen->result->macs);
    add_number(root, "weight_bytes", (double)codegen->weights.bytes);
}

void emit_json(struct codegen *codegen)
{
    cJSON *root = cJSON_CreateObject(), *regions;
    struct writer *out;
    char *text;

    add_model(codegen, root);
    add_interface(codegen, root);
    add_sizes_json(codegen, root);
    add_state(codegen, root);
    add_arena(codegen, root);
    add_measured(codegen->options->measured, root);
    regions = cJSON_AddArrayToObject(root, "regions");
    for (int i = 0; i < codegen->n_listed; i++)
        cJSON_AddItemToArray(regions, region_json(codegen, &codegen->regions[i]));
    add_modules_json(codegen, root);
    add_weights(codegen, root);
    add_files(codegen, root);
    add_shared_files(codegen, root);
    out = emit_open(codegen, ".json");
    text = cJSON_Print(root);
    if (!text)
        out_of_memory(0);
    writer_text(out, text);
    writer_text(out, "\n");
    codegen->result->json = arena_strdup(&codegen->ctx->perm, text);
    cJSON_free(text);
    cJSON_Delete(root);
}
