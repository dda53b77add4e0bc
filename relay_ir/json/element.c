#include "relay_ir/json/element.h"

#include <math.h>
#include <stdlib.h>

#include "base/json/scalar.h"
#include "relay_ir/text/words.h"

cJSON *json_element(enum dtype dtype, const void *data, int64_t i)
{
    struct arena arena = { NULL };
    struct str text = { .arena = &arena };
    const char *digits;
    bool number;
    cJSON *item;

    print_element(&text, dtype, data, i);
    digits = str_text(&text) + (*str_text(&text) == '-');
    number = *digits >= '0' && *digits <= '9' && digits[1] != 'x' &&
             (dtype_is_float(dtype) || fabs(strtod(digits, NULL)) < JSON_EXACT);
    item =
        json_made(number ? cJSON_CreateRaw(str_text(&text)) : cJSON_CreateString(str_text(&text)));
    arena_release(&arena);
    return item;
}

cJSON *json_attribute(enum attr_kind kind, const void *at)
{
    const struct ints *ints = at;
    const struct reals *reals = at;
    cJSON *list;

    switch (kind) {
    case ATTR_BOOL: return json_made(cJSON_CreateBool(*(const bool *)at));
    case ATTR_DTYPE: return json_text(dtype_name(*(const enum dtype *)at));
    case ATTR_INT: return json_int(*(const int64_t *)at);
    case ATTR_REAL: return json_real(*(const double *)at);
    case ATTR_WORD: return json_text(*(const char *const *)at);
    case ATTR_INTS:
        list = json_made(cJSON_CreateArray());
        for (int i = 0; i < ints->n; i++)
            cJSON_AddItemToArray(list, json_int(ints->at[i]));
        return list;
    case ATTR_REALS: break;
    }
    list = json_made(cJSON_CreateArray());
    for (int i = 0; i < reals->n; i++)
        cJSON_AddItemToArray(list, json_real(reals->at[i]));
    return list;
}

bool json_to_element(const cJSON *item, enum dtype dtype, void *data, int64_t i)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    const double number = cJSON_IsNumber(item) ? item->valuedouble : 0;

    if (*text)
        return element_parse(dtype, &text, data, i) && !*text;
    if (!cJSON_IsNumber(item))
        return false;
    if (dtype_is_float(dtype) && isfinite(number)) {
        dtype_store(dtype, data, i, number);
        return true;
    }
    if (dtype_is_float(dtype) || dtype_kind(dtype) == KIND_MINIFLOAT ||
        dtype_kind(dtype) == KIND_EXPONENT || !json_is_whole(number) ||
        (dtype == DTYPE_U64 && number < 0))
        return false;
    dtype_store_int(dtype, data, i, (int64_t)number);
    return dtype_load_int(dtype, data, i) == (int64_t)number;
}
