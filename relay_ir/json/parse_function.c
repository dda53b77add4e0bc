#include <limits.h>
#include <string.h>

#include "relay_ir/json/parser.h"

static bool is_identifier(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

    return *text && strchr(letters, *text) &&
           text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789")] ==
               '\0';
}

/* It becomes part of the generated code. */
static bool read_symbol(struct json_parser *parser, const struct section *section)
{
    const struct json_path at = { .up = &parser->place, .key = "global_symbol" };
    const char *symbol;

    if (!json_text_member(&parser->errors, &parser->place, section->item, "global_symbol", NULL,
                          &symbol))
        return false;
    if (!is_identifier(symbol))
        return json_wrong(&parser->errors, &at, json_get(section->item, "global_symbol"),
                          "an identifier of C");
    if (map_get(&parser->symbols, symbol))
        return json_fail(&parser->errors, &at, "found '%s', which another function has already",
                         symbol);
    map_set(&parser->symbols, symbol, section->fn);
    section->fn->global_symbol = symbol;
    return true;
}

/* main is nobody's region. */
static bool check_main(struct json_parser *parser, const struct section *section)
{
    static const char *const keys[] = { "compiler", "composite", "global_symbol" };
    bool ok = true;

    for (int i = 0; i < 3 && section->fn == parser->module->main; i++)
        if (json_get(section->item, keys[i]))
            ok = json_fail(&parser->errors, &parser->place,
                           "found \"%s\", wanted none: this is main", keys[i]);
    return ok;
}

static bool read_head(struct json_parser *parser, const struct section *section)
{
    static const char *const keys[] = { "name",          "compiler", "composite",
                                        "global_symbol", "params",   "constants",
                                        "nodes",         "results",  NULL };
    struct function *fn = section->fn;
    bool ok = json_object(&parser->errors, &parser->place, section->item, keys);

    ok = check_main(parser, section) && ok;
    if (json_get(section->item, "compiler"))
        ok = json_text_member(&parser->errors, &parser->place, section->item, "compiler", NULL,
                              &fn->compiler) &&
             ok;
    if (json_get(section->item, "composite"))
        ok = json_text_member(&parser->errors, &parser->place, section->item, "composite", NULL,
                              &fn->composite) &&
             ok;
    if (json_get(section->item, "global_symbol"))
        ok = read_symbol(parser, section) && ok;
    return ok;
}

/* What is done with an element of "params", "constants", "nodes". */
typedef bool read_row(struct json_parser *parser, const struct json_path *place, const cJSON *item,
                      int index);

static bool read_rows(struct json_parser *parser, const char *key, read_row *read)
{
    const struct json_path list_at = { .up = &parser->place, .key = key };
    const cJSON *list, *item;
    bool ok = json_list(&parser->errors, &parser->place, parser->section->item, key, &list) >= 0;
    int i = 0;

    cJSON_ArrayForEach(item, (ok ? list : NULL))
    {
        const struct json_path at = { .up = &list_at, .index = i };

        ok = read(parser, &at, item, i++) && ok;
        if (json_too_many_errors(&parser->errors))
            return false;
    }
    return ok;
}

static bool declare_param(struct json_parser *parser, const struct json_path *place,
                          const cJSON *item, int index)
{
    return json_declare(parser, place, item, "params", index);
}

static bool declare_constant(struct json_parser *parser, const struct json_path *place,
                             const cJSON *item, int index)
{
    return json_declare(parser, place, item, "constants", index);
}

/* Wrong forms are for json_node to report. */
static bool declare_outputs(struct json_parser *parser, const struct json_path *place,
                            const cJSON *item, int index)
{
    const struct json_path outputs_at = { .up = place, .key = "outputs" };
    const cJSON *outputs = cJSON_IsObject(item) ? json_get(item, "outputs") : NULL, *output;
    int i = 0;
    bool ok = true;

    cJSON_ArrayForEach(output, (cJSON_IsArray(outputs) ? outputs : NULL))
    {
        const struct json_path at = { .up = &outputs_at, .index = i++ };

        ok = json_declare(parser, &at, output, "nodes", index) && ok;
    }
    return ok;
}

static bool read_param(struct json_parser *parser, const struct json_path *place, const cJSON *item,
                       int index)
{
    static const char *const keys[] = { "name", JSON_TYPE_KEYS, NULL };
    const char *name = json_name(parser, item);
    struct type type;

    (void)index;
    if (!name || !json_object(&parser->errors, place, item, keys) ||
        !json_type(parser, place, item, false, &type))
        return false;
    param_new(parser->section->fn, name, &type);
    return true;
}

static bool read_constant(struct json_parser *parser, const struct json_path *place,
                          const cJSON *item, int index)
{
    (void)index;
    return json_constant(parser, place, item);
}

static bool read_result(struct json_parser *parser, const struct json_path *place,
                        const cJSON *item, struct value **value, const char **name)
{
    static const char *const keys[] = { "value", "name", NULL };
    const struct json_path value_at = { .up = place, .key = "value" };

    return json_object(&parser->errors, place, item, keys) &&
           json_reference(parser, &value_at, json_get(item, "value"), INT_MAX, value) &&
           json_text_member(&parser->errors, place, item, "name", (*value)->name, name);
}

static bool read_results(struct json_parser *parser)
{
    struct arena *scratch = &parser->ctx->scratch;
    const struct json_path results_at = { .up = &parser->place, .key = "results" };
    const cJSON *list, *item;
    const int n =
        json_list(&parser->errors, &parser->place, parser->section->item, "results", &list);
    struct value **values = arena_array(scratch, struct value *, n < 0 ? 0 : n);
    const char **names = arena_array(scratch, const char *, n < 0 ? 0 : n);
    bool ok = n >= 0;
    int i = 0;

    cJSON_ArrayForEach(item, (ok ? list : NULL))
    {
        const struct json_path at = { .up = &results_at, .index = i };

        ok = read_result(parser, &at, item, &values[i], &names[i]) && ok;
        i++;
        if (json_too_many_errors(&parser->errors))
            return false;
    }
    if (ok)
        results_set(parser->section->fn, n, values, names);
    return ok;
}

static bool read_section(struct json_parser *parser)
{
    bool ok = read_head(parser, parser->section);

    ok = read_rows(parser, "params", declare_param) && ok;
    ok = read_rows(parser, "constants", declare_constant) && ok;
    ok = read_rows(parser, "nodes", declare_outputs) && ok;
    if (!cJSON_IsObject(parser->section->item) || json_too_many_errors(&parser->errors))
        return false;
    ok = read_rows(parser, "params", read_param) && ok;
    ok = read_rows(parser, "constants", read_constant) && ok;
    ok = read_rows(parser, "nodes", json_node) && ok;
    return read_results(parser) && ok;
}

bool json_section(struct json_parser *parser, struct section *section)
{
    struct section *const caller = parser->section;
    const struct json_path place = parser->place;

    if (section->done)
        return !section->broken;
    parser->section = section;
    parser->place = (struct json_path){ .up = &parser->functions, .index = section->index };
    parser->depth++;
    section->open = true;
    section->broken = !read_section(parser);
    section->open = false;
    section->done = true;
    parser->depth--;
    parser->section = caller;
    parser->place = place;
    return !section->broken;
}
