/* read.h - typed access to members of JSON objects; errors carry the position.
 *
 * The object may be NULL, and a missing member is no error: the default in the comment is returned.
 * Texts are copied into ctx->perm. Every error sets json->failed. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdint.h>

#include "base/json/place.h"

/* Reports an error at the item's value, or key. Returns false. */
bool json_error(struct json_file *json, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool json_key_error(struct json_file *json, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "did you mean 'NEAREST'?" to the last error, or the list of known words if none is near. */
void json_help_nearest(struct ctx *ctx, const char *word, const char *const *known, size_t n);

/* True if the item is an object; reports members whose key is not in known[n]. */
bool json_members(struct json_file *json, const cJSON *item, const char *const *known, size_t n);

const char *json_get_text(struct json_file *json, const cJSON *object, const char *key); /* NULL */
bool json_get_bool(struct json_file *json, const cJSON *object, const char *key);        /* false */
int64_t json_get_limit(struct json_file *json, const cJSON *object,
                       const char *key);                                            /* 0 .. 2^53 */
double json_get_rate(struct json_file *json, const cJSON *object, const char *key); /* 0 or more */

/* The list, or object, under the key; NULL if it is missing or has another type. */
const cJSON *json_get_list(struct json_file *json, const cJSON *object, const char *key);
const cJSON *json_get_object(struct json_file *json, const cJSON *object, const char *key);

/* Value of an item itself, such as a list element. */
const char *json_item_text(struct json_file *json, const cJSON *item); /* NULL */
double json_item_rate(struct json_file *json, const cJSON *item);

const cJSON *json_get(const cJSON *object, const char *key); /* NULL */

/* "a list", "true" ...: for messages. */
const char *json_kind(const cJSON *item);

/* Index of the key in known[n]; n if it is unknown. */
size_t json_find_key(const char *key, const char *const *known, size_t n);

#endif
