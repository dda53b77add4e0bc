#include "relay_ir/state.h"

#include <math.h>
#include <string.h>

#include "relay_ir/variants.h"
#include "relay_ir/walk.h"

void state_add(struct module *module, const struct state *state)
{
    const int n = module->n_states;

    if ((n & (n - 1)) == 0) { /* full: 0, 1, 2, 4, 8 ... */
        struct state *states = arena_array(&module->arena, struct state, n ? 2 * n : 1);

        if (n)
            memcpy(states, module->states, (size_t)n * sizeof *states);
        module->states = states;
    }
    module->states[module->n_states++] = *state;
}

const struct state *state_of_param(const struct module *module, int param)
{
    for (int i = 0; i < module->n_states; i++)
        if (module->states[i].param == param)
            return &module->states[i];
    return NULL;
}

const struct state *state_of_result(const struct module *module, int result)
{
    for (int i = 0; i < module->n_states; i++)
        if (module->states[i].result == result)
            return &module->states[i];
    return NULL;
}

int count_inputs(const struct module *module)
{
    return interface_params(module) - module->n_states;
}

int count_outputs(const struct module *module)
{
    return interface_results(module) - module->n_states;
}

/* Quantised values are kept as they are. */
static double stored(const struct type *type, double number)
{
    const struct qtype *quant = type->quant;
    double code;

    if (!quant || quant->kind != QTYPE_SCALED || quant->n != 1 || !dtype_is_integer(type->dtype))
        return number;
    code = rint(number / (double)quant->scale[0]) + (quant->zero ? quant->zero[0] : 0);
    return fmin(fmax(code, (double)dtype_least(type->dtype)), (double)dtype_greatest(type->dtype));
}

double state_initial(const struct module *module, const struct state *state, int64_t i)
{
    const struct type *type = &module->main->params[state->param]->type;

    if (!state->initial.data)
        return stored(type, 0);
    return state->initial.type.dtype == type->dtype ? tensor_at(&state->initial, i)
                                                    : stored(type, tensor_at(&state->initial, i));
}

bool state_is_uniform(const struct module *module, const struct state *state, double *number)
{
    const int64_t n = type_elements(&module->main->params[state->param]->type);

    *number = n ? state_initial(module, state, 0) : 0;
    for (int64_t i = 1; i < n && state->initial.data; i++)
        if (state_initial(module, state, i) != *number)
            return false;
    return true;
}

struct tensor state_initial_tensor(const struct module *module, const struct state *state,
                                   struct bulk *bulk)
{
    const struct type *type = &module->main->params[state->param]->type;
    const struct tensor tensor = tensor_new(bulk, type);

    for (int64_t i = 0; i < type_elements(type); i++)
        dtype_store(type->dtype, tensor.data, i, state_initial(module, state, i));
    return tensor;
}
