#include "relay_ir/copy.h"

#include "relay_ir/outline.h"
#include "relay_ir/state.h"

struct module *module_copy(struct ctx *ctx, const struct module *module)
{
    const struct function *fn = module->main;
    struct module *copy = module_new(ctx);
    struct value **outer = arena_array(&ctx->scratch, struct value *, fn->n_params);

    copy->opset = module->opset;
    copy->n_onnx_nodes = module->n_onnx_nodes;
    copy->format = module->format;
    copy->producer = module->producer;
    copy->rounds_as_written = module->rounds_as_written;
    copy->rounds_as_onnx = module->rounds_as_onnx;
    for (int i = 0; i < fn->n_params; i++)
        param_new(copy->main, fn->params[i]->name, &fn->params[i]->type);
    for (const struct node *node = fn->first; node; node = node->next)
        if (!node_outline(copy->main, node, outer)) {
            module_free(copy);
            return NULL;
        }
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        struct value *result = fn->ret->inputs[i],
                     *made = map_get(&copy->main->names, result->name);

        if (!made) /* a constant that no node reads */
            made = constant_new(copy->main, result->name, &result->type, result->data);
        result_add(copy->main, made, fn->result_names[i]);
    }
    for (int i = 0; i < module->n_states; i++)
        state_add(copy, &module->states[i]);
    return copy;
}
