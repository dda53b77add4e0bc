/* split.h - cuts regions that are beyond a limit of their target. */
#ifndef PARTITION_SPLIT_H
#define PARTITION_SPLIT_H

#include "partition/measure.h"

/* One region that became n. */
struct split {
    const struct target *target;
    const char *why; /* the limit that it was beyond */
    int n_nodes, n;
    const struct candidate *first;
    const struct candidate **last_before; /* [n - 1] in front of each cut */
};

struct splits {
    int n;
    struct split *at;
};

/* Replaces regions that are beyond a limit by pieces that are not; *out says which. No candidate
 * may be beyond one alone. */
void split_regions(struct partition *partition, struct measure *measure, struct splits *out);

#endif
