/* infer_type.c - infers every type again.
 *
 * needs    types of parameters and constants
 * gives    types of all node outputs, or an error for each node that does not fit
 * method   in topological order; regions before main, which calls them */
#include "relay_ir/passes/pipeline.h"

static bool infer_function(struct function *fn)
{
    bool ok = true;

    for (struct node *n = fn->first; n; n = n->next)
        ok &= node_infer(fn->module->ctx, n);
    return ok;
}

bool pass_infer_type(struct module *module)
{
    bool ok = true;

    for (struct function *fn = module->functions; fn; fn = fn->next)
        if (fn != module->main)
            ok &= infer_function(fn);
    return infer_function(module->main) && ok;
}
