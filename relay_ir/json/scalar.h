/* scalar.h - scalars of the JSON form, shared by print.c and the parser.
 *
 * Most JSON readers, cJSON included, hold numbers as doubles. So integers of 2^53 and more are
 * written as text, "9223372036854775807"; so are "inf", "-inf", "nan" and bit patterns,
 * "0x7fc00001". Names may hold any bytes: str_safe writes \xNN for what is not plain UTF-8. */
#ifndef RELAY_IR_JSON_SCALAR_H
#define RELAY_IR_JSON_SCALAR_H

#include <cjson/cJSON.h>

#include "relay_ir/attrs.h"

/* New items; never NULL. */
cJSON *json_int(int64_t number);
cJSON *json_real(double number);
cJSON *json_text(const char *text);
cJSON *json_element(enum dtype dtype, const void *data, int64_t i);
cJSON *json_attribute(enum attr_kind kind, const void *at);

/* Appends the item on one line without blanks, and frees it. */
void json_line(struct str *out, cJSON *item);

/* Readers: false if the item has another type. Texts are copied into the arena. */
bool json_to_int(const cJSON *item, int64_t *number);
bool json_to_real(const cJSON *item, double *number);
bool json_to_text(const cJSON *item, struct arena *arena, const char **text);
bool json_to_element(const cJSON *item, enum dtype dtype, void *data, int64_t i);

#endif
