/* emit_json_modules.c - the part of NAME.json that tells of targets: the metadata module. Modules
 * with their files, entry points and regions; per region constants, scratch, and the bytes of the
 * arena in use while it runs. Only where another target than c runs something. */
#include <string.h>

#include "codegen_c/emit/emit_external.h"
#include "codegen_c/emit/emit_weights.h"

static const char *safe(struct codegen *codegen, const char *text)
{
    return str_safe(&codegen->arena, text, 400);
}

static cJSON *text_json(const char *text)
{
    return cJSON_CreateString(text);
}

static void add_composites(struct codegen *codegen, const struct external *external, cJSON *to)
{
    cJSON *list = cJSON_AddArrayToObject(to, "composites");

    for (int i = 0; i < external->n_composites; i++)
        cJSON_AddItemToArray(list, text_json(safe(codegen, external->composites[i].row->name)));
}

void add_external_json(struct codegen *codegen, const struct external *external, cJSON *region)
{
    cJSON_AddStringToObject(region, "compiler", external->module->target->name);
    add_composites(codegen, external, region);
}

/* --- a region --------------------------------------------------------------------------------- */

static cJSON *value_json(struct codegen *codegen, const struct value *value, const char *c_name)
{
    cJSON *json = cJSON_CreateObject(), *shape;

    cJSON_AddStringToObject(json, "parameter", c_name);
    cJSON_AddStringToObject(json, "name", safe(codegen, value->name));
    cJSON_AddStringToObject(json, "dtype", dtype_name(value->type.dtype));
    shape = cJSON_AddArrayToObject(json, "shape");
    for (int i = 0; i < value->type.rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)value->type.dim[i]));
    return json;
}

/* Bytes of the arena that hold something while the region runs. */
static size_t bytes_in_use(const struct plan *plan, int region)
{
    size_t bytes = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].first <= region && region <= plan->blocks[i].last)
            bytes += plan_round(plan->blocks[i].bytes);
    return bytes;
}

/* What stands where in the region's scratch. */
static void add_scratch_map(struct codegen *codegen, const struct external *external, cJSON *to)
{
    cJSON *map = cJSON_AddArrayToObject(to, "scratch");

    for (int i = 0; i < external->n_blocks; i++) {
        const struct block *block = &external->blocks[i];
        cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "offset", (double)block->offset);
        cJSON_AddNumberToObject(json, "bytes", (double)block->bytes);
        cJSON_AddNumberToObject(json, "written", block->first);
        cJSON_AddNumberToObject(json, "last_read", block->last);
        if (block->value)
            cJSON_AddStringToObject(json, "value", safe(codegen, block->value->name));
        cJSON_AddItemToArray(map, json);
    }
}

static void add_external(struct codegen *codegen, const struct external *external, cJSON *json)
{
    const struct function *fn = external->fn;
    const struct region *region = external->region;
    double here, host;
    cJSON *list;

    add_composites(codegen, external, json);
    list = cJSON_AddArrayToObject(json, "inputs");
    for (int i = 0; i < fn->n_params; i++)
        cJSON_AddItemToArray(list, value_json(codegen, fn->params[i], region->params[i]));
    list = cJSON_AddArrayToObject(json, "outputs");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        cJSON_AddItemToArray(list, value_json(codegen, fn->ret->inputs[i], region->results[i]));
    list = cJSON_AddArrayToObject(json, "constants");
    for (const struct external_constant *c = external->constants; c; c = c->next)
        cJSON_AddItemToArray(list, text_json(c->weight->c_name));
    add_scratch_map(codegen, external, json);
    cJSON_AddBoolToObject(json, "scratch_optimal", external->inner_bytes == external->inner_bound);
    cJSON_AddNumberToObject(json, "scratch_without_sharing", (double)region->config.scratch_naive);
    if (external->stream)
        cJSON_AddStringToObject(json, "stream", external->stream->c_name);
    if (external->module->target->format == FORMAT_JSON)
        cJSON_AddStringToObject(json, "graph", graph_file(codegen, external));
    external_estimate(codegen, external, &here, &host);
    cJSON_AddNumberToObject(json, "estimated_ns", here);
    cJSON_AddNumberToObject(json, "host_ns", host);
    cJSON_AddNumberToObject(json, "stream_bytes",
                            external->stream ? (double)type_bytes(&external->stream->type) : 0);
}

