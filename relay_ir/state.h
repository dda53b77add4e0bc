/* state.h - what a streaming network keeps from one run to the next: pairs of a parameter and a result of main. In
 * the graph both are ordinary: whoever runs it hands the result back. In C they are fields of struct NAME_state. */
#ifndef RELAY_IR_STATE_H
#define RELAY_IR_STATE_H

#include "relay_ir/ir.h"

/* Adds a copy to the module's states; the payload of its initial contents is borrowed. */
void state_add(struct module *module, const struct state *state);

/* The state that this parameter or result of main is; NULL = an ordinary input or output. */
const struct state *state_of_param(const struct module *module, int param);
const struct state *state_of_result(const struct module *module, int result);

/* Inputs and outputs that are no state. */
int count_inputs(const struct module *module);
int count_outputs(const struct module *module);

/* Element i of the parameter before the first run, as its type stores it: a quantised interface rounds the number of
 * the file. */
double state_initial(const struct module *module, const struct state *state, int64_t i);

/* Whether it begins with one number throughout, which is set. */
bool state_is_uniform(const struct module *module, const struct state *state, double *number);

/* The parameter's contents before the first run. */
struct tensor state_initial_tensor(const struct module *module, const struct state *state,
                                   struct bulk *bulk);

#endif
