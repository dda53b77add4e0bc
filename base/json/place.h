/* place.h - JSON parsed by cJSON, with the line and column of every item.
 *
 *   struct json_file json;
 *
 *   if (json_open(ctx, "target.json", text, &json))
 *       ... json.root, source_error(ctx, &(struct source[]){ json_source(&json, item) }[0], ...)
 *   json_close(&json); */
#ifndef BASE_JSON_PLACE_H
#define BASE_JSON_PLACE_H

#include <cjson/cJSON.h>

#include "base/json/source.h"

/* Lines and columns from 1, in bytes; offsets into the text. */
struct json_place {
    const cJSON *item;
    int line, column; /* of the value; for strings, of the first character after the quote */
    int key_line, key_column;
    size_t offset;
};

struct json_file {
    struct ctx *ctx;
    const char *name, *text; /* borrowed; offsets refer to it */
    cJSON *root;             /* NULL after a syntax error */
    int n_places;
    struct json_place *places; /* sorted by address of the item, in ctx->perm */
    bool failed;               /* an error was reported */
};

/* Parses the text. False after errors (TARGET_FILE): bad syntax, nesting beyond cJSON's limit of
 * 1000, control characters in strings, duplicate keys. Call json_close in any case. */
bool json_open(struct ctx *ctx, const char *name, const char *text, struct json_file *out);
void json_close(struct json_file *json);

/* Position of the value, and of its key; without a key, of the value. */
struct source json_source(const struct json_file *json, const cJSON *item);
struct source json_key_source(const struct json_file *json, const cJSON *item);

#endif
