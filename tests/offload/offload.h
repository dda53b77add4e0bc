/* offload.h - a network, partitioned: the pieces. */
#ifndef TESTS_OFFLOAD_OFFLOAD_H
#define TESTS_OFFLOAD_OFFLOAD_H

#include "driver/driver.h"
#include "tests/support/network.h"

enum { MAX_TARGETS = 8 };

/* What one target got; [0] is c's. */
struct share {
    const struct target *target;
    int n_regions, n_nodes;
};

struct trial {
    const char *list;      /* "sim_npu,dnnl" */
    const char *precision; /* "f32", "fp8" ..., --no-data-free */
    bool everything;       /* by priority, without the cost step */
    const char *target_dir;

    struct network network;     /* after fuse_ops; sets hold what is wanted */
    double noise;               /* how far the precision's results are from f32's */
    struct driver_state driver; /* its targets */
    int n_shares;
    struct share shares[MAX_TARGETS + 1];
};

/* What the reference evaluator said of a graph; asked once, as it is slow. */
struct oracle;
void oracles_free(struct oracle *oracles);

/* The stages of relayc compile up to fuse, on the network of the folder. False after errors in network.ctx. To be freed
 * either way. */
bool trial_prepare(struct trial *trial, const char *dir, struct oracle **oracles);
void trial_free(struct trial *trial);

/* Runs the C of `work` region by region: none may change a byte of the arena outside its results
 * and its working memory, as NAME.json tells them. False with a reason, or after errors. */
bool watch_arena(struct trial *trial, const char *work, const struct codegen_result *result,
                 const char **reason);

#endif
