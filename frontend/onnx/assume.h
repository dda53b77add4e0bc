/* assume.h - what numbers that are known at run time only must be, as the file declares the shape of
 * the result. */
#ifndef FRONTEND_ONNX_ASSUME_H
#define FRONTEND_ONNX_ASSUME_H

#include "frontend/onnx/convert.h"

enum {
    MAX_WAYS = 3,
    MAX_SETS = 16 /* of axes, each of which becomes code */
};

struct assumption {
    const char *mode;                    /* of expect (relay_ir/ops/run_time.c) */
    struct ints numbers;                 /* assumed */
    int ways;                            /* each, shape: what number i may be … */
    int64_t allowed[MAX_INTS][MAX_WAYS]; /* … */
    int rank, n_sets;                    /* axes: the sets that give the declared shape */
    int64_t sets[MAX_SETS];
    bool left; /* to the converter, which asks itself */
    bool same; /* and it is the same result for all of them */
};

/* From the types of the inputs and of the results (y, one for each output of the node). `out` is zeroed,
 * and n how many numbers there are. False if no numbers give such a result. */
typedef bool assume(struct onnx_node *node, const struct type *y, int n, struct assumption *out);

#define RUN_TIME(name, input, x, solver) assume solver;
#include "frontend/onnx/run_time.def"
#undef RUN_TIME

#endif
