/* stack_usage.h - the worst case of a function's stack, from what gcc writes beside its objects:
 * -fcallgraph-info=su makes NAME.ci, a graph in the language of VCG with the frame of each
 * function.
 *
 * A frame is known where gcc says "static"; "dynamic,bounded" is an upper bound, to which 16 bytes
 * are added (arguments that are pushed are aligned). Functions that none of the files defines
 * (expf, memset) are beyond our knowledge and are listed. Calls through pointers are taken to go to
 * any function that nothing else calls. */
#ifndef MEASURE_STACK_USAGE_H
#define MEASURE_STACK_USAGE_H

#include "base/ctx.h"

struct stack_usage {
    size_t bytes;       /* the deepest chain of calls, the entry's frame included */
    const char *chain;  /* that chain: "kws_run > region_conv1 > tile" */
    const char *beyond; /* "expf, memset": sorted, each once; "" = none */
};

/* Of the function `entry` with external linkage, which one of n files defines. False after a
 * NO_STACK error: a file cannot be read, the entry is missing, a frame has no bound, or functions
 * call themselves. */
bool stack_usage_read(struct ctx *ctx, const char *const *files, int n, const char *entry,
                      struct stack_usage *out);

#endif
