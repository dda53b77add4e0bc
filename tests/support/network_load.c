/* network_load.c - a model folder into memory: the graph, inputs, wanted outputs. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/driver.h"
#include "frontend/onnx/import.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/interpret.h"
#include "relay_ir/text.h"
#include "tests/support/network.h"

enum { MAX_INPUTS = 16 };

cJSON *network_json(struct ctx *ctx, const char *path)
{
    struct mapping file;
    cJSON *json;

    if (access(path, R_OK) != 0 || !file_map(ctx, path, &file))
        return NULL;
    json = cJSON_ParseWithLength((const char *)file.data, file.size);
    file_unmap(&file);
    return json;
}

/* The shapes that model.json gives for the inputs. */
static int read_shapes(struct network *network, const cJSON *json, struct shape_binding *shapes)
{
    const cJSON *input, *dim;
    int n = 0;

    cJSON_ArrayForEach(input, cJSON_GetObjectItemCaseSensitive(json, "inputs"))
    {
        struct shape_binding *shape = &shapes[n++];

        *shape = (struct shape_binding){
            .name = arena_strdup(
                &network->ctx->perm,
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input, "name")))
        };
        cJSON_ArrayForEach(dim, cJSON_GetObjectItemCaseSensitive(input, "shape"))
            shape->dim[shape->rank++] = (int64_t)dim->valuedouble;
    }
    return n;
}

/* A number in the middle between two steps of a quantiser goes up or down with the order of the sum
 * before it, which ONNX leaves open. How far that may carry in a quantised network, model.json
 * tells by what the runtime that made the outputs differs from itself when it optimises. */
static void set_tolerance(struct network *network, const cJSON *json)
{
    const cJSON *expected = cJSON_GetObjectItemCaseSensitive(json, "expected_outputs");
    const cJSON *spread =
        cJSON_GetObjectItemCaseSensitive(expected, "max_abs_diff_to_all_optimisations");
    bool quantised = false;

    network->tolerance = 1e-4;
    for (const struct node *n = network->module->main->first; n; n = n->next)
        quantised = quantised || n->op == OP_QNN_QUANTIZE || n->op == OP_QNN_REQUANTIZE;
    if (!quantised || !cJSON_IsNumber(spread))
        return;
    for (int i = 0; i < network->n_sets; i++)
        for (int k = 0; k < network->module->main->ret->n_inputs; k++) {
            const struct tensor *output = &network->sets[i].outputs[k];
            double largest = 0;

            for (int64_t j = 0; j < type_elements(&output->type); j++)
                largest = fmax(largest, fabs(tensor_at(output, j)));
            network->tolerance = fmax(network->tolerance, spread->valuedouble / largest);
        }
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

bool network_load(struct network *network, const char *dir)
{
    const char *slash = strrchr(dir, '/');
    const char *path = dir;
    struct shape_binding shapes[MAX_INPUTS];
    struct import_options options = { .shapes = shapes };
    cJSON *json;
    bool ok;

    *network = (struct network){ .ctx = ctx_new(NULL),
                                 .dir = dir,
                                 .name = slash && slash[1] ? slash + 1 : dir };
    if (!str_ends(dir, ".onnx"))
        path = arena_printf(&network->ctx->perm, "%s/model.onnx", dir);
    network->ctx->diags.input_name = path;
    json = network_json(network->ctx,
                        arena_printf(&network->ctx->perm, "%s/model.json", network->dir));
    options.n_shapes = read_shapes(network, json, shapes);
    network->module = onnx_import(network->ctx, path, &options);
    ok = network->module && read_set(network, "io") && read_set(network, "io2") &&
         (network->n_sets || make_set(network));
    if (ok)
        set_tolerance(network, json);
    cJSON_Delete(json);
    return ok;
}

bool network_run_passes(struct network *network)
{
    struct driver_state driver = driver_begin(network->ctx, COMMAND_COMPILE);
    bool ok = round_trip(network, "after the import");

    driver_give(&driver, OPTION_CHECK_PASSES, "");
    ok = ok && run_passes(&driver, network->module) && round_trip(network, "after the passes");
    driver_free(&driver);
    return ok;
}

void network_free(struct network *network)
{
    module_free(network->module);
    bulk_release(&network->bulk);
    ctx_free(network->ctx);
}
