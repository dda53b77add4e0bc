#include "relay_ir/validate/snapshot.h"

#include <string.h>

#include "base/str.h"

static const char *print_attrs(struct arena *arena, const struct node *node)
{
    struct str text = { .arena = arena };

    attrs_print(&text, op_row(node->op)->attrs, &node->attrs);
    return str_text(&text);
}

static struct tensor copy_constant(struct snapshot *snapshot, const struct value *constant)
{
    const struct tensor tensor = value_tensor(constant);
    struct tensor copy = tensor_new(&snapshot->bulk, &tensor.type);

    memcpy(copy.data, tensor.data, type_bytes(&tensor.type));
    return copy;
}

static void take_node(struct snapshot *snapshot, struct map *constants, const struct node *node)
{
    struct arena *arena = &snapshot->arena;
    struct was_node *was = &snapshot->nodes[snapshot->n_nodes++];

    *was = (struct was_node){ .op = node->op,
                              .attrs = print_attrs(arena, node),
                              .n_inputs = node->n_inputs,
                              .n_outputs = node->n_outputs };
    was->inputs = arena_array(arena, struct was_input, node->n_inputs);
    was->outputs = arena_array(arena, const char *, node->n_outputs);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (value && value->kind == VALUE_CONSTANT)
            was->inputs[i].constant = *(struct tensor *)map_get(constants, value->name);
        else if (value)
            was->inputs[i].name = arena_strdup(arena, value->name);
    }
    for (int i = 0; i < node->n_outputs; i++) {
        was->outputs[i] = arena_strdup(arena, node->outputs[i]->name);
        map_set(&snapshot->by_output, was->outputs[i], was);
    }
}

void snapshot_take(struct snapshot *out, const struct function *fn)
{
    struct arena scratch = { NULL };
    struct map constants = { .arena = &scratch };
    int n = 1;

    *out = (struct snapshot){ .n_nodes = 0 };
    out->by_output.arena = &out->arena;
    for (const struct value *c = fn->constants; c; c = c->next) {
        struct tensor *copy = arena_new(&out->arena, struct tensor);

        if (!c->uses)
            continue;
        *copy = copy_constant(out, c);
        map_set(&constants, c->name, copy);
    }
    for (const struct node *node = fn->first; node; node = node->next)
        n++;
    out->nodes = arena_array(&out->arena, struct was_node, n);
    for (const struct node *node = fn->first; node; node = node->next)
        take_node(out, &constants, node);
    take_node(out, &constants, fn->ret);
    arena_release(&scratch);
}

void snapshot_free(struct snapshot *snapshot)
{
    arena_release(&snapshot->arena);
    bulk_release(&snapshot->bulk);
    *snapshot = (struct snapshot){ .n_nodes = 0 };
}

const struct was_node *snapshot_find(const struct snapshot *snapshot, const char *output)
{
    return map_get(&snapshot->by_output, output);
}

bool was_alike(const struct was_node *was, const struct node *node)
{
    struct arena arena = { NULL };
    const bool alike = was->op == node->op && was->n_inputs == node->n_inputs &&
                       was->n_outputs == node->n_outputs &&
                       strcmp(was->attrs, print_attrs(&arena, node)) == 0;

    arena_release(&arena);
    return alike;
}

bool was_read(const struct was_node *was, int i, const struct value *value)
{
    const struct was_input *input = &was->inputs[i];
    struct tensor now;

    if (!value)
        return !input->name && !input->constant.data;
    if (value->kind != VALUE_CONSTANT)
        return input->name && strcmp(input->name, value->name) == 0;
    now = value_tensor(value);
    return input->constant.data && type_same_storage(&now.type, &input->constant.type) &&
           tensor_equal(&now, &input->constant);
}
