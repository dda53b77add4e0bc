/* dead_code.c - removes nodes whose outputs nobody reads.
 *
 * needs    nothing
 * gives    every node leads to a result
 * method   one walk from the last node to the first */
#include "relay_ir/passes/pipeline.h"

static bool is_dead(const struct node *node)
{
    for (int i = 0; i < node->n_outputs; i++)
        if (node->outputs[i]->uses)
            return false;
    return true;
}

bool pass_dead_code(struct module *module)
{
    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct node *n = function_is_region(fn) ? NULL : fn->last, *prev; n; n = prev) {
            prev = n->prev;
            if (is_dead(n))
                node_remove(n);
        }
    return true;
}
