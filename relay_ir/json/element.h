/* element.h - elements of constants and attributes in the JSON form. Bit patterns are text,
 * "0x7fc00001". */
#ifndef RELAY_IR_JSON_ELEMENT_H
#define RELAY_IR_JSON_ELEMENT_H

#include <cjson/cJSON.h>

#include "relay_ir/attrs.h"

/* New items; never NULL. */
cJSON *json_element(enum dtype dtype, const void *data, int64_t i);
cJSON *json_attribute(enum attr_kind kind, const void *at);

/* False if the item has another type. */
bool json_to_element(const cJSON *item, enum dtype dtype, void *data, int64_t i);

#endif
