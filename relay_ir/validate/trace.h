/* trace.h - repeated evaluation with a cache: a node with known operator, attributes and inputs is
 * not computed again. Passes change little at a time, so most of a network is evaluated once for
 * all of them. */
#ifndef RELAY_IR_VALIDATE_TRACE_H
#define RELAY_IR_VALIDATE_TRACE_H

#include "relay_ir/ir.h"

/* A tensor and the hash of its type and elements. */
struct seen_tensor {
    struct tensor tensor;
    uint64_t hash;
};

/* A value of main as evaluated, in graph order. */
struct traced {
    const char *name;            /* a copy */
    const struct origin *origin; /* of the node that computed it; NULL = it has none */
    const char *op;
    struct seen_tensor seen;
};

/* One evaluation of main. Tensors belong to `struct memory` and live until trace_forget. */
struct trace {
    struct arena arena;
    int n_values;
    struct traced *values;
    int n_results;
    struct seen_tensor *results;
    const char **result_names;
};

struct memory; /* cache of results; opaque */

struct memory *memory_new(void);
void memory_free(struct memory *memory);

struct seen_tensor memory_see(const struct tensor *tensor);

/* Runs main on inputs that fit its parameters. False after an error of an evaluator. */
bool trace_run(struct memory *memory, struct module *module, const struct seen_tensor *inputs,
               struct trace *trace);

/* Drops results that neither the last run nor the one before it used. */
void trace_forget(struct memory *memory);

void trace_free(struct trace *trace);

/* Value by name; NULL = none. */
const struct traced *trace_find(const struct trace *trace, const char *name);

#endif
