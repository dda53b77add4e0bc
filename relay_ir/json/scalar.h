/* scalar.h - the small values of the JSON form that print.c and the parser must agree on.
 *
 * JSON numbers are doubles for most readers, cJSON included. So integers of 2^53 and more are
 * written as text, "9223372036854775807", and so are "inf", "-inf", "nan" and bit patterns,
 * "0x7fc00001". Names may be any bytes: they are written as str_safe does, \xNN for what is not
 * plain UTF-8. */
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

/* Frees the item after appending it, on one line without blanks. */
void json_line(struct str *out, cJSON *item);

/* Reading: false when the item is something else. Texts are copied into the arena. */
bool json_to_int(const cJSON *item, int64_t *number);
bool json_to_real(const cJSON *item, double *number);
bool json_to_text(const cJSON *item, struct arena *arena, const char **text);
bool json_to_element(const cJSON *item, enum dtype dtype, void *data, int64_t i);

#endif
