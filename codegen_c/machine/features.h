/* features.h - features of a region's code from which its time can be predicted (features.def), as
 * far as its kernel reports them. Tuning logs record them; bench/fit_costs.py fits a model to these
 * and reports how well it would choose. */
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
    double of[FEATURE_COUNT]; /* all 0: unknown */
};

/* Adds a member "features", if they are known. */
void features_add_json(const struct features *features, struct cJSON *json);

#endif
