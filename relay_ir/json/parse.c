/* parse.c - the graph from JSON.
 *
 * needs    a file from anywhere: nothing in it is trusted
 * gives    a graph that module_verify accepts, or errors that say where, what was found and wanted
 * method   cJSON makes a tree; functions are read from it in order of their calls, in each first
 *          the names of all values, then parameters, constants, nodes, results */
#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/json.h"
#include "relay_ir/json/parser.h"

/* Makes all functions, so that one may be called before its turn. */
static bool find_sections(struct json_parser *parser, const cJSON *root)
{
    const struct json_path whole = { .up = NULL };
    const cJSON *list, *item;
    const int n = json_list(&parser->errors, &whole, root, "functions", &list);
    bool ok = n >= 0;

    parser->sections = arena_array(&parser->ctx->scratch, struct section, n < 0 ? 0 : n);
    cJSON_ArrayForEach(item, (ok ? list : NULL))
    {
        struct section *section = &parser->sections[parser->n_sections];
        const struct json_path at = { .up = &parser->functions, .index = parser->n_sections };
        const struct json_path name_at = { .up = &at, .key = "name" };
        const char *name = json_name(parser, item);

        *section = (struct section){ .item = item,
                                     .index = parser->n_sections++,
                                     .names = { .arena = &parser->ctx->scratch } };
        if (!name)
            ok = json_wrong(&parser->errors, &name_at,
                            cJSON_IsObject(item) ? json_get(item, "name") : NULL,
                            "a text that is not empty, whose only escapes are \\xNN");
        else if (map_get(&parser->by_name, name))
            ok = json_fail(&parser->errors, &name_at,
                           "found '%s', which another function has already",
                           str_safe(&parser->ctx->scratch, name, 60));
        if (json_too_many_errors(&parser->errors))
            return false;
        section->fn = name && strcmp(name, "main") == 0
                          ? parser->module->main
                          : function_new(parser->module, name ? name : "nameless");
        if (name)
            map_set(&parser->by_name, name, section);
    }
    if (ok && !map_get(&parser->by_name, "main"))
        ok = json_fail(&parser->errors, &parser->functions, "found no function main, wanted one");
    return ok;
}

/* --- the module ------------------------------------------------------------------------------- */

static void unmap(void *source)
{
    file_unmap(source);
}

/* Nothing outside of the folder of the JSON file is opened. */
static bool open_data(struct json_parser *parser, const char *dir, const cJSON *item)
{
    static const char *const keys[] = { "file", "bytes", NULL };
    const struct json_path place = { .key = "data" }, file_at = { .up = &place, .key = "file" },
                           bytes_at = { .up = &place, .key = "bytes" };
    const char *reason, *file;
    struct mapping *data = arena_new(&parser->module->arena, struct mapping);
    int64_t bytes;

    if (!json_object(&parser->errors, &place, item, keys) ||
        !json_text_member(&parser->errors, &place, item, "file", NULL, &file) ||
        !json_int_member(&parser->errors, &place, item, "bytes", -1, 0, INT64_MAX, &bytes))
        return false;
    parser->data_file = str_safe(&parser->ctx->perm, file, 200);
    if (!dir)
        return json_fail(&parser->errors, &file_at, "there is no folder to look for %s in",
                         parser->data_file);
    if (!file_map_beneath(parser->ctx, dir, file, data, &reason))
        return json_fail(&parser->errors, &file_at, "%s cannot be used: %s", parser->data_file,
                         reason);
    parser->module->source = parser->data = data;
    parser->ctx->limits.model_bytes += (int64_t)data->size;
    parser->module->free_source = unmap;
    if ((uint64_t)bytes == data->size)
        return true;
    return json_fail(&parser->errors, &bytes_at, "found %lld, wanted %zu, the size of %s",
                     (long long)bytes, data->size, parser->data_file);
}

static bool read_format(struct json_parser *parser, const cJSON *root)
{
    const struct json_path whole = { .up = NULL }, format_at = { .up = &whole, .key = "format" };
    const char *format;
    int64_t version;

    if (!json_text_member(&parser->errors, &whole, root, "format", NULL, &format))
        return false;
    if (strcmp(format, "relayc-graph") != 0)
        return json_wrong(&parser->errors, &format_at, json_get(root, "format"), "'relayc-graph'");
    return json_int_member(&parser->errors, &whole, root, "version", -1, 1, 1, &version);
}

