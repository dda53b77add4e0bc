/* layer_part.h - a slice of a function as a function of its own, with an engine; for
 * layer_walk.c. */
#ifndef QUANTIZE_LAYER_PART_H
#define QUANTIZE_LAYER_PART_H

#include "relay_ir/ir.h"
#include "runtime/engine/engine.h"

/* A value that depends on constants only, with its payload. */
struct part_constant {
    const struct value *value;
    struct tensor tensor;
};

/* Nodes in order. Their inputs are computed by these nodes, VALUE_CONSTANT, in `constants`, or
 * become parameters of the part. Threads may share a plan. */
struct part_plan {
    int n_nodes, n_constants, n_results;
    const struct node **nodes;
    struct part_constant *constants;
    struct value **results;
};

struct part {
    const struct part_plan *plan;
    struct module *module;
    struct engine *engine;           /* NULL = not made */
    struct value **outer;            /* per parameter: the original value */
    struct tensor *inputs, *outputs; /* per parameter, per result */
};

/* Makes the module and its engine; the original function is not changed. False after an error. */
bool part_make(struct ctx *ctx, const struct part_plan *plan, struct part *out);
void part_free(struct part *part); /* after a failed part_make too */

/* Index of the value among the results, -1 = none. */
int part_result(const struct part_plan *plan, const struct value *value);

#endif
