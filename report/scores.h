/* scores.h - accuracy, as relayc eval --json reports it. */
#ifndef REPORT_SCORES_H
#define REPORT_SCORES_H

#include "base/ctx.h"

struct score {
    const char *name;  /* "top1"; NULL if the file lacks it */
    double value, f32; /* NaN = unknown */
};

struct scores {
    int n;
    struct score *at;
    double samples;
};

/* False after an error. */
bool scores_read(struct ctx *ctx, const char *path, struct scores *out);

#endif
