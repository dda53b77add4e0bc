#include "relay_ir/validate/cost.h"

#include "relay_ir/macs.h"

static bool reads_constants_only(const struct node *node, const bool *is_constant)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT &&
            !is_constant[node->inputs[i]->id])
            return false;
    return true;
}

static void add_cost(struct cost *cost, struct function *fn, bool *is_constant)
{
    for (const struct node *node = fn->first; node; node = node->next) {
        const bool constant = reads_constants_only(node, is_constant);

        cost->n_nodes++;
        cost->work += (double)node_macs(node);
        for (int i = 0; i < node->n_outputs; i++) {
            const double bytes = (double)type_bytes(&node->outputs[i]->type);

            is_constant[node->outputs[i]->id] = constant;
            cost->work += (double)type_elements(&node->outputs[i]->type);
            cost->bytes += bytes;
            cost->constant_bytes += constant ? bytes : 0;
        }
    }
}

struct cost network_cost(struct module *module)
{
    struct cost cost = { 0 };

    for (struct function *fn = module->functions; fn; fn = fn->next) {
        struct arena arena = { NULL };

        function_number(fn);
        for (int i = 0; i < fn->n_params; i++) {
            cost.work += (double)type_elements(&fn->params[i]->type);
            cost.bytes += (double)type_bytes(&fn->params[i]->type);
        }
        add_cost(&cost, fn, arena_array(&arena, bool, fn->n_values));
        arena_release(&arena);
    }
    return cost;
}
