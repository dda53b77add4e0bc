/* layer_part.h - a part of a function as a function of its own, with an engine; for layer_walk.c.
 */
#ifndef QUANTIZE_LAYER_PART_H
#define QUANTIZE_LAYER_PART_H

#include "relay_ir/ir.h"
#include "runtime/engine/engine.h"

/* A constant, or what depends on constants only, with its payload. */
struct part_constant {
    const struct value *value;
    struct tensor tensor;
};

/* Nodes in their order. What they read and none of them computes is a constant, VALUE_CONSTANT or
 * in the list, or a parameter of the part. Threads may share a plan. */
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
    struct value **outer;            /* per parameter: which value it stands for */
    struct tensor *inputs, *outputs; /* room: per parameter, per result */
};

/* The plan's function is only read. False after an error. */
bool part_make(struct ctx *ctx, const struct part_plan *plan, struct part *out);
void part_free(struct part *part); /* also of one that was not made */

/* Which result the value is, -1 = none. */
int part_result(const struct part_plan *plan, const struct value *value);

#endif
