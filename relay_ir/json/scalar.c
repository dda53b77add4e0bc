#include "relay_ir/json/scalar.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/text/words.h"

static const double exact = 9007199254740992.0; /* 2^53: whole numbers below it are doubles */

static cJSON *made(cJSON *item)
{
    if (!item)
        out_of_memory(sizeof *item);
    return item;
}

cJSON *json_text(const char *text)
{
    struct arena arena = { NULL };
    cJSON *item = made(cJSON_CreateString(str_safe(&arena, text, SIZE_MAX)));

    arena_release(&arena);
    return item;
}

/* cJSON prints doubles with 15 digits where it finds that close enough: numbers are made as text.
 */
cJSON *json_int(int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, number);
    if (number > -(int64_t)exact && number < (int64_t)exact)
        return made(cJSON_CreateRaw(text));
    return made(cJSON_CreateString(text));
}

cJSON *json_real(double number)
{
    char text[40];

    snprintf(text, sizeof text, "%.9g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof text, "%.17g", number);
    return made(isfinite(number) ? cJSON_CreateRaw(text) : cJSON_CreateString(text));
}

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
             (dtype_is_float(dtype) || fabs(strtod(digits, NULL)) < exact);
    item = made(number ? cJSON_CreateRaw(str_text(&text)) : cJSON_CreateString(str_text(&text)));
    arena_release(&arena);
    return item;
}

cJSON *json_attribute(enum attr_kind kind, const void *at)
{
    const struct ints *ints = at;
    const struct reals *reals = at;
    cJSON *list;

    switch (kind) {
    case ATTR_BOOL: return made(cJSON_CreateBool(*(const bool *)at));
    case ATTR_DTYPE: return json_text(dtype_name(*(const enum dtype *)at));
    case ATTR_INT: return json_int(*(const int64_t *)at);
    case ATTR_REAL: return json_real(*(const double *)at);
    case ATTR_WORD: return json_text(*(const char *const *)at);
    case ATTR_INTS:
        list = made(cJSON_CreateArray());
        for (int i = 0; i < ints->n; i++)
            cJSON_AddItemToArray(list, json_int(ints->at[i]));
        return list;
    case ATTR_REALS: break;
    }
    list = made(cJSON_CreateArray());
    for (int i = 0; i < reals->n; i++)
        cJSON_AddItemToArray(list, json_real(reals->at[i]));
    return list;
}

void json_line(struct str *out, cJSON *item)
{
    char *text = cJSON_PrintUnformatted(item);

    if (!text)
        out_of_memory(sizeof *item);
    str_add(out, text);
    cJSON_free(text);
    cJSON_Delete(item);
}

static bool is_whole(double number)
{
    return number > -exact && number < exact && number == floor(number);
}

bool json_to_int(const cJSON *item, int64_t *number)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    char *end;

    if (cJSON_IsNumber(item) && is_whole(item->valuedouble)) {
        *number = (int64_t)item->valuedouble;
        return true;
    }
    if (!*text || strspn(text, "-0123456789") != strlen(text))
        return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return !*end && !errno;
}

bool json_to_real(const cJSON *item, double *number)
{
    static const char *const words[] = { "inf", "-inf", "nan", "-nan" };

    if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
        *number = item->valuedouble;
        return true;
    }
    for (int i = 0; cJSON_IsString(item) && i < 4; i++)
        if (strcmp(item->valuestring, words[i]) == 0) {
            *number = strtod(words[i], NULL);
            return true;
        }
    return false;
}

bool json_to_text(const cJSON *item, struct arena *arena, const char **text)
{
    if (!cJSON_IsString(item))
        return false;
    *text = str_unescape(arena, item->valuestring, strlen(item->valuestring));
    return *text != NULL;
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
    if (dtype_is_float(dtype) || dtype_kind(dtype) == KIND_MINIFLOAT || !is_whole(number) ||
        (dtype == DTYPE_U64 && number < 0))
        return false;
    dtype_store_int(dtype, data, i, (int64_t)number);
    return dtype_load_int(dtype, data, i) == (int64_t)number;
}
