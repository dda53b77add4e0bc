#include "relay_ir/outline.h"

struct node *node_copy(struct function *fn, const struct node *node, struct value *const *inputs,
                       struct node *before)
{
    const char **names = arena_array(&fn->module->ctx->scratch, const char *, node->n_outputs);
    struct node *copy;

    for (int i = 0; i < node->n_outputs; i++)
        names[i] = node->outputs[i]->name;
    copy = node_new(fn, &(struct node_args){ .op = node->op,
                                             .n_inputs = node->n_inputs,
                                             .inputs = inputs,
                                             .n_outputs = node->n_outputs,
                                             .names = names,
                                             .attrs = &node->attrs,
                                             .origin = node->origin,
                                             .callee = node->callee,
                                             .before = before });
    for (int i = 0; copy && i < node->n_outputs; i++)
        value_keep_calibration(node->outputs[i], copy->outputs[i]);
    return copy;
}

static struct value *inner_value(struct function *fn, struct value *value, struct value **outer)
{
    struct value *inner = value ? map_get(&fn->names, value->name) : NULL;

    if (!value || inner)
        return inner;
    if (value->kind == VALUE_CONSTANT)
        return constant_new(fn, value->name, &value->type, value->data);
    outer[fn->n_params] = value;
    return param_new(fn, value->name, &value->type);
}

bool node_outline(struct function *fn, const struct node *node, struct value **outer)
{
    struct value **inputs = arena_array(&fn->module->ctx->scratch, struct value *, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = inner_value(fn, node->inputs[i], outer);
    return node_copy(fn, node, inputs, NULL) != NULL;
}
