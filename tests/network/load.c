/* load.c - a model folder into memory: the graph after the passes, inputs, wanted outputs. */
#include <cjson/cJSON.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "frontend/onnx/import.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/interpret.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "tests/network/network.h"

enum { MAX_INPUTS = 16 };

/* The shapes that model.json gives for the inputs; none where there is no such file. */
static int read_shapes(struct network *network, struct shape_binding *shapes)
{
    const char *path = arena_printf(&network->ctx->perm, "%s/model.json", network->dir);
    struct mapping file;
    cJSON *json;
    const cJSON *input, *dim;
    int n = 0;

    if (access(path, R_OK) != 0 || !file_map(network->ctx, path, &file))
        return 0;
    json = cJSON_ParseWithLength((const char *)file.data, file.size);
    cJSON_ArrayForEach(input, cJSON_GetObjectItemCaseSensitive(json, "inputs"))
    {
        struct shape_binding *shape = &shapes[n++];

        shape->name =
            arena_strdup(&network->ctx->perm,
                         cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input, "name")));
        shape->rank = 0;
        cJSON_ArrayForEach(dim, cJSON_GetObjectItemCaseSensitive(input, "shape"))
            shape->dim[shape->rank++] = (int64_t)dim->valuedouble;
    }
    cJSON_Delete(json);
    file_unmap(&file);
    return n;
}

/* Quantised models are a later issue; any other operator that is missing is a failure. */
static const char *quantised_operators(const struct ctx *ctx)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->severity == DIAG_ERROR && (d->code != DIAG_UNSUPPORTED_OP || !d->origin ||
                                          (!strstr(d->origin->op_type, "QLinear") &&
                                           !strstr(d->origin->op_type, "uantizeLinear"))))
            return NULL;
    return "quantised operators";
}

static bool read_tensors(struct network *network, const char *folder, const char *stem, int n,
                         struct tensor *out)
{
    bool ok = true;

    for (int i = 0; i < n; i++)
        ok &= tensor_file_read_one(
            network->ctx,
            arena_printf(&network->ctx->perm, "%s/%s/%s_%d.npy", network->dir, folder, stem, i),
            &network->bulk, &out[i]);
    return ok;
}

static struct io_set *add_set(struct network *network, const char *folder)
{
    struct io_set *set = &network->sets[network->n_sets++];
    const struct function *fn = network->module->main;

    set->folder = folder;
    set->inputs = arena_array(&network->ctx->perm, struct tensor, fn->n_params);
    set->outputs = arena_array(&network->ctx->perm, struct tensor, fn->ret->n_inputs);
    return set;
}

static bool read_set(struct network *network, const char *folder)
{
    const struct function *fn = network->module->main;
    struct io_set *set;

    if (access(arena_printf(&network->ctx->perm, "%s/%s", network->dir, folder), F_OK) != 0)
        return true;
    set = add_set(network, folder);
    return read_tensors(network, folder, "input", fn->n_params, set->inputs) &&
           read_tensors(network, folder, "output", fn->ret->n_inputs, set->outputs) &&
           interpret_check_inputs(network->ctx, fn, fn->n_params, set->inputs);
}

/* Without expected outputs: numbers from a fixed sequence, and the reference evaluator (run before
 * the passes, so that these are tested as well). */
static bool make_set(struct network *network)
{
    struct function *fn = network->module->main;
    struct io_set *set = add_set(network, "");
    uint32_t state = 12345;

    for (int i = 0; i < fn->n_params; i++) {
        set->inputs[i] = tensor_new(&network->bulk, &fn->params[i]->type);
        for (int64_t j = 0; j < type_elements(&fn->params[i]->type); j++) {
            state = state * 1664525u + 1013904223u;
            dtype_store(fn->params[i]->type.dtype, set->inputs[i].data, j,
                        (double)(state >> 8) * 0x1p-23 - 1);
        }
    }
    return interpret(network->ctx, fn, set->inputs, set->outputs, &network->bulk, NULL);
}

/* The text form of the graph, printed, parsed and printed again, is the same text. */
static bool round_trip(struct network *network, const char *when)
{
    struct str first = { .arena = &network->ctx->perm }, again = { .arena = &network->ctx->perm };
    struct module *parsed;

    module_print(network->module, &first);
    parsed = module_parse(network->ctx, str_text(&first), network->module, false);
    if (!parsed)
        return false;
    module_print(parsed, &again);
    module_free(parsed);
    return strcmp(str_text(&first), str_text(&again)) == 0 ||
           diag_error(network->ctx, DIAG_INTERNAL, NULL,
                      "the graph's text %s does not survive printing and parsing", when);
}

static bool run_passes(struct network *network)
{
    return round_trip(network, "after the import") &&
           pipeline_run(network->module, &(struct pipeline_options){ .log = stderr }) &&
           round_trip(network, "after the passes");
}

bool network_load(struct network *network, const char *dir, const char **unsupported)
{
    const char *slash = strrchr(dir, '/');
    const char *path = dir;
    struct shape_binding shapes[MAX_INPUTS];
    struct import_options options = { .shapes = shapes };

    *network = (struct network){ .ctx = ctx_new(NULL),
                                 .dir = dir,
                                 .name = slash && slash[1] ? slash + 1 : dir };
    if (!str_ends(dir, ".onnx"))
        path = arena_printf(&network->ctx->perm, "%s/model.onnx", dir);
    network->ctx->diags.input_name = path;
    options.n_shapes = read_shapes(network, shapes);
    network->module = onnx_import(network->ctx, path, &options);
    if (!network->module) {
        *unsupported = quantised_operators(network->ctx);
        return false;
    }
    return read_set(network, "io") && read_set(network, "io2") &&
           (network->n_sets || make_set(network)) && run_passes(network);
}

void network_free(struct network *network)
{
    module_free(network->module);
    bulk_release(&network->bulk);
    ctx_free(network->ctx);
}
