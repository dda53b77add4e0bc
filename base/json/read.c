#include "base/json/read.h"

#include <math.h>
#include <string.h>

#include "base/json/scalar.h"
#include "base/str.h"

const char *json_kind(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "text";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? "true" : "false";
    if (cJSON_IsArray(item))
        return "a list";
    return cJSON_IsObject(item) ? "an object" : "null";
}

size_t json_find_key(const char *key, const char *const *known, size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(key, known[i]) != 0)
        i++;
    return i;
}

bool json_error(struct json_file *json, const cJSON *item, const char *format, ...)
{
    struct source source = json_source(json, item);
    va_list args;

    source.column -= cJSON_IsString(item); /* the quote */
    va_start(args, format);
    source_error(json->ctx, &source, 0, "%s", arena_vprintf(&json->ctx->perm, format, args));
    va_end(args);
    json->failed = true;
    return false;
}

bool json_key_error(struct json_file *json, const cJSON *item, const char *format, ...)
{
    const struct source source = json_key_source(json, item);
    va_list args;

    va_start(args, format);
    source_error(json->ctx, &source, 0, "%s", arena_vprintf(&json->ctx->perm, format, args));
    va_end(args);
    json->failed = true;
    return false;
}

void json_help_nearest(struct ctx *ctx, const char *word, const char *const *known, size_t n)
{
    /* everything is near a very short word, and str_nearest does not measure long ones */
    const bool fits = strlen(word) > 2 && strlen(word) <= 64;
    const char *nearest = fits ? str_nearest(word, known, n) : NULL;
    struct str all = { .arena = &ctx->perm };

    if (nearest) {
        diag_help(ctx, "did you mean '%s'?", nearest);
        return;
    }
    for (size_t i = 0; i < n; i++)
        str_printf(&all, "%s%s", i ? ", " : "", known[i]);
    if (n > 0)
        diag_help(ctx, "there are %s", str_text(&all));
}

static bool wrong_kind(struct json_file *json, const cJSON *item, const char *wanted)
{
    if (item->string)
        return json_error(json, item, "'%s' is %s, expected %s",
                          str_safe(&json->ctx->perm, item->string, 64), json_kind(item), wanted);
    return json_error(json, item, "found %s, expected %s", json_kind(item), wanted);
}

bool json_members(struct json_file *json, const cJSON *item, const char *const *known, size_t n)
{
    if (!cJSON_IsObject(item))
        return wrong_kind(json, item, "an object");
    for (const cJSON *member = item->child; member; member = member->next) {
        if (json_find_key(member->string, known, n) < n)
            continue;
        json_key_error(json, member, "unknown key '%s'",
                       str_safe(&json->ctx->perm, member->string, 64));
        json_help_nearest(json->ctx, member->string, known, n);
    }
    return true;
}

const cJSON *json_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *json_item_text(struct json_file *json, const cJSON *item)
{
    if (!cJSON_IsString(item)) {
        wrong_kind(json, item, "text");
        return NULL;
    }
    return arena_strdup(&json->ctx->perm, item->valuestring);
}

const char *json_get_text(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    return item ? json_item_text(json, item) : NULL;
}

bool json_get_bool(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    if (item && !cJSON_IsBool(item))
        return wrong_kind(json, item, "true or false");
    return cJSON_IsTrue(item);
}

int64_t json_get_limit(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    if (!item)
        return 0;
    if (!cJSON_IsNumber(item))
        return wrong_kind(json, item, "a whole number");
    if (!(item->valuedouble >= 0 && item->valuedouble <= JSON_EXACT) ||
        floor(item->valuedouble) != item->valuedouble)
        return json_error(json, item, "'%s' is %g, expected a whole number from 0 to 2^53", key,
                          item->valuedouble);
    return (int64_t)item->valuedouble;
}

double json_item_rate(struct json_file *json, const cJSON *item)
{
    if (!cJSON_IsNumber(item)) {
        wrong_kind(json, item, "a number");
        return 0;
    }
    if (!isfinite(item->valuedouble) || item->valuedouble < 0) {
        json_error(json, item, "'%s' is %g, expected nanoseconds, 0 or more",
                   item->string ? str_safe(&json->ctx->perm, item->string, 64) : "this",
                   item->valuedouble);
        return 0;
    }
    return item->valuedouble;
}

double json_get_rate(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    return item ? json_item_rate(json, item) : 0;
}

const cJSON *json_get_list(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    if (!item || cJSON_IsArray(item))
        return item;
    wrong_kind(json, item, "a list");
    return NULL;
}

const cJSON *json_get_object(struct json_file *json, const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    if (!item || cJSON_IsObject(item))
        return item;
    wrong_kind(json, item, "an object");
    return NULL;
}
