/* readers.h - the files of a folder of data, in memory. */
#ifndef BENCH_ACCURACY_READERS_H
#define BENCH_ACCURACY_READERS_H

#include "bench/accuracy/networks.h"
#include "relay_ir/type.h"

/* What a folder holds. Samples are read one by one. */
struct collection {
    enum data_kind kind;
    const char *folder, *preprocess;
    int n;
    const char **paths; /* [n]; DIGITS and WINDOWS: NULL, all is in */
    const void *bytes;  /* DIGITS: [n][28][28] bytes; WINDOWS: frames of 128 f32 */
    int *labels;        /* [n]; -1 = none */
};

/* Everything lives in ctx->perm and bulk. A folder without labels has images only. */
bool collection_open(struct ctx *ctx, const char *folder, const struct network *network,
                     bool labelled, struct bulk *bulk, struct collection *out);

/* Sample number `index`, of the network's input type. By several threads at once, each with its own
 * ctx. */
bool collection_read(const struct collection *collection, struct ctx *ctx, int index,
                     const struct type *type, float *out);

#endif
