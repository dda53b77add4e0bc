/* sweep.c - garbage collection of a module: functions that nobody calls, constants that nobody
 * reads, payloads that no constant points into. */
#include "relay_ir/ir.h"

static void mark_called(struct function *fn)
{
    for (struct node *n = fn->first; n; n = n->next)
        if (n->callee && n->callee->n_nodes >= 0) {
            n->callee->n_nodes = -1; /* reached; function_number sets it again */
            mark_called(n->callee);
        }
}

static void sweep_functions(struct module *module)
{
    for (struct function *fn = module->functions; fn; fn = fn->next)
        fn->n_nodes = 0;
    module->main->n_nodes = -1;
    mark_called(module->main);
    for (struct function **at = &module->functions; *at;) {
        if ((*at)->n_nodes == -1) {
            module->last_function = *at;
            at = &(*at)->next;
        } else {
            *at = (*at)->next;
        }
    }
    for (struct function *fn = module->functions; fn; fn = fn->next)
        function_number(fn);
}

static void sweep_constants(struct function *fn)
{
    struct value **at = &fn->constants;

    fn->last_constant = NULL;
    while (*at) {
        if ((*at)->uses) {
            fn->last_constant = *at;
            at = &(*at)->next;
        } else {
            if (map_get(&fn->names, (*at)->name) == *at)
                map_set(&fn->names, (*at)->name, NULL); /* free for what replaces it */
            *at = (*at)->next;
        }
    }
}

static void sweep_payloads(struct module *module)
{
    struct arena arena = { NULL };
    const void **used;
    size_t n = 0;

    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct value *v = fn->constants; v; v = v->next)
            n++;
    used = arena_array(&arena, const void *, n);
    n = 0;
    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct value *v = fn->constants; v; v = v->next)
            used[n++] = v->data;
    bulk_keep(&module->bulk, used, n);
    arena_release(&arena);
}

void module_sweep(struct module *module)
{
    sweep_functions(module);
    for (struct function *fn = module->functions; fn; fn = fn->next)
        sweep_constants(fn);
    sweep_payloads(module);
}

bool constants_fit(struct module *module, double more, const struct origin *origin)
{
    return limit_check(module->ctx, LIMIT_CONSTANT_BYTES, origin,
                       (double)module->bulk.bytes + more);
}

/* A sweep looks at the whole graph: the next one waits until an eighth of the limit is new. */
bool constants_fit_swept(struct module *module, double more, const struct origin *origin)
{
    const double most = (double)limit_value(module->ctx, LIMIT_CONSTANT_BYTES);
    const double wanted = (double)module->bulk.bytes + more;

    if (wanted <= most || (more <= most && wanted <= (double)module->swept_bytes + most / 8))
        return true;
    module_sweep(module);
    module->swept_bytes = module->bulk.bytes;
    return constants_fit(module, more, origin);
}
