#include "cli/graph_json.h"

#include <string.h>

#include "base/str.h"
#include "relay_ir/json.h"

/* --- in -----------------------------------------------------------------------------------------
 */

/* What begins with '{' is no ONNX model: as protobuf, that would be a group of field 15. */
static bool begins_as_json(const struct mapping *file)
{
    size_t i = 0;

    while (i < file->size && memchr(" \t\r\n", file->data[i], 4))
        i++;
    return i < file->size && file->data[i] == '{';
}

/* All shapes and payloads of a JSON graph are known. */
static bool check_options(struct cli *cli)
{
    static const struct {
        enum option_id id;
        const char *name, *help;
    } senseless[] = {
        { OPTION_SHAPE, "--shape", "a JSON graph has all its shapes" },
        { OPTION_FREEZE, "--freeze", "it was there before, for the ONNX model" },
        { OPTION_EXTERNAL_DATA_DIR, "--external-data-dir", "its data file lies beside it" },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        if (has_option(&cli->args, senseless[i].id)) {
            ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                            "%s is for ONNX models, and this is a JSON graph", senseless[i].name);
            diag_help(cli->ctx, "leave it out: %s", senseless[i].help);
        }
    return ok;
}

/* A pipe can be read only once, so what it is is seen from its bytes. */
static struct module *read_standard_input(struct cli *cli, const struct import_options *options)
{
    struct module *module = NULL;
    struct mapping file;

    if (!file_map(cli->ctx, "-", &file))
        return NULL;
    if (!begins_as_json(&file))
        return onnx_import_mapping(cli->ctx, &file, ".", options);
    cli->is_json_graph = true;
    if (check_options(cli))
        module = module_read_json_bytes(cli->ctx, (const char *)file.data, file.size, ".");
    file_unmap(&file);
    return module;
}

struct module *read_model(struct cli *cli, const struct import_options *options)
{
    const char *path = cli->args.operands[0];

    if (strcmp(path, "-") == 0)
        return read_standard_input(cli, options);
    if (!str_ends(path, ".json"))
        return onnx_import(cli->ctx, path, options);
    cli->is_json_graph = true;
    return check_options(cli) ? module_read_json(cli->ctx, path) : NULL;
}

bool check_graph_regions(struct cli *cli, struct module *module)
{
    const struct option_values *dirs = &cli->args.options[OPTION_TARGET_DIR];
    struct targets *targets = &cli->offload.targets;

    if (!cli->is_json_graph || !module_has_foreign_regions(module))
        return true;
    return (targets->first || targets_load(cli->ctx, dirs->n, dirs->at, targets)) &&
           partition_check_regions(module, targets);
}

/* --- out ----------------------------------------------------------------------------------------
 */

bool parse_emit(struct cli *cli, struct emit *out)
{
    static const struct {
        const char *text;
        struct emit emit;
    } forms[] = { { "c", { true, false } },
                  { "json", { false, true } },
                  { "c,json", { true, true } },
                  { "json,c", { true, true } } };
    const char *text = option_text(&cli->args, OPTION_EMIT, "c");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].text, text) == 0) {
            *out = forms[i].emit;
            return true;
        }
    return diag_error(cli->ctx, DIAG_USAGE, NULL, "--emit: found '%s', wanted c, json or c,json",
                      str_safe(&cli->ctx->perm, text, 80));
}

static const char *graph_path(struct cli *cli, const char *dir, const char *name,
                              const char *suffix)
{
    return arena_printf(&cli->ctx->perm, "%s/%s.graph.%s", dir, name, suffix);
}

bool write_graph_json(struct cli *cli, const struct module *module, struct output_set *set,
                      const char *dir, const char *name)
{
    return module_write_json(module, set, graph_path(cli, dir, name, "json"),
                             graph_path(cli, dir, name, "bin"));
}

void report_graph_json(struct cli *cli, const struct module *module, const char *dir,
                       const char *name)
{
    const char *const files[] = { graph_path(cli, dir, name, "json"),
                                  graph_path(cli, dir, name, "bin") };
    const int n = module_json_has_data(module) ? 2 : 1;
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cli->json, "files");

    if (cli->json && !list) {
        cJSON_AddStringToObject(cli->json, "name", name);
        list = cJSON_AddArrayToObject(cli->json, "files");
    }
    for (int i = 0; i < n && list; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(files[i]));
    say(cli, "%s: the graph after all passes\n  wrote   %s%s%s\n", name, files[0],
        n > 1 ? ", " : "", n > 1 ? files[1] : "");
}
