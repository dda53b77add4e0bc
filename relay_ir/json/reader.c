#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/json/parser.h"
#include "relay_ir/json/scalar.h"

/* --- errors ----------------------------------------------------------------------------------- */

static void print_place(struct str *out, const struct place *place)
{
    if (place->up)
        print_place(out, place->up);
    if (place->key)
        str_printf(out, "%s%s", out->n ? "." : "", str_safe(out->arena, place->key, 60));
    else if (place->up)
        str_printf(out, "[%d]", place->index);
}

static const char *place_text(struct json_parser *parser, const struct place *place)
{
    struct str out = { .arena = &parser->ctx->perm };

    print_place(&out, place);
    return *str_text(&out) ? str_text(&out) : "the file";
}

bool json_fail(struct json_parser *parser, const struct place *place, const char *format, ...)
{
    struct str message = { .arena = &parser->ctx->scratch };
    va_list args;

    if (json_too_many_errors(parser))
        return false;
    va_start(args, format);
    str_vprintf(&message, format, args);
    va_end(args);
    return diag_error(parser->ctx, DIAG_GRAPH_JSON, NULL, "%s: %s", place_text(parser, place),
                      str_text(&message));
}

void json_note(struct json_parser *parser, const struct place *place)
{
    diag_note(parser->ctx, "in %s of the JSON graph", place_text(parser, place));
}

static const char *found_text(struct json_parser *parser, const cJSON *item)
{
    struct arena *arena = &parser->ctx->scratch;

    if (!item)
        return "nothing";
    if (cJSON_IsString(item))
        return arena_printf(arena, "'%s'", str_safe(arena, item->valuestring, 60));
    if (cJSON_IsNumber(item)) {
        const char *text = arena_printf(arena, "%.9g", item->valuedouble);

        return strtod(text, NULL) == item->valuedouble
                   ? text
                   : arena_printf(arena, "%.17g", item->valuedouble);
    }
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? "true" : "false";
    return cJSON_IsNull(item) ? "null" : cJSON_IsArray(item) ? "a list" : "an object";
}

bool json_wrong(struct json_parser *parser, const struct place *place, const cJSON *item,
                const char *wanted)
{
    return json_fail(parser, place, "found %s, wanted %s", found_text(parser, item), wanted);
}

bool json_too_many_errors(const struct json_parser *parser)
{
    return parser->ctx->diags.n_errors - parser->n_errors_before >= MAX_ERRORS;
}

/* --- objects ---------------------------------------------------------------------------------- */

const cJSON *json_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static size_t find_key(const char *const *keys, const char *key)
{
    size_t i = 0;

    while (keys[i] && strcmp(keys[i], key) != 0)
        i++;
    return i;
}

bool json_object(struct json_parser *parser, const struct place *place, const cJSON *item,
                 const char *const *keys)
{
    uint64_t seen = 0;
    const cJSON *member;
    size_t n = 0;
    bool ok = true;

    if (!cJSON_IsObject(item))
        return json_wrong(parser, place, item, "an object");
    while (keys[n])
        n++;
    cJSON_ArrayForEach(member, item)
    {
        const size_t i = find_key(keys, member->string);
        const struct place at = { .up = place, .key = member->string };
        const char *near;

        if (!keys[i]) {
            near = str_nearest(member->string, keys, n);
            ok = json_fail(parser, &at, "there is no such key");
            if (near)
                diag_help(parser->ctx, "did you mean \"%s\"?", near);
        } else if (seen >> i & 1) {
            ok = json_fail(parser, &at, "the key is given twice");
        } else {
            seen |= (uint64_t)1 << i;
        }
        if (json_too_many_errors(parser))
            return false;
    }
    return ok;
}

int json_list(struct json_parser *parser, const struct place *place, const cJSON *object,
              const char *key, const cJSON **list)
{
    const struct place at = { .up = place, .key = key };

    *list = json_member(object, key);
    if (cJSON_IsArray(*list))
        return cJSON_GetArraySize(*list);
    json_wrong(parser, &at, *list, "a list");
    return -1;
}

bool json_text_member(struct json_parser *parser, const struct place *place, const cJSON *object,
                      const char *key, const char *fallback, const char **text)
{
    const cJSON *item = json_member(object, key);
    const struct place at = { .up = place, .key = key };

    *text = fallback;
    if (!item && fallback)
        return true;
    if (!cJSON_IsString(item))
        return json_wrong(parser, &at, item, "a text");
    return json_to_text(item, &parser->ctx->perm, text) ||
           json_wrong(parser, &at, item, "a text whose only escapes are \\xNN");
}

bool json_int_member(struct json_parser *parser, const struct place *place, const cJSON *object,
                     const char *key, int64_t fallback, int64_t least, int64_t most,
                     int64_t *number)
{
    const cJSON *item = json_member(object, key);
    const struct place at = { .up = place, .key = key };

    *number = fallback;
    if (!item && fallback >= least)
        return true;
    if (item && json_to_int(item, number) && *number >= least && *number <= most)
        return true;
    return json_wrong(parser, &at, item,
                      arena_printf(&parser->ctx->scratch, "a whole number, %lld to %lld",
                                   (long long)least, (long long)most));
}

/* --- values ----------------------------------------------------------------------------------- */

const char *json_name(struct json_parser *parser, const cJSON *object)
{
    const cJSON *item = cJSON_IsObject(object) ? json_member(object, "name") : NULL;
    const char *name;

    return item && json_to_text(item, &parser->ctx->perm, &name) && *name ? name : NULL;
}

bool json_declare(struct json_parser *parser, const struct place *place, const cJSON *object,
                  const char *list, int index)
{
    const struct place at = { .up = place, .key = "name" };
    const char *name = json_name(parser, object);
    struct declaration *known;

    if (!cJSON_IsObject(object))
        return json_wrong(parser, place, object, "an object");
    if (!name)
        return json_wrong(parser, &at, json_member(object, "name"),
                          "a text that is not empty, whose only escapes are \\xNN");
    known = map_get(&parser->section->names, name);
    if (known)
        return json_fail(parser, &at, "found '%s', which is the name of a value of %s[%d] already",
                         str_safe(&parser->ctx->scratch, name, 60), known->list, known->index);
    known = arena_new(&parser->ctx->scratch, struct declaration);
    *known = (struct declaration){ list, index };
    map_set(&parser->section->names, name, known);
    return true;
}
