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
    return check_options(cli) ? module_read_json(cli->ctx, path) : NULL;
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

bool write_graph_json(struct cli *cli, const struct module *module, struct output_set *set,
                      const char *dir, const char *name)
{
    struct arena *arena = &cli->ctx->perm;

    return module_write_json(module, set, arena_printf(arena, "%s/%s.graph.json", dir, name),
                             arena_printf(arena, "%s/%s.graph.bin", dir, name));
}

void report_graph_json(struct cli *cli, const struct module *module, const char *name)
{
    struct arena *arena = &cli->ctx->perm;
    const char *const files[] = { arena_printf(arena, "%s.graph.json", name),
                                  arena_printf(arena, "%s.graph.bin", name) };
    const int n = module_json_has_data(module) ? 2 : 1;
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cli->json, "files");

    if (cli->json && !list)
        list = cJSON_AddArrayToObject(cli->json, "files");
    for (int i = 0; i < n && list; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(files[i]));
    say(cli, "%s: the graph after all passes\n  wrote   %s%s%s\n", name, files[0],
        n > 1 ? ", " : "", n > 1 ? files[1] : "");
}
