/* tried.h - what searches have tried: trajectories and Pareto fronts. */
#ifndef REPORT_TRIED_H
#define REPORT_TRIED_H

#include "base/ctx.h"

/* A network that was tried. */
struct tried {
    const char *what;           /* what was changed, or the recipe */
    const char *state;          /* "trial", "front", "dropped", "recommended" */
    double loss, cosine, value; /* value: of the metric; NaN = unknown */
    double flash, ram, seconds; /* NaN = unknown */
};

struct tried_list {
    const char *from;   /* file; NULL = none was given */
    const char *metric; /* what `value` is; NULL = unknown */
    int n, room;
    struct tried *at;
};

/* Adds what the file has: the .jsonl of relayc search (trials, in the order in which they were made),
 * relayc search --json (the front), relayc quantize --json (recipes). False after an error. */
bool tried_read(struct ctx *ctx, const char *path, struct tried_list *trials,
                struct tried_list *points);

#endif
