#include "base/json/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/read.h"
#include "base/json/scalar.h"
#include "base/str.h"

static void print_path(struct str *out, const struct json_path *place)
{
    if (place->up)
        print_path(out, place->up);
    if (place->key)
        str_printf(out, "%s%s", out->n ? "." : "", str_safe(out->arena, place->key, 60));
    else if (place->up)
        str_printf(out, "[%d]", place->index);
}

static const char *path_text(struct json_errors *errors, const struct json_path *place)
{
    struct str out = { .arena = &errors->ctx->perm };

    print_path(&out, place);
    return *str_text(&out) ? str_text(&out) : "the file";
}

bool json_fail(struct json_errors *errors, const struct json_path *place, const char *format, ...)
{
    struct str message = { .arena = &errors->ctx->scratch };
    va_list args;

    if (json_too_many_errors(errors))
        return false;
    va_start(args, format);
    str_vprintf(&message, format, args);
    va_end(args);
    return diag_error(errors->ctx, errors->code, NULL, "%s: %s", path_text(errors, place),
                      str_text(&message));
}

void json_note(struct json_errors *errors, const struct json_path *place)
{
    diag_note(errors->ctx, "in %s of the JSON graph", path_text(errors, place));
}

static const char *found_text(struct json_errors *errors, const cJSON *item)
{
    struct arena *arena = &errors->ctx->scratch;

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
    return json_kind(item);
}

bool json_wrong(struct json_errors *errors, const struct json_path *place, const cJSON *item,
                const char *wanted)
{
    return json_fail(errors, place, "found %s, wanted %s", found_text(errors, item), wanted);
}

bool json_too_many_errors(const struct json_errors *errors)
{
    return errors->ctx->diags.n_errors - errors->n_before >= JSON_MAX_ERRORS;
}

bool json_object(struct json_errors *errors, const struct json_path *place, const cJSON *item,
                 const char *const *keys)
{
    uint64_t seen = 0;
    const cJSON *member;
    size_t n = 0;
    bool ok = true;

    if (!cJSON_IsObject(item))
        return json_wrong(errors, place, item, "an object");
    while (keys[n])
        n++;
    cJSON_ArrayForEach(member, item)
    {
        const size_t i = json_find_key(member->string, keys, n);
        const struct json_path at = { .up = place, .key = member->string };
        const char *near;

        if (i == n) {
            near = str_nearest(member->string, keys, n);
            ok = json_fail(errors, &at, "there is no such key");
            if (near)
                diag_help(errors->ctx, "did you mean \"%s\"?", near);
        } else if (seen >> i & 1) {
            ok = json_fail(errors, &at, "the key is given twice");
        } else {
            seen |= (uint64_t)1 << i;
        }
        if (json_too_many_errors(errors))
            return false;
    }
    return ok;
}

int json_list(struct json_errors *errors, const struct json_path *place, const cJSON *object,
              const char *key, const cJSON **list)
{
    const struct json_path at = { .up = place, .key = key };

    *list = json_get(object, key);
    if (cJSON_IsArray(*list))
        return cJSON_GetArraySize(*list);
    json_wrong(errors, &at, *list, "a list");
    return -1;
}

bool json_text_member(struct json_errors *errors, const struct json_path *place,
                      const cJSON *object, const char *key, const char *fallback, const char **text)
{
    const cJSON *item = json_get(object, key);
    const struct json_path at = { .up = place, .key = key };

    *text = fallback;
    if (!item && fallback)
        return true;
    if (!cJSON_IsString(item))
        return json_wrong(errors, &at, item, "a text");
    return json_to_text(item, &errors->ctx->perm, text) ||
           json_wrong(errors, &at, item, "a text whose only escapes are \\xNN");
}

bool json_int_member(struct json_errors *errors, const struct json_path *place, const cJSON *object,
                     const char *key, int64_t fallback, int64_t least, int64_t most,
                     int64_t *number)
{
    const cJSON *item = json_get(object, key);
    const struct json_path at = { .up = place, .key = key };

    *number = fallback;
    if (!item && fallback >= least)
        return true;
    if (item && json_to_int(item, number) && *number >= least && *number <= most)
        return true;
    return json_wrong(errors, &at, item,
                      arena_printf(&errors->ctx->scratch, "a whole number, %lld to %lld",
                                   (long long)least, (long long)most));
}
