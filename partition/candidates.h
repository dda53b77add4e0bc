/* candidates.h - finding matches of a target's rows: for merge_composite, and for annotate_target,
 * which looks again at what other targets have left. */
#ifndef PARTITION_CANDIDATES_H
#define PARTITION_CANDIDATES_H

#include "partition/partition.h"

struct candidate_search {
    struct partition *partition;
    const struct target *target;
    bool *blocked; /* by node id: not for this search; what it finds is blocked as well */
    int n_roots;
    struct node *const *roots; /* from the end of the graph */
    bool record;               /* the attempts that fail */
};

/* Adds the candidates that the target's rows match at the roots; those that are known already (the
 * same row and nodes) are passed over. The row that stands first wins, and of one row's matches the
 * one whose root comes last, so that the longest chain wins. */
void candidates_find(const struct candidate_search *search);

#endif
