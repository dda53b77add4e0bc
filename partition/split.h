/* split.h - splits regions that exceed a limit of their backend. */
#ifndef PARTITION_SPLIT_H
#define PARTITION_SPLIT_H

#include "partition/measure.h"

/* A region split into n pieces. */
struct split {
    const struct target *target;
    const char *why; /* the exceeded limit */
    int n_nodes, n;
    const struct candidate *first;
    const struct candidate **last_before; /* [n - 1] last candidate before each cut */
};

struct splits {
    int n;
    struct split *at;
};

/* Splits regions that exceed a limit into pieces that do not; *out lists the splits. Every single
 * candidate must be within the limits. */
void split_regions(struct partition *partition, struct measure *measure, struct splits *out);

#endif
