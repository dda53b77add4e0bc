/* features.h - what the time of a region's code is made of (features.def), as far as its kernel
 * says: told in tuning logs, to which bench/fit_costs.py fits a model of time and says how well it
 * would choose. */
#ifndef CODEGEN_C_MACHINE_FEATURES_H
#define CODEGEN_C_MACHINE_FEATURES_H

struct cJSON;

enum feature {
#define FEATURE(symbol, name, what) FEATURE_##symbol,
#include "codegen_c/machine/features.def"
#undef FEATURE
    FEATURE_COUNT
};

struct features {
    double of[FEATURE_COUNT]; /* all 0: not known */
};

/* As a member "features", if they are known. */
void features_add_json(const struct features *features, struct cJSON *json);

#endif
