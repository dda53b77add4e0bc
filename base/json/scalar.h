/* scalar.h - scalars of JSON files that relayc writes and reads back.
 *
 * Most JSON readers, cJSON included, hold numbers as doubles. So integers of 2^53 and more are
 * written as text, "9223372036854775807"; so are "inf", "-inf" and "nan". Names may hold any bytes:
 * str_safe writes \xNN for what is not plain UTF-8. */
#ifndef BASE_JSON_SCALAR_H
#define BASE_JSON_SCALAR_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "base/str.h"

#define JSON_EXACT 9007199254740992.0 /* 2^53: whole numbers below it are doubles */

/* The item, which is not NULL; else memory has run out. */
cJSON *json_made(cJSON *item);

/* New items; never NULL. */
cJSON *json_int(int64_t number);
cJSON *json_real(double number);
cJSON *json_text(const char *text);

/* Appends the item on one line without blanks, and frees it. */
void json_line(struct str *out, cJSON *item);

bool json_is_whole(double number);

/* Readers: false if the item has another type. Texts are copied into the arena. */
bool json_to_int(const cJSON *item, int64_t *number);
bool json_to_real(const cJSON *item, double *number);
bool json_to_text(const cJSON *item, struct arena *arena, const char **text);

#endif
