/* json_place.h - a JSON text read by cJSON, and where its items stand, which cJSON does not keep.
 *
 *   struct json_file json;
 *
 *   if (json_open(ctx, "target.json", text, &json))
 *       ... json.root, source_error(ctx, &(struct source[]){ json_source(&json, item) }[0], ...)
 *   json_close(&json); */
#ifndef PARTITION_JSON_PLACE_H
#define PARTITION_JSON_PLACE_H

#include <cjson/cJSON.h>

#include "partition/source.h"

/* Lines and columns from 1, in bytes; offsets into the text. */
struct json_place {
    const cJSON *item;
    int line, column; /* of the value; of a string: of the first character behind the quote */
    int key_line, key_column;
    size_t offset;
};

struct json_file {
    struct ctx *ctx;
    const char *name, *text; /* borrowed; places point into the text */
    cJSON *root;             /* NULL after a syntax error */
    int n_places;
    struct json_place *places; /* by address of the item, in ctx->perm */
    bool failed;               /* an error was reported */
};

/* Reads the text. False after errors (TARGET_FILE): bad syntax, nesting beyond cJSON's limit of
 * 1000, strings with control characters, an object with the same key twice. The file must be closed
 * in any case. */
bool json_open(struct ctx *ctx, const char *name, const char *text, struct json_file *out);
void json_close(struct json_file *json);

/* Where the value stands, where its key; an item without a key has the place of the value. */
struct source json_source(const struct json_file *json, const cJSON *item);
struct source json_key_source(const struct json_file *json, const cJSON *item);

#endif
