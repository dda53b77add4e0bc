/* partition.h - bring your own codegen: assigns regions of the graph to backends.
 *
 * Runs after simplification and before fuse_ops, which groups the nodes that stay on the host, `c`.
 * Each step is a pass over `struct partition`; those with `rewrites` change the graph.
 *
 * merge_composite: for every backend in the user's order, matches of its rows in order, disjoint
 * within one backend. All candidates of all backends are kept.
 *
 * annotate_target: chooses disjoint candidates; other nodes stay on the host.
 *
 * merge_regions: joins neighbouring composites of one backend, without creating cycles.
 *
 * cost: splits regions at limits and returns regions to the host that do not pay for their
 * hand-over; repeats the two steps before it until nothing changes.
 *
 * partition: outlines regions as functions of composite functions.
 *
 * optimise: the backends' hooks.
 *
 * Invariants (tests/unit/partition/test_partition_random.c): every node of main is in exactly one
 * chosen candidate or on the host; a region is convex; the graph of regions and host nodes has no
 * cycle; results equal those of the graph before. */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include "partition/target.h"
#include "relay_ir/passes/pipeline.h"

enum assign { ASSIGN_COST, ASSIGN_PRIORITY };

struct partition_options {
    const struct targets *targets;
    int n_offload;
    const struct target *const *offload; /* in the user's order; without c, which is implicitly
                                            last */
    enum assign assign; /* COST: lowest estimate, ties by order. PRIORITY: first in order */
    bool no_cost; /* the cost step only enforces limits: no min_macs, no hand-over, no favourite */
};

/* One match of one row. */
struct candidate {
    int id; /* in order of discovery: by backend, row, and root from the end of the graph; those
               found by annotate_target follow */
    const struct composite_row *row;
    struct match match;
    double target_ns, host_ns; /* estimates without hand-over; host_ns with the whole match on the
                                  host: nodes fused into another's loop (host_fused_into) are
                                  free */
    const char *excluded;      /* why the cost step excluded it ("hand-over: ..."); NULL = not
                                excluded */
    const char *excluded_by;   /* excluded: name of the limit, "min_macs" or "hand-over" */
    const char *cost_problem;  /* why the row's cost_ns is unusable; NULL = it is usable */
    bool too_big; /* excluded: exceeds a limit on its own, so that smaller rows may match its
                     nodes */
    const char *passed_over; /* neither excluded nor chosen: why ("its nodes went to npu.conv#3") */
    int region;              /* index of its region; -1 = not chosen */
    struct candidate *next;
    struct candidate *same_root; /* previous candidate with this root; NULL = none */
};

/* Why a row did not match at a node, for --explain. */
struct attempt {
    struct node *node;
    const struct composite_row *row;
    struct mismatch why; /* of the pattern, or of a condition if `condition` */
    bool condition;
    struct attempt *next;
};

struct region_plan {
    const struct target *target;
    int n;
    struct candidate **candidates; /* in topological order */
    int64_t macs, weight_bytes, input_bytes, output_bytes, onchip_bytes;
    int n_nodes;
    double target_ns, handover_ns, host_ns;
    struct function *fn; /* set by the pass `partition`; NULL before */
};

/* A decision about several nodes, as text: "region of 5 nodes split after conv3: ...". */
struct decision {
    const struct target *target;
    const struct node *node; /* first node concerned */
    const char *text;
    struct decision *next;
};

struct partition {
    struct module *module;
    struct function *fn; /* main, numbered: ids are valid until `partition` rewrites it */
    const struct partition_options *options;
    struct arena arena; /* holds everything here */
    const struct target *host;
    int n_nodes;
    struct node **nodes;            /* by id */
    struct candidate *first, *last; /* all, in order of id */
    int n_candidates;
    struct candidate **at_root;     /* by node id: last candidate with this root */
    struct candidate **choice;      /* by node id; NULL = host */
    const struct target *favourite; /* ASSIGN_COST: backend whose candidates are chosen first; NULL
                                       = none. The cost step tries each */
    struct region_plan *regions;
    int n_regions;
    struct attempt *attempts, *last_attempt;
    struct map texts; /* interned texts of attempts */
    struct decision *decisions, *last_decision;
    struct explanation *explanation; /* made before the graph is rewritten, see explain.h */
};

struct partition_pass {
    const char *name, *purpose;
    bool (*run)(struct partition *partition);
    bool rewrites; /* changes the graph, not only the state */
};

/* Steps in order; *n rows. */
const struct partition_pass *partition_passes(int *n);

struct partition *partition_new(struct module *module, const struct partition_options *options);
void partition_free(struct partition *partition); /* NULL is fine */

/* Runs all steps with the pass runner's chores (verify, dump, time). dump_after of a step that does
 * not change the graph prints the state (partition_print). False after errors. */
bool partition_run(struct partition *partition, const struct pipeline_options *options);

/* Runs one step (tests). */
bool partition_run_one(struct partition *partition, const char *name);

/* The state as text, a line per node of main in order, for tests and --dump-after:
 *   %c1 = nn.conv2d  dnnl.conv2d_act#0 sim_npu.conv2d#3  -> dnnl.conv2d_act#0 in region 0
 *   %s = nn.softmax  -> c
 * (a candidate in parentheses is excluded), then a line per region
 *   region 0: dnnl, 3 nodes, 576 MACs, 64 bytes in, 64 out, 32 of weights, 160 on chip
 * and per decision. */
void partition_print(const struct partition *partition, struct str *out);

void partition_decide(struct partition *partition, const struct target *target,
                      const struct node *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The steps, in alphabetical order. */
bool partition_annotate_target(struct partition *partition);
bool partition_cost(struct partition *partition);
bool partition_merge_composite(struct partition *partition);
bool partition_merge_regions(struct partition *partition);
bool partition_optimise(struct partition *partition);
bool partition_outline(struct partition *partition);

/* What `partition` leaves behind for codegen_c, the engine and fuse_ops:
 *  - in main, a region is one call of a function with compiler = the target's name, name and
 *    global_symbol = TARGET_FIRSTNODE (an identifier, unique), composite NULL;
 *  - its parameters are the distinct values that it reads from outside, in order of first use;
 *    constants are bound inside; its results are the values that others read, in order;
 *  - its body holds only calls of composite functions (compiler = the target, composite = the row's
 *    name), in topological order; constants that composites read are bound inside these, so that
 * the parameters of a composite function are its non-constant leaves in order of first use;
 *  - a composite function has one result per output of its root; composite_rematch finds its
 * captures again. */

/* True if main calls functions with a compiler other than "c". */
bool module_has_foreign_regions(const struct module *module);

/* For imported graphs: checks that regions have the form above and belong to known backends; one
 * error per violation. */
bool partition_check_regions(struct module *module, const struct targets *targets);

#endif
