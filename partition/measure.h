/* measure.h - size and cost of a sequence of chosen candidates as one region: operators, bytes,
 * memory, time. It grows by one candidate at a time, so that all prefixes cost little more than the
 * longest. */
#ifndef PARTITION_MEASURE_H
#define PARTITION_MEASURE_H

#include "partition/partition.h"

struct measure {
    struct partition *partition;
    struct region_plan plan; /* totals so far; candidates and n belong to the caller */
    int stamp;               /* id of this sequence; older marks are stale */
    int n;
    int *inside;    /* by node id: stamp when the node is in the sequence */
    int *place;     /* by node id: position of its candidate in the sequence */
    int *seen;      /* by value id: stamp if counted as input or weight */
    int *left;      /* by value id, computed inside: reads not yet in the sequence */
    int64_t *alive; /* by position: bytes of internal values that are live there */
    int64_t peak;   /* maximum of alive */
};

/* main must be numbered. */
struct measure measure_new(struct partition *partition, struct arena *arena);

/* Starts a sequence for a region of the backend. */
void measure_begin(struct measure *measure, const struct target *target);

/* Adds a candidate; call in topological order. */
void measure_add(struct measure *measure, const struct candidate *candidate);

/* Fills the totals of a region from its candidates. */
void measure_region(struct measure *measure, struct region_plan *region);

/* Estimated host time given the present assignment, of a node and a candidate. A node fused into
 * another's loop is free, unless that one is on a backend. For the network: as chosen, with its
 * regions; and all on the host. */
double measure_node_ns(const struct partition *partition, const struct node *node);
double measure_candidate_ns(const struct partition *partition, const struct candidate *candidate);
double measure_chosen_ns(const struct partition *partition);
double measure_host_only_ns(const struct partition *partition);

/* Limit that the sequence exceeds, as text ("max_nodes: 4 nodes, 3 allowed") and by name in *limit;
 * NULL = none. */
const char *measure_beyond(const struct measure *measure, struct arena *arena, const char **limit);
bool measure_fits(const struct measure *measure);

/* True if every extension of the sequence exceeds a limit too. */
bool measure_hopeless(const struct measure *measure);

#endif
