/* infer.c - the types of a node's outputs, and of all who read what has changed. */
#include "relay_ir/products.h"

/* An operator that sees the numbers of blocks gives numbers: a cast, and a product with such
 * weights. What moves quantised values would leave their scales behind. */
static bool check_blocks(struct ctx *ctx, const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (!value || !type_has_blocks(&value->type) || node->op == OP_CAST ||
            (i == 1 && is_product(node->op)))
            continue;
        diag_error(ctx, DIAG_TYPE, node_origin(node),
                   "input %d of %s has block scales, which only cast, convolutions and matrix "
                   "products accept",
                   i, op_name(node->op));
        diag_help(ctx, "put a cast to f32 between them");
        return false;
    }
    return true;
}

bool node_infer(struct ctx *ctx, struct node *node)
{
    const struct op_row *row = op_row(node->op);
    bool ok = true;

    if (node->n_inputs < row->least_inputs ||
        (row->most_inputs >= 0 && node->n_inputs > row->most_inputs))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s has %d inputs, expected %d%s",
                          row->name, node->n_inputs, row->least_inputs,
                          row->most_inputs == row->least_inputs ? "" : " or more");
    for (int i = 0; i < node->n_inputs; i++)
        if (!node->inputs[i] && i < row->least_inputs)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "input %d of %s is missing", i,
                              row->name);
    if (!check_blocks(ctx, node) || !row->infer(ctx, node))
        return false;
    for (int i = 0; i < node->n_outputs && ok; i++)
        ok = type_check_size(ctx, node_origin(node), &node->outputs[i]->type);
    return ok;
}

struct todo {
    struct arena *arena;
    struct value **at;
    int n, room;
};

static void todo_add(struct todo *todo, struct value *value)
{
    if (todo->n == todo->room) {
        const int room = todo->room ? 2 * todo->room : 16;
        struct value **at = arena_array(todo->arena, struct value *, room);

        for (int i = 0; i < todo->n; i++)
            at[i] = todo->at[i];
        todo->at = at;
        todo->room = room;
    }
    todo->at[todo->n++] = value;
}

static void infer_anew(struct node *node, struct todo *todo)
{
    struct type *before = arena_array(todo->arena, struct type, node->n_outputs);

    for (int i = 0; i < node->n_outputs; i++)
        before[i] = node->outputs[i]->type;
    if (!node_infer(node->fn->module->ctx, node))
        return;
    for (int i = 0; i < node->n_outputs; i++)
        if (!type_equal(&before[i], &node->outputs[i]->type))
            todo_add(todo, node->outputs[i]);
}

void infer_readers(struct value *value)
{
    struct todo todo = { .arena = &value->fn->module->ctx->scratch };

    todo_add(&todo, value);
    while (todo.n > 0)
        for (struct use *use = todo.at[--todo.n]->uses; use; use = use->next)
            infer_anew(use->node, &todo);
}
