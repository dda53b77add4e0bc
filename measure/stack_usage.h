/* stack_usage.h - worst-case stack of a function, from gcc's -fcallgraph-info=su: NAME.ci is a VCG
 * call graph with frame sizes.
 *
 * A frame is known where gcc says "static"; "dynamic,bounded" is an upper bound, to which 16 bytes
 * are added (arguments that are pushed are aligned). Functions defined in none of the files (expf,
 * memset) are listed, not counted. Calls through pointers may reach any function without another
 * caller. */
#ifndef MEASURE_STACK_USAGE_H
#define MEASURE_STACK_USAGE_H

#include "base/ctx.h"

struct stack_usage {
    size_t bytes;       /* the deepest call chain, with the entry's frame */
    const char *chain;  /* that chain: "kws_run > region_conv1 > tile" */
    const char *beyond; /* "expf, memset": sorted, each once; "" = none */
};

/* Stack of the external function `entry`, defined in one of n files; each frame gets `realignment`
 * bytes more than gcc states. False after a NO_STACK error:
 * unreadable file, missing entry, unbounded frame, or recursion. */
bool stack_usage_read(struct ctx *ctx, const char *const *files, int n, const char *entry,
                      size_t realignment, struct stack_usage *out);

#endif
