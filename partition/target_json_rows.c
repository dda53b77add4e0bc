/* target_json_rows.c - the composites of a target.json. */
#include <string.h>

#include "base/str.h"
#include "partition/target_json.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Far more than anybody writes; conditions are compared in pairs. */
enum { MAX_LETS = 64, MAX_CONDITIONS = 64 };

static const char *safe(struct loader *loader, const char *text)
{
    return str_safe(&loader->ctx->perm, text, 64);
}

static struct expression *read_expression(struct loader *loader, const cJSON *item,
                                          struct source *source)
{
    const char *text = json_item_text(&loader->json, item);
    struct expression *expression;

    *source = json_source(&loader->json, item);
    expression = text ? expression_parse(loader->ctx, source, text) : NULL;
    loader->json.failed |= expression == NULL;
    return expression;
}

static struct expression *read_member(struct loader *loader, const cJSON *object, const char *key,
                                      struct source *source)
{
    const cJSON *item = json_get(object, key);

    return item ? read_expression(loader, item, source) : NULL;
}

static void read_conditions(struct loader *loader, const cJSON *list, struct composite_row *row)
{
    row->conditions = arena_array(&loader->ctx->perm, struct condition, cJSON_GetArraySize(list));
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        struct condition *condition = &row->conditions[row->n_conditions];

        condition->test = read_expression(loader, item, &condition->source);
        row->n_conditions += condition->test != NULL;
    }
}

static void read_lets(struct loader *loader, const cJSON *object, struct composite_row *row)
{
    const int n = cJSON_GetArraySize(object);

    if (n > MAX_LETS) {
        json_key_error(&loader->json, object, "%d names are defined, at most %d are allowed", n,
                       MAX_LETS);
        return;
    }
    row->lets = arena_array(&loader->ctx->perm, struct definition, n);
    for (const cJSON *item = object ? object->child : NULL; item; item = item->next) {
        struct definition *let = &row->lets[row->n_lets];

        let->name = arena_strdup(&loader->ctx->perm, item->string);
        let->value = read_expression(loader, item, &let->source);
        if (!is_identifier(let->name))
            json_key_error(&loader->json, item, "'%s' is not a name", safe(loader, let->name));
        else if (reserved_name(let->name))
            json_key_error(&loader->json, item, "'%s' is reserved: it is %s", let->name,
                           reserved_name(let->name));
        else
            row->n_lets += let->value != NULL;
    }
}

static void read_row_template(struct loader *loader, const cJSON *item, struct composite_row *row)
{
    const cJSON *template = json_get(item, "template");

    if (loader->target->format != FORMAT_C) {
        if (template)
            json_key_error(&loader->json, template, "a target of format %s has no templates",
                           target_format_names[loader->target->format]);
        return;
    }
    if (!template)
        json_error(&loader->json, item, "a composite of a target of format c needs a template");
    row->template_file = json_get_text(&loader->json, item, "template");
    row->template_text = target_json_file_of(loader, item, "template");
}

/* Captures of the pattern. */
static void read_in_place(struct loader *loader, const cJSON *list, struct composite_row *row)
{
    int n;
    const char **captures = pattern_captures(row->pattern, &loader->ctx->scratch, &n);

    row->in_place =
        arena_array(&loader->ctx->perm, const char *, list ? cJSON_GetArraySize(list) : 0);
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        const char *name = json_item_text(&loader->json, item);
        int i = 0;

        while (name && i < n && strcmp(captures[i], name) != 0)
            i++;
        if (name && i == n)
            json_error(&loader->json, item, "the pattern has no capture '%s'", safe(loader, name));
        else if (name)
            row->in_place[row->n_in_place++] = name;
    }
}

static void read_row(struct loader *loader, const cJSON *item, struct composite_row *row)
{
    static const char *const known[] = { "name",    "pattern", "where",    "let",
                                         "cost_ns", "scratch", "in_place", "template" };
    const cJSON *pattern = json_get(item, "pattern");

    row->target = loader->target;
    row->source = json_source(&loader->json, pattern ? pattern : item);
    if (!json_members(&loader->json, item, known, COUNT(known)))
        return;
    row->name = target_json_name(loader, item, "a composite");
    if (!pattern)
        json_error(&loader->json, item, "this composite has no pattern");
    row->text = json_get_text(&loader->json, item, "pattern");
    row->pattern = row->text ? pattern_parse(loader->ctx, &row->source, row->text) : NULL;
    loader->json.failed |= row->pattern == NULL;
    read_conditions(loader, json_get_list(&loader->json, item, "where"), row);
    read_lets(loader, json_get_object(&loader->json, item, "let"), row);
    row->cost_ns = read_member(loader, item, "cost_ns", &row->cost_source);
    row->scratch = read_member(loader, item, "scratch", &row->scratch_source);
    if (row->pattern)
        read_in_place(loader, json_get_list(&loader->json, item, "in_place"), row);
    read_row_template(loader, item, row);
}

void target_json_rows(struct loader *loader, const cJSON *list)
{
    struct target *target = loader->target;
    struct map seen = { .arena = &loader->ctx->scratch };

    target->rows = arena_array(&loader->ctx->perm, struct composite_row, cJSON_GetArraySize(list));
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        struct composite_row *row = &target->rows[target->n_rows++];

        read_row(loader, item, row);
        if (!row->name)
            continue;
        if (map_get(&seen, row->name))
            json_error(&loader->json, json_get(item, "name"),
                       "'%s' is already the name of the composite in line %d", row->name,
                       json_source(&loader->json, map_get(&seen, row->name)).line);
        else
            map_set(&seen, row->name, (void *)(uintptr_t)item);
        row->name = arena_printf(&loader->ctx->perm, "%s.%s", target->name, row->name);
    }
}
