#include "codegen_c/plan/name_values.h"

#include "codegen_c/core/state.h"
#include "codegen_c/core/weights.h"
#include "relay_ir/state.h"
#include "relay_ir/variants.h"

const char *stored_constant(struct codegen *codegen, const struct value *value)
{
    return value->uses ? weights_read(codegen, 0, NULL, value->name, &value->type, value->data, "")
                             ->expression
                       : NULL;
}

/* What calls in NAME_run are given, by the ids of roots. A concatenation without a region may be
 * part of another one only. */
static bool *find_arguments(struct codegen *codegen)
{
    bool *used = arena_array(&codegen->arena, bool, codegen->module->main->n_values);

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct region *region = &codegen->regions[r];

        for (int i = 0; i < region->call->n_inputs; i++)
            if (!(region->place.in_place && region->place.over == i) && /* is the result as well */
                !(region->place.absent && region->place.absent[i]))
                used[codegen->plan.root[region->call->inputs[i]->id]->id] = true;
        for (int i = 0; i < region->guards.n; i++)
            used[codegen->plan.root[region->guards.at[i].condition->id]->id] = true;
        for (int i = 0; i < region->call->n_outputs; i++)
            used[region->call->outputs[i]->id] = true;
    }
    return used;
}

/* Pointers into the arena in the place of parameters; a concatenation whose parts are all in their
 * places needs none. */
static void name_io(struct codegen *codegen, const bool *used)
{
    const struct function *main = codegen->module->main;

    for (int i = 0; i < main->n_params; i++)
        if (used[main->params[i]->id] && codegen->plan.block[main->params[i]->id] >= 0)
            codegen->local_names[main->params[i]->id] = codegen->input_names[i];
    for (int i = 0; i < main->ret->n_inputs; i++)
        if (used[main->ret->inputs[i]->id] && !state_of_result(codegen->module, i))
            codegen->local_names[main->ret->inputs[i]->id] = codegen->output_names[i];
}

/* The array that a state begins as; NULL if all its elements are the same. */
static const char *initial_array(struct codegen *codegen, const struct state *state)
{
    const struct value *param = codegen->module->main->params[state->param];
    double number;

    if (state_is_uniform(codegen->module, state, &number))
        return NULL;
    return weights_read(codegen, 0, NULL, param->name, &param->type,
                        state_initial_tensor(codegen->module, state, &codegen->module->bulk).data,
                        "")
        ->expression;
}

/* What is kept has one name as an input and as an output. */
static void name_states(struct codegen *codegen)
{
    struct names fields;

    names_init(&fields, &codegen->arena);
    codegen->initials = arena_array(&codegen->arena, const char *, codegen->module->n_states);
    for (int i = 0; i < codegen->module->n_states; i++) {
        const struct state *state = &codegen->module->states[i];
        const char *name = codegen->module->main->params[state->param]->name;
        const char *c_name =
            arena_printf(&codegen->arena, "state->%s",
                         names_unique(&fields, c_identifier(&codegen->arena, name)));

        codegen->initials[i] = initial_array(codegen, state);
        codegen->input_names[state->param] = codegen->output_names[state->result] = c_name;
    }
}

static void reserve_locals(struct codegen *codegen, struct names *locals)
{
    names_init(locals, &codegen->arena);
    for (size_t i = 0; i < codegen->names.taken.n; i++)
        names_reserve(locals, codegen->names.taken.entries[i].key);
    for (int p = 0; p < codegen->plan.n_pools; p++) {
        names_reserve(locals, pool_arena(codegen, p));
        names_reserve(locals, pool_base(codegen, p));
    }
    names_reserve(locals, "region");
    names_reserve(locals, "code");
    if (codegen->module->n_states)
        names_reserve(locals, "state");
}

/* Inputs and outputs; of all variants alike. */
static void name_arrays(struct codegen *codegen, struct names *locals)
{
    const struct function *main = codegen->module->main;
    struct arena *arena = &codegen->arena;
    const int n_params = interface_params(codegen->module);
    const int n_results = interface_results(codegen->module);

    for (int i = 0; i < n_params; i++)
        if (!codegen->input_names[i])
            codegen->input_names[i] =
                names_unique(locals, c_identifier(arena, main->params[i]->name));
    for (int i = 0; i < n_results; i++)
        if (!codegen->output_names[i])
            codegen->output_names[i] =
                names_unique(locals, c_identifier(arena, main->result_names[i]));
    for (int i = n_params; i < main->n_params; i++)
        codegen->input_names[i] = codegen->input_names[i % n_params];
    for (int i = n_results; i < main->ret->n_inputs; i++)
        codegen->output_names[i] = codegen->output_names[i % n_results];
}

/* Pointers of a variant: each is a function with locals of its own. */
static void name_pointers(struct codegen *codegen, const struct names *taken, const bool *used,
                          int variant)
{
    const struct function *main = codegen->module->main;
    struct arena *arena = &codegen->arena;
    struct names locals;

    names_init(&locals, arena);
    for (size_t i = 0; i < taken->taken.n; i++)
        names_reserve(&locals, taken->taken.entries[i].key);
    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs && variant_of(codegen->module, node) == variant; i++) {
            const struct value *value = node->outputs[i];

            if (codegen->plan.root[value->id] == value && used[value->id] &&
                (codegen->plan.block[value->id] >= 0 || codegen->plan.part[value->id].whole))
                codegen->local_names[value->id] =
                    names_unique(&locals, c_identifier(arena, value->name));
        }
}

void name_values(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    struct arena *arena = &codegen->arena;
    const bool *used = find_arguments(codegen);
    struct names locals;

    reserve_locals(codegen, &locals);
    codegen->input_names = arena_array(arena, const char *, main->n_params);
    codegen->output_names = arena_array(arena, const char *, main->ret->n_inputs);
    codegen->local_names = arena_array(arena, const char *, main->n_values);
    name_states(codegen);
    name_arrays(codegen, &locals);
    for (int v = 0; v < count_variants(codegen->module); v++)
        name_pointers(codegen, &locals, used, v);
    if (io_is_inside(codegen))
        name_io(codegen, used);
    for (struct value *v = main->constants; v; v = v->next)
        codegen->local_names[v->id] = stored_constant(codegen, v);
}
