/* flatten.c - feature maps that become the input of dense layers: rather than the map, the weights
 * are given in another order. */
#include <string.h>

#include "relay_ir/passes/layout/plan.h"

enum { MOST_STEPS = 8 }; /* element-wise nodes between the view and a dense layer */

/* Whether the node multiplies the matrix that is its input 0 with constant weights, whose order of
 * rows (columns of matmul's b) can be changed. */
static bool is_dense_layer(const struct node *node, int input)
{
    const struct value *w = node->n_inputs > 1 ? node->inputs[1] : NULL;

    if (input != 0 || !w || w->kind != VALUE_CONSTANT || w->type.rank != 2 ||
        type_has_blocks(&w->type))
        return false;
    switch (node->op) {
    case OP_DENSE:
    case OP_QNN_DENSE: return true;
    case OP_MATMUL:
    case OP_QNN_MATMUL: return !node->attrs.matmul.transpose_a;
    default: return false;
    }
}

/* An element-wise node that treats all elements alike. */
static bool treats_alike(const struct node *node, int input)
{
    if (!op_is_elementwise(node->op) || node->n_outputs != 1 || input != 0)
        return false;
    for (int i = 1; i < node->n_inputs; i++)
        if (!node->inputs[i] || node->inputs[i]->kind != VALUE_CONSTANT ||
            type_elements(&node->inputs[i]->type) != 1)
            return false;
    return true;
}

static bool visit_readers(const struct value *flat, int steps,
                          bool (*visit)(void *user, struct node *dense), void *user)
{
    bool ok = flat->uses && steps < MOST_STEPS;

    for (const struct use *use = flat->uses; use && ok; use = use->next) {
        if (use->node->op != OP_RETURN && is_dense_layer(use->node, use->input))
            ok = !visit || visit(user, use->node);
        else
            ok = use->node->op != OP_RETURN && treats_alike(use->node, use->input) &&
                 visit_readers(use->node->outputs[0], steps + 1, visit, user);
    }
    return ok;
}

bool plan_dense_readers(const struct value *flat, bool (*visit)(void *user, struct node *dense),
                        void *user)
{
    return visit_readers(flat, 0, visit, user);
}

bool plan_is_flattening(const struct node *view)
{
    const struct type *x = &view->inputs[0]->type, *y = &view->outputs[0]->type;

    return y->rank == 2 && x->rank >= 3 && x->dim[0] == y->dim[0] && type_elements(x) > 0 &&
           visit_readers(view->outputs[0], 0, NULL, NULL);
}
