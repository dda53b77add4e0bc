/* interpret.h - runs a function with the reference evaluators: slow, and the oracle of everything.
 */
#ifndef RELAY_IR_INTERPRET_H
#define RELAY_IR_INTERPRET_H

#include "relay_ir/ir.h"

/* Called for every value of the function that a node computes, in execution order, also inside
 * called regions when `inside_regions` is set. The tensor is valid during the call only. */
struct observer {
    void (*see)(void *user, const struct value *value, const struct tensor *tensor);
    void *user;
    bool inside_regions;
};

/* inputs[i] fits fn->params[i] (interpret_check_inputs); outputs[i] (fn->ret->n_inputs of them) are
 * allocated in `bulk`, each with a payload of its own. Intermediate tensors die after their last
 * use. observer may be NULL. False after an error. */
bool interpret(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
               struct tensor *outputs, struct bulk *bulk, const struct observer *observer);

/* Evaluates a node otherwise than relay_ir does: inputs and outputs as those of
 * op_row(op)->evaluate. False: it leaves that to relay_ir; the outputs are zeroed still. */
struct other_evaluator {
    bool (*evaluate)(void *user, const struct node *node, const struct tensor *const *inputs,
                     struct tensor *outputs);
    void *user;
};

/* The same by other evaluators, where they take a node (simulate/simulate.h: as generated C
 * computes). */
bool interpret_by(struct ctx *ctx, struct function *fn, const struct tensor *inputs,
                  struct tensor *outputs, struct bulk *bulk, const struct observer *observer,
                  const struct other_evaluator *other);

/* Evaluates one node on given inputs (NULL = absent); outputs are allocated in bulk. */
bool interpret_node(struct ctx *ctx, const struct node *node, const struct tensor *const *inputs,
                    struct tensor *outputs, struct bulk *bulk);

/* The value at compile time: its payload if it is a constant, else, when everything it depends on
 * is constant, the evaluation of the nodes behind it. The graph is not changed. The result lives in
 * `bulk` or is the constant's own. False, without a diagnostic, when the value depends on a
 * parameter, has more than max_elements elements, or cannot be computed (an evaluator failed, or
 * something on the way is far too big). */
bool interpret_constant(struct ctx *ctx, const struct value *value, int64_t max_elements,
                        struct bulk *bulk, struct tensor *out);

/* The same within the limits on constants and work (base/limit.h): false, with an error, where it
 * takes more. */
bool interpret_within_limits(struct ctx *ctx, const struct value *value, int64_t max_elements,
                             struct bulk *bulk, struct tensor *out);

/* False after errors naming each input whose number, shape or type does not fit the parameters. */
bool interpret_check_inputs(struct ctx *ctx, const struct function *fn, int n_inputs,
                            const struct tensor *inputs);

#endif
