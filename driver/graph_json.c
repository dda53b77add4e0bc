#include "driver/graph_json.h"

#include <string.h>

#include "base/str.h"
#include "frontend/tflite/import.h"
#include "relay_ir/json.h"

/* --- in --------------------------------------------------------------------------------------- */

/* What begins with '{' is no ONNX model: as protobuf, that would be a group of field 15. */
static bool begins_as_json(const struct mapping *file)
{
    size_t i = 0;

    while (i < file->size && memchr(" \t\r\n", file->data[i], 4))
        i++;
    return i < file->size && file->data[i] == '{';
}

/* All shapes and payloads of other formats are known. */
static bool check_options(struct driver_state *driver, const char *what, bool takes_custom)
{
    static const struct {
        enum option_id id;
        const char *name, *help;
    } senseless[] = {
        { OPTION_SHAPE, "--shape", "its shapes are fixed" },
        { OPTION_FREEZE, "--freeze", "its inputs are read at run time" },
        { OPTION_CUT_AT, "--cut", "its outputs are those in the file" },
        { OPTION_CUSTOM_OP, "--custom-op", "its operators are those in the file" },
        { OPTION_EXTRACT, "--extract", "its inputs and outputs are those in the file" },
        { OPTION_EXTERNAL_DATA_DIR, "--external-data-dir", "its data are in it, or next to it" },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        if (has_option(&driver->args, senseless[i].id) &&
            !(takes_custom && senseless[i].id == OPTION_CUSTOM_OP)) {
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "%s is for ONNX models, and this is %s",
                            senseless[i].name, what);
            diag_help(driver->ctx, "leave it out: %s", senseless[i].help);
        }
    return ok;
}

static bool check_dequantize(struct driver_state *driver)
{
    if (!has_option(&driver->args, OPTION_DEQUANTIZE))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL,
               "--dequantize is for TensorFlow Lite models, and this is none");
    diag_help(driver->ctx, "a QDQ network of ONNX is compiled as it is (docs/guide/qdq.md)");
    return false;
}

static struct module *read_tflite(struct driver_state *driver, struct mapping *file,
                                  const struct import_options *options)
{
    if (check_options(driver, "a TensorFlow Lite model", true))
        return tflite_import_mapping(driver->ctx, file, options->n_custom, options->custom,
                                     has_option(&driver->args, OPTION_DEQUANTIZE));
    file_unmap(file);
    return NULL;
}

/* What a file is, its bytes tell: a pipe can be read only once, and has no name. */
static struct module *read_mapped(struct driver_state *driver, struct mapping *file,
                                  const char *path, const struct import_options *options)
{
    struct module *module = NULL;

    if (tflite_is_model(file->data, file->size))
        return read_tflite(driver, file, options);
    if (!check_dequantize(driver)) {
        file_unmap(file);
        return NULL;
    }
    if (strcmp(path, "-") != 0 || !begins_as_json(file))
        return onnx_import_mapped(driver->ctx, file, path, options);
    driver->is_json_graph = true;
    if (check_options(driver, "a JSON graph", false))
        module = module_read_json_bytes(driver->ctx, (const char *)file->data, file->size, ".");
    file_unmap(file);
    return module;
}

struct module *read_model(struct driver_state *driver, const struct import_options *options)
{
    const char *path = driver->args.operands[0];
    struct mapping file;

    if (!str_ends(path, ".json"))
        return file_map(driver->ctx, path, &file) ? read_mapped(driver, &file, path, options)
                                                  : NULL;
    driver->is_json_graph = true;
    return check_options(driver, "a JSON graph", false) ? module_read_json(driver->ctx, path)
                                                        : NULL;
}

bool check_graph_regions(struct driver_state *driver, struct module *module)
{
    const struct option_values *dirs = &driver->args.options[OPTION_TARGET_DIR];
    struct targets *targets = &driver->offload.targets;

    if (!driver->is_json_graph || !module_has_foreign_regions(module))
        return true;
    return (targets->first || targets_load(driver->ctx, dirs->n, dirs->at, targets)) &&
           partition_check_regions(module, targets);
}

/* --- out -------------------------------------------------------------------------------------- */

bool prepare_emit(struct driver_state *driver)
{
    static const struct {
        const char *text;
        struct emit emit;
    } forms[] = { { "c", { true, false } },
                  { "json", { false, true } },
                  { "c,json", { true, true } },
                  { "json,c", { true, true } } };
    const char *text = option_text(&driver->args, OPTION_EMIT, "c");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].text, text) == 0) {
            driver->emit = forms[i].emit;
            return true;
        }
    return diag_error(driver->ctx, DIAG_USAGE, NULL, "--emit: found '%s', wanted c, json or c,json",
                      str_safe(&driver->ctx->perm, text, 80));
}

static const char *graph_path(const struct driver_state *driver, const char *suffix)
{
    return arena_printf(&driver->ctx->perm, "%s/%s.graph.%s", driver->codegen.dir,
                        driver->codegen.name, suffix);
}

int driver_graph_files(const struct driver_state *driver, const char *paths[2])
{
    paths[0] = graph_path(driver, "json");
    paths[1] = graph_path(driver, "bin");
    return module_json_has_data(driver->module) ? 2 : 1;
}

bool stage_graph(struct driver_state *driver)
{
    return module_write_json(driver->module, driver->outputs, graph_path(driver, "json"),
                             graph_path(driver, "bin"));
}