static cJSON *region_json(struct codegen *codegen, const struct region *region)
{
    const struct emitted *emitted = &codegen->emitted[region->index];
    cJSON *json = cJSON_CreateObject();

    cJSON_AddNumberToObject(json, "index", region->index);
    cJSON_AddStringToObject(json, "symbol", region->c_name);
    if (region->external)
        add_external(codegen, region->external, json);
    cJSON_AddNumberToObject(json, "macs", (double)emitted->macs);
    cJSON_AddNumberToObject(json, "weight_bytes", (double)emitted->weight_bytes);
    cJSON_AddNumberToObject(json, "scratch_bytes", (double)region->config.scratch_bytes);
    cJSON_AddNumberToObject(json, "arena_bytes_in_use",
                            (double)bytes_in_use(&codegen->plan, region->index));
    return json;
}

/* --- a module --------------------------------------------------------------------------------- */

static cJSON *module_json(const char *compiler, const char *format, cJSON **files, cJSON **entries,
                          cJSON **regions)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "compiler", compiler);
    cJSON_AddStringToObject(json, "format", format);
    *files = cJSON_AddArrayToObject(json, "files");
    *entries = cJSON_AddArrayToObject(json, "entry_points");
    *regions = cJSON_AddArrayToObject(json, "regions");
    return json;
}

static cJSON *our_module(struct codegen *codegen)
{
    const char *name = codegen->options->name;
    struct arena *arena = &codegen->arena;
    cJSON *files, *entries, *regions, *json = module_json("c", "c", &files, &entries, &regions);

    cJSON_AddItemToArray(files, text_json(arena_printf(arena, "%s.h", name)));
    cJSON_AddItemToArray(files, text_json(arena_printf(arena, "%s.c", name)));
    if (codegen->n_weight_files)
        cJSON_AddItemToArray(files, text_json(arena_printf(arena, "%s_weights.h", name)));
    for (int i = 0; i < codegen->n_weight_files; i++)
        cJSON_AddItemToArray(files, text_json(weights_file(codegen, i)));
    cJSON_AddItemToArray(entries, text_json(arena_printf(arena, "%s_run", name)));
    if (codegen->options->step)
        cJSON_AddItemToArray(entries, text_json(arena_printf(arena, "%s_step", name)));
    for (int i = 0; i < codegen->n_regions; i++)
        if (!codegen->regions[i].external)
            cJSON_AddItemToArray(regions, region_json(codegen, &codegen->regions[i]));
    return json;
}

static cJSON *target_module(struct codegen *codegen, const struct external_module *module)
{
    static const char *const formats[] = { [FORMAT_C] = "c",
                                           [FORMAT_EXTERN] = "extern",
                                           [FORMAT_STREAM] = "stream",
                                           [FORMAT_JSON] = "json" };
    const struct target *target = module->target;
    cJSON *files, *entries, *regions,
        *json = module_json(target->name, formats[target->format], &files, &entries, &regions);

    cJSON_AddStringToObject(json, "target_crc32",
                            arena_printf(&codegen->arena, "%08x", (unsigned)target->crc32));
    cJSON_AddItemToArray(files, text_json(module_file(codegen, module, ".h")));
    cJSON_AddItemToArray(files, text_json(module_file(codegen, module, ".c")));
    if (module_has_tables(module))
        cJSON_AddItemToArray(files, text_json("relayc_abi.h"));
    for (int i = 0; i < target->n_headers; i++)
        cJSON_AddItemToArray(files, text_json(safe(codegen, target->header_names[i])));
    for (int i = 0; i < codegen->n_regions; i++)
        if (region_of(codegen, module, i)) {
            cJSON_AddItemToArray(entries, text_json(codegen->regions[i].c_name));
            cJSON_AddItemToArray(regions, region_json(codegen, &codegen->regions[i]));
        }
    return json;
}

void add_modules_json(struct codegen *codegen, cJSON *root)
{
    cJSON *modules;

    if (codegen->n_modules == 0)
        return;
    modules = cJSON_AddArrayToObject(root, "modules");
    cJSON_AddItemToArray(modules, our_module(codegen));
    for (int i = 0; i < codegen->n_modules; i++)
        cJSON_AddItemToArray(modules, target_module(codegen, &codegen->modules[i]));
}
