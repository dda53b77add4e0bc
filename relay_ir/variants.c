#include "relay_ir/variants.h"

#include <string.h>

static void move_values(struct function *to, struct function *from)
{
    for (int i = 0; i < from->n_params; i++)
        from->params[i]->fn = to;
    for (struct value *v = from->constants; v; v = v->next)
        v->fn = to;
    for (struct node *node = from->first; node; node = node->next) {
        node->fn = to;
        for (int i = 0; i < node->n_outputs; i++)
            node->outputs[i]->fn = to;
    }
}

static void append_params(struct function *to, const struct function *from)
{
    struct value **params =
        arena_array(&to->module->arena, struct value *, to->n_params + from->n_params);

    for (int i = 0; i < to->n_params; i++)
        params[i] = to->params[i];
    for (int i = 0; i < from->n_params; i++) {
        params[to->n_params + i] = from->params[i];
        from->params[i]->index = to->n_params + i;
    }
    to->params = params;
    to->n_params += from->n_params;
}

static void append_results(struct function *to, struct function *from)
{
    const int n = to->ret->n_inputs, more = from->ret->n_inputs;
    struct value **values = arena_array(&to->module->arena, struct value *, n + more);
    const char **names = arena_array(&to->module->arena, const char *, n + more);

    for (int i = 0; i < n; i++) {
        values[i] = to->ret->inputs[i];
        names[i] = to->result_names[i];
    }
    for (int i = 0; i < more; i++) {
        values[n + i] = from->ret->inputs[i];
        names[n + i] = from->result_names[i];
    }
    results_set(from, 0, NULL, NULL); /* they are no longer read there */
    results_set(to, n + more, values, names);
}

static void append_nodes(struct function *to, struct function *from)
{
    if (!from->first)
        return;
    from->first->prev = to->last;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    from->first = from->last = NULL;
}

static void append_constants(struct function *to, struct function *from)
{
    if (!from->constants)
        return;
    if (to->last_constant)
        to->last_constant->next = from->constants;
    else
        to->constants = from->constants;
    to->last_constant = from->last_constant;
    from->constants = from->last_constant = NULL;
}

/* All functions but main, which stays behind, empty. */
static void move_functions(struct module *to, struct module *from)
{
    struct function **at = &from->functions;

    while (*at) {
        struct function *fn = *at;

        if (fn == from->main) {
            at = &fn->next;
            continue;
        }
        *at = fn->next;
        fn->next = NULL;
        fn->module = to;
        to->last_function->next = fn;
        to->last_function = fn;
    }
    from->last_function = from->main;
}

void variant_absorb(struct module *to, struct module *from, struct variant *variant)
{
    function_number(to->main);
    function_number(from->main);
    variant->first_node = to->main->n_nodes;
    variant->n_nodes = from->main->n_nodes;
    move_values(to->main, from->main);
    append_params(to->main, from->main);
    append_constants(to->main, from->main);
    append_nodes(to->main, from->main);
    append_results(to->main, from->main);
    move_functions(to, from);
}

int count_variants(const struct module *module)
{
    return module->variants ? module->variants->n : 1;
}

int interface_params(const struct module *module)
{
    return module->main->n_params / count_variants(module);
}

int interface_results(const struct module *module)
{
    return module->main->ret->n_inputs / count_variants(module);
}

int variant_of(const struct module *module, const struct node *node)
{
    int low = 0, high = count_variants(module);

    while (high - low > 1) {
        const int middle = low + (high - low) / 2;

        if (module->variants->at[middle].first_node <= node->id)
            low = middle;
        else
            high = middle;
    }
    return low;
}
