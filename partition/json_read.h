/* json_read.h - members of JSON objects by key, with the right type or an error at their place.
 *
 * Each function takes what the object (NULL = none) says under the key; a missing member is no
 * error. Texts are copied into ctx->perm. json->failed is set by every error. */
#ifndef PARTITION_JSON_READ_H
#define PARTITION_JSON_READ_H

#include <stdint.h>

#include "partition/json_place.h"

/* An error at the value (at the key) of the item; false. */
bool json_error(struct json_file *json, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool json_key_error(struct json_file *json, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "did you mean 'NEAREST'?" to the error just given, or all that there are when none is near.
 */
void json_help_nearest(struct ctx *ctx, const char *word, const char *const *known, size_t n);

/* Whether the item is an object; each member whose key is none of n is an error. */
bool json_members(struct json_file *json, const cJSON *item, const char *const *known, size_t n);

const char *json_get_text(struct json_file *json, const cJSON *object, const char *key); /* NULL */
bool json_get_bool(struct json_file *json, const cJSON *object, const char *key);        /* false */
int64_t json_get_limit(struct json_file *json, const cJSON *object,
                       const char *key);                                            /* 0 .. 2^53 */
double json_get_rate(struct json_file *json, const cJSON *object, const char *key); /* 0 or more */

/* The list, the object under the key; NULL when there is none or it is something else. */
const cJSON *json_get_list(struct json_file *json, const cJSON *object, const char *key);
const cJSON *json_get_object(struct json_file *json, const cJSON *object, const char *key);

/* Of an item itself, such as an element of a list. */
const char *json_item_text(struct json_file *json, const cJSON *item); /* NULL */
double json_item_rate(struct json_file *json, const cJSON *item);

const cJSON *json_get(const cJSON *object, const char *key);

#endif
