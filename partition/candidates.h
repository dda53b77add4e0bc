/* candidates.h - finds matches of a backend's rows: for merge_composite, and for annotate_target,
 * which searches again what other backends have left. */
#ifndef PARTITION_CANDIDATES_H
#define PARTITION_CANDIDATES_H

#include "partition/partition.h"

struct candidate_search {
    struct partition *partition;
    const struct target *target;
    bool *blocked; /* by node id: excluded from the search; matched nodes are added */
    int n_roots;
    struct node *const *roots; /* from the end of the graph */
    bool record;               /* record failed attempts */
};

/* Adds the matches of the backend's rows at the roots, except known ones (same row and nodes). The
 * first row wins; within a row the match with the last root wins, which is the longest chain. */
void candidates_find(const struct candidate_search *search);

#endif
