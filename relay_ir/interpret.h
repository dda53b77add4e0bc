/* interpret.h - runs a function with the reference evaluators: slow, the oracle of all tests. */
#ifndef RELAY_IR_INTERPRET_H
#define RELAY_IR_INTERPRET_H

#include "relay_ir/ir.h"

/* Called for each value that a node computes, in execution order; with `inside_regions`, also for
 * values inside called functions. The tensor is valid during the call only. */
struct observer {
    void (*see)(void *user, const struct value *value, const struct tensor *tensor);
    void *user;
    bool inside_regions;
};

/* Evaluates fn. inputs[i] fits fn->params[i] (interpret_check_inputs); the fn->ret->n_inputs
 * outputs are allocated in `bulk`. Intermediate tensors are freed after their last use. observer
 * may be NULL. False after an error. */
bool interpret(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
               struct tensor *outputs, struct bulk *bulk, const struct observer *observer);

/* Replaces the reference evaluator of some nodes; arguments as of op_row(op)->evaluate, outputs
 * zeroed. False: the node is not handled, the outputs are still zero, and the reference runs. */
struct other_evaluator {
    bool (*evaluate)(void *user, const struct node *node, const struct tensor *const *inputs,
                     struct tensor *outputs);
    void *user;
};

/* interpret with `other` tried first for each node (simulate/simulate.h computes as the generated
 * C). */
bool interpret_by(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
                  struct tensor *outputs, struct bulk *bulk, const struct observer *observer,
                  const struct other_evaluator *other);

/* Evaluates one node; inputs may be NULL for absent optional ones. Outputs are allocated in
 * bulk. */
bool interpret_node(struct ctx *ctx, const struct node *node, const struct tensor *const *inputs,
                    struct tensor *outputs, struct bulk *bulk);

/* Value known at compile time: the payload of a constant, or the result of evaluating nodes that
 * depend on constants only. The graph is unchanged; *out lives in `bulk` or is the constant's
 * payload. False, without a diagnostic, if the value depends on a parameter, has more than
 * max_elements elements, or cannot be computed (an evaluator fails or needs far too much
 * memory). */
bool interpret_constant(struct ctx *ctx, const struct value *value, int64_t max_elements,
                        struct bulk *bulk, struct tensor *out);

/* interpret_constant within the limits on constants and work (base/limit.h): false, with an error,
 * beyond them. */
bool interpret_within_limits(struct ctx *ctx, const struct value *value, int64_t max_elements,
                             struct bulk *bulk, struct tensor *out);

/* Checks number, shapes and types of inputs against the parameters; one error per mismatch. */
bool interpret_check_inputs(struct ctx *ctx, const struct function *fn, int n_inputs,
                            const struct tensor *inputs);

#endif
