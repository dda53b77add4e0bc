/* features.c - see features.h. */
#include "codegen_c/features.h"

static const char *const names[] = {
#define FEATURE(symbol, name, what) name,
#include "codegen_c/features.def"
#undef FEATURE
};

const char *feature_name(enum feature feature)
{
    return names[feature];
}
