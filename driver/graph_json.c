#include "driver/graph_json.h"

#include <string.h>

#include "base/str.h"
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

/* All shapes and payloads of a JSON graph are known. */
static bool check_options(struct driver_state *driver)
{
    static const struct {
        enum option_id id;
        const char *name, *help;
    } senseless[] = {
        { OPTION_SHAPE, "--shape", "a JSON graph has fixed shapes" },
        { OPTION_FREEZE, "--freeze", "use it on the ONNX model" },
        { OPTION_EXTERNAL_DATA_DIR, "--external-data-dir", "its data file is next to it" },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        if (has_option(&driver->args, senseless[i].id)) {
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                            "%s is for ONNX models, and this is a JSON graph", senseless[i].name);
            diag_help(driver->ctx, "leave it out: %s", senseless[i].help);
        }
    return ok;
}

/* A pipe can be read only once, so what it is is seen from its bytes. */
static struct module *read_standard_input(struct driver_state *driver,
                                          const struct import_options *options)
{
    struct module *module = NULL;
    struct mapping file;

    if (!file_map(driver->ctx, "-", &file))
        return NULL;
    if (!begins_as_json(&file))
        return onnx_import_mapping(driver->ctx, &file, ".", options);
    driver->is_json_graph = true;
    if (check_options(driver))
        module = module_read_json_bytes(driver->ctx, (const char *)file.data, file.size, ".");
    file_unmap(&file);
    return module;
}

struct module *read_model(struct driver_state *driver, const struct import_options *options)
{
    const char *path = driver->args.operands[0];

    if (strcmp(path, "-") == 0)
        return read_standard_input(driver, options);
    if (!str_ends(path, ".json"))
        return onnx_import(driver->ctx, path, options);
    driver->is_json_graph = true;
    return check_options(driver) ? module_read_json(driver->ctx, path) : NULL;
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

const char *graph_path(const struct driver_state *driver, const char *suffix)
{
    return arena_printf(&driver->ctx->perm, "%s/%s.graph.%s", driver->codegen.dir,
                        driver->codegen.name, suffix);
}

bool stage_graph(struct driver_state *driver)
{
    return module_write_json(driver->module, driver->outputs, graph_path(driver, "json"),
                             graph_path(driver, "bin"));
}
