#include <string.h>

#include "base/json/scalar.h"
#include "base/str.h"
#include "relay_ir/json/parser.h"

const char *json_name(struct json_parser *parser, const cJSON *object)
{
    const cJSON *item = cJSON_IsObject(object) ? json_get(object, "name") : NULL;
    const char *name;

    return item && json_to_text(item, &parser->ctx->perm, &name) && *name ? name : NULL;
}

bool json_declare(struct json_parser *parser, const struct json_path *place, const cJSON *object,
                  const char *list, int index)
{
    const struct json_path at = { .up = place, .key = "name" };
    const char *name = json_name(parser, object);
    struct declaration *known;

    if (!cJSON_IsObject(object))
        return json_wrong(&parser->errors, place, object, "an object");
    if (!name)
        return json_wrong(&parser->errors, &at, json_get(object, "name"),
                          "a text that is not empty, whose only escapes are \\xNN");
    known = map_get(&parser->section->names, name);
    if (known)
        return json_fail(&parser->errors, &at,
                         "found '%s', which is the name of a value of %s[%d] already",
                         str_safe(&parser->ctx->scratch, name, 60), known->list, known->index);
    known = arena_new(&parser->ctx->scratch, struct declaration);
    *known = (struct declaration){ list, index };
    map_set(&parser->section->names, name, known);
    return true;
}