static bool read_module(struct json_parser *parser, const char *dir, const cJSON *root)
{
    static const char *const keys[] = { "format",   "version", "opset",     "onnx_nodes",
                                        "producer", "data",    "functions", NULL };
    const struct json_path whole = { .up = NULL };
    struct module *module = parser->module;
    int64_t opset = 0, n_onnx_nodes = 0;
    bool ok;

    if (!cJSON_IsObject(root))
        return json_wrong(&parser->errors, &whole, root, "an object");
    if (!read_format(parser, root))
        return false;
    ok = json_object(&parser->errors, &whole, root, keys);
    ok = json_int_member(&parser->errors, &whole, root, "opset", 0, 0, INT_MAX, &opset) && ok;
    ok = json_int_member(&parser->errors, &whole, root, "onnx_nodes", 0, 0, INT_MAX,
                         &n_onnx_nodes) &&
         ok;
    ok = json_text_member(&parser->errors, &whole, root, "producer", "", &module->producer) && ok;
    module->opset = (int)opset;
    module->n_onnx_nodes = (int)n_onnx_nodes;
    if (json_get(root, "data"))
        ok = open_data(parser, dir, json_get(root, "data")) && ok;
    ok = find_sections(parser, root) && ok;
    for (int i = 0; ok && i < parser->n_sections; i++)
        json_section(parser, &parser->sections[i]);
    for (int i = 0; i < parser->n_sections; i++)
        ok = ok && parser->sections[i].done && !parser->sections[i].broken;
    return ok;
}

/* --- the text --------------------------------------------------------------------------------- */

static bool text_error(struct json_parser *parser, const char *text, const char *at,
                       const char *message)
{
    int line = 1, column = 1;

    for (; text < at; text++) {
        column = *text == '\n' ? 1 : column + 1;
        line += *text == '\n';
    }
    return diag_error(parser->ctx, DIAG_GRAPH_JSON, NULL, "line %d, column %d: %s", line, column,
                      message);
}

/* cJSON would end a text at the character 0. */
static const char *find_zero(const char *text, size_t n)
{
    for (size_t i = 0; i + 5 < n; i++) {
        if (text[i] != '\\')
            continue;
        if (strncmp(text + i + 1, "u0000", 5) == 0)
            return text + i;
        i++;
    }
    return NULL;
}

static bool read_text(struct json_parser *parser, const char *text, size_t n, const char *dir)
{
    const char *end = NULL, *zero = find_zero(text, n);
    cJSON *root;
    bool ok;

    if (n > MAX_JSON_BYTES)
        return diag_error(parser->ctx, DIAG_GRAPH_JSON, NULL,
                          "the file has %zu bytes, expected at most %d", n, MAX_JSON_BYTES);
    if (zero)
        return text_error(parser, text, zero, "found \\u0000, wanted a text without it");
    root = cJSON_ParseWithLengthOpts(text, n, &end, false);
    if (!root)
        return text_error(parser, text, end ? end : text,
                          "this is not JSON, or is nested more than 1000 deep");
    while (end < text + n && strchr(" \t\r\n", *end) && *end)
        end++;
    ok = end == text + n ? read_module(parser, dir, root)
                         : text_error(parser, text, end, "found more text behind the graph");
    cJSON_Delete(root);
    return ok;
}

struct module *module_read_json_bytes(struct ctx *ctx, const char *bytes, size_t n, const char *dir)
{
    struct json_parser parser = { .ctx = ctx,
                                  .module = module_new(ctx),
                                  .errors = { ctx, DIAG_GRAPH_JSON, ctx->diags.n_errors },
                                  .functions = { .key = "functions" },
                                  .by_name = { .arena = &ctx->scratch },
                                  .symbols = { .arena = &ctx->scratch } };

    ctx->limits.model_bytes = (int64_t)n;
    if (read_text(&parser, bytes, n, dir))
        return parser.module;
    module_free(parser.module);
    return NULL;
}

struct module *module_read_json(struct ctx *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dir = slash ? arena_strndup(&ctx->scratch, path, (size_t)(slash - path) + 1) : ".";
    struct module *module;
    struct mapping file;

    if (!file_map(ctx, path, &file))
        return NULL;
    module = module_read_json_bytes(ctx, (const char *)file.data, file.size, dir);
    file_unmap(&file);
    return module;
}
