#include "report/read.h"

#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

bool read_error(struct reader *reader, const char *format, ...)
{
    va_list args;

    if (!reader->failed) {
        va_start(args, format);
        diag_error(reader->ctx, DIAG_REPORT_FILE, NULL, "%s: %s", reader->path,
                   arena_vprintf(&reader->ctx->perm, format, args));
        va_end(args);
    }
    reader->failed = true;
    return false;
}

cJSON *read_json_text(struct reader *reader, const char *text)
{
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithOpts(text, &end, true);

    if (!root)
        read_error(reader, "the file is no JSON: it goes wrong at byte %zu",
                   end ? (size_t)(end - text) : 0);
    return root;
}

cJSON *read_json(struct reader *reader)
{
    struct mapping file;
    const char *text;

    if (!file_map(reader->ctx, reader->path, &file)) {
        reader->failed = true;
        return NULL;
    }
    text = arena_strndup(&reader->ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return read_json_text(reader, text);
}

/* Texts of relayc are escaped; a file may come from elsewhere. */
static const char *harmless(struct arena *arena, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return str_safe(arena, text, 4096);
    return arena_strdup(arena, text);
}

static const cJSON *member(struct reader *reader, const cJSON *object, const char *key,
                           cJSON_bool (*is_kind)(const cJSON *), const char *kind)
{
    const cJSON *item = object ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;

    if (!item || cJSON_IsNull(item))
        return NULL;
    if (is_kind(item))
        return item;
    read_error(reader, "\"%s\" is not %s", key, kind);
    return NULL;
}

const char *read_text(struct reader *reader, const cJSON *object, const char *key)
{
    const cJSON *item = member(reader, object, key, cJSON_IsString, "a text");

    return item ? harmless(&reader->ctx->perm, item->valuestring) : NULL;
}

const char *read_item(struct reader *reader, const cJSON *item)
{
    return cJSON_IsString(item) ? harmless(&reader->ctx->perm, item->valuestring) : NULL;
}

double read_number(struct reader *reader, const cJSON *object, const char *key, double missing)
{
    const cJSON *item = member(reader, object, key, cJSON_IsNumber, "a number");

    return item ? item->valuedouble : missing;
}

bool read_bool(struct reader *reader, const cJSON *object, const char *key)
{
    return cJSON_IsTrue(member(reader, object, key, cJSON_IsBool, "true or false"));
}

const cJSON *read_list(struct reader *reader, const cJSON *object, const char *key)
{
    return member(reader, object, key, cJSON_IsArray, "a list");
}

const cJSON *read_object(struct reader *reader, const cJSON *object, const char *key)
{
    return member(reader, object, key, cJSON_IsObject, "an object");
}

bool read_schema(struct reader *reader, const cJSON *root, const char *prefix, const char *command)
{
    const char *schema = root ? read_text(reader, root, "schema") : NULL;

    return !reader->failed && ((schema && str_starts(schema, prefix)) ||
                               read_error(reader, "it is no report of %s", command));
}
