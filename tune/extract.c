/* extract.c - see extract.h. */
#include "tune/extract.h"

#include "relay_ir/outline.h"

static bool copy_region(struct function *copy, const struct function *region)
{
    struct ctx *ctx = copy->module->ctx;
    struct value **outer = arena_array(&ctx->perm, struct value *, region->n_params);

    copy->compiler = region->compiler;
    copy->composite = region->composite;
    for (int i = 0; i < region->n_params; i++) /* first: in their order */
        param_new(copy, region->params[i]->name, &region->params[i]->type);
    for (const struct node *n = region->first; n; n = n->next)
        if (!node_outline(copy, n, outer))
            return false;
    for (int i = 0; i < region->ret->n_inputs; i++)
        result_add(copy, map_get(&copy->names, region->ret->inputs[i]->name),
                   region->result_names[i]);
    return true;
}

static bool call_region(struct function *main, struct function *region)
{
    struct arena *arena = &main->module->ctx->perm;
    struct value **inputs = arena_array(arena, struct value *, region->n_params);
    struct node *call;

    for (int i = 0; i < region->n_params; i++)
        inputs[i] = param_new(main, region->params[i]->name, &region->params[i]->type);
    call = node_new(main, &(struct node_args){ .op = OP_CALL,
                                               .n_inputs = region->n_params,
                                               .inputs = inputs,
                                               .n_outputs = region->ret->n_inputs,
                                               .callee = region });
    for (int i = 0; call && i < call->n_outputs; i++)
        result_add(main, call->outputs[i], region->result_names[i]);
    return call != NULL;
}

struct module *region_extract(struct ctx *ctx, const struct function *region)
{
    struct module *module = module_new(ctx);
    struct function *copy = function_new(module, region->name);

    module->opset = region->module->opset;
    module->producer = region->module->producer;
    if (copy_region(copy, region) && call_region(module->main, copy))
        return module;
    module_free(module);
    return NULL;
}
