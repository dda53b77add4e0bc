/* hand_partition.h - partitions made by hand, for the tests of what comes after the choosing. */
#ifndef TESTS_SUPPORT_HAND_PARTITION_H
#define TESTS_SUPPORT_HAND_PARTITION_H

#include "partition/partition.h"

/* The state that the steps before `partition` would leave, with these regions, a line each:
 *
 *   "npu: conv2d_act(c r) pool(p)\n"
 *
 * is a region of the target npu with two composites in topological order; in parentheses are the
 * nodes, by the names of their first outputs, the root last. Targets and rows (npu.conv2d_act) are
 * made as they are mentioned. A host without rates stands behind them. Fails the test when a node
 * does not exist. Everything lives in ctx->perm but what arena_release(&result->arena) frees. */
struct partition *hand_partition(struct module *module, const char *regions);

/* What one region adds: for tests that choose at random. */
struct region_plan *hand_region(struct partition *partition, const char *target);
struct candidate *hand_candidate(struct partition *partition, int region, const char *row,
                                 int n_nodes, struct node *const *nodes);

/* A match that nobody chose. */
struct candidate *hand_match(struct partition *partition, const char *target, const char *row,
                             int n_nodes, struct node *const *nodes);

/* The target of that name among the options, and its row; made when they are new. */
struct target *hand_target(struct partition *partition, const char *name);
struct composite_row *hand_row(struct partition *partition, const char *target, const char *name);

#endif
