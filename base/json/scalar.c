#include "base/json/scalar.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *json_made(cJSON *item)
{
    if (!item)
        out_of_memory(sizeof *item);
    return item;
}

cJSON *json_text(const char *text)
{
    struct arena arena = { NULL };
    cJSON *item = json_made(cJSON_CreateString(str_safe(&arena, text, SIZE_MAX)));

    arena_release(&arena);
    return item;
}

/* cJSON prints doubles with 15 digits where it finds that close enough: numbers are made as text.
 */
cJSON *json_int(int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, number);
    if (number > -(int64_t)JSON_EXACT && number < (int64_t)JSON_EXACT)
        return json_made(cJSON_CreateRaw(text));
    return json_made(cJSON_CreateString(text));
}

cJSON *json_real(double number)
{
    char text[40];

    snprintf(text, sizeof text, "%.9g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof text, "%.17g", number);
    return json_made(isfinite(number) ? cJSON_CreateRaw(text) : cJSON_CreateString(text));
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

bool json_is_whole(double number)
{
    return number > -JSON_EXACT && number < JSON_EXACT && number == floor(number);
}

bool json_to_int(const cJSON *item, int64_t *number)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    char *end;

    if (cJSON_IsNumber(item) && json_is_whole(item->valuedouble)) {
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
