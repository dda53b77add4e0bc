/* features.c - see features.h. */
#include "codegen_c/machine/features.h"

#include <cjson/cJSON.h>

static const char *const names[] = {
#define FEATURE(symbol, name, what) name,
#include "codegen_c/machine/features.def"
#undef FEATURE
};

void features_add_json(const struct features *features, cJSON *json)
{
    cJSON *list = NULL;

    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (features->of[i] > 0 && !list)
            list = cJSON_AddObjectToObject(json, "features");
        if (features->of[i] > 0)
            cJSON_AddNumberToObject(list, names[i], features->of[i]);
    }
}
