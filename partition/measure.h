/* measure.h - what a sequence of chosen candidates would be as a region: operators, bytes, memory,
 * time. Grown one candidate at a time, so that the cost step can ask for every piece of a region
 * that begins at a candidate for little more than the price of the longest. */
#ifndef PARTITION_MEASURE_H
#define PARTITION_MEASURE_H

#include "partition/partition.h"

struct measure {
    struct partition *partition;
    struct region_plan plan; /* of the candidates so far; candidates and n are the caller's */
    int stamp; /* of this sequence: what it has not marked belongs to an earlier one */
    int n;
    int *inside;    /* by node id: stamp when the node is in the sequence */
    int *place;     /* by node id: of the candidate, in the sequence */
    int *seen;      /* by value id: stamp when it is counted as input or as weight */
    int *left;      /* by value id, of those computed inside: reads that are still outside */
    int64_t *alive; /* by place: bytes of the values in between that live there */
    int64_t peak;   /* the most of these */
};

/* main must be numbered. */
struct measure measure_new(struct partition *partition, struct arena *arena);

/* A new sequence for regions of the target. */
void measure_begin(struct measure *measure, const struct target *target);

/* Candidates come in topological order: what reads a value is added behind what computes it. */
void measure_add(struct measure *measure, const struct candidate *candidate);

/* Fills the numbers of a region from its candidates, whose target is theirs. */
void measure_region(struct measure *measure, struct region_plan *region);

/* Estimates of the host's time, given where the others went: of a node and of a candidate. What the
 * host takes into the loop of another node is free there, but not when that node is on a target. Of
 * the network: as chosen, with its regions; all on the host. */
double measure_node_ns(const struct partition *partition, const struct node *node);
double measure_candidate_ns(const struct partition *partition, const struct candidate *candidate);
double measure_chosen_ns(const struct partition *partition);
double measure_host_only_ns(const struct partition *partition);

/* Which limit the sequence is beyond, in words ("max_nodes: 4 nodes, 3 allowed") and by name
 * (*limit), NULL = none. */
const char *measure_beyond(const struct measure *measure, struct arena *arena, const char **limit);
bool measure_fits(const struct measure *measure);

/* Whether all sequences that go on from this one are beyond a limit as well. */
bool measure_hopeless(const struct measure *measure);

#endif
