/* origin.c - which nodes of the user's model a node stands for. */
#include <string.h>

#include "relay_ir/ir.h"

/* Reports need no more. Without a limit, joining along a chain of thousands of nodes would fill the
 * memory with the squares of their number. */
enum { MAX_ORIGINS = 100 };

static bool origin_in(const struct origin *list, const struct origin *wanted)
{
    for (; list; list = list->next)
        if (list->index == wanted->index && strcmp(list->name, wanted->name) == 0 &&
            strcmp(list->op_type, wanted->op_type) == 0)
            return true;
    return false;
}

const struct origin *origin_join(struct module *module, const struct origin *a,
                                 const struct origin *b)
{
    const struct origin *first = NULL;
    const struct origin **end = &first;

    if (!a || !b || a == b)
        return a ? a : b;
    for (int n = 0; (a || b) && n < MAX_ORIGINS;) {
        const struct origin **from = !b || (a && a->index <= b->index) ? &a : &b;

        if (!origin_in(first, *from)) {
            /* a diagnostic may outlive the module */
            struct origin *copy = arena_new(&module->ctx->perm, struct origin);

            *copy = **from;
            copy->next = NULL;
            *end = copy;
            end = &copy->next;
            n++;
        }
        *from = (*from)->next;
    }
    return first;
}

const struct origin *node_origin(const struct node *node)
{
    struct origin *made;

    if (node->origin)
        return node->origin;
    /* as above */
    made = arena_new(&node->fn->module->ctx->perm, struct origin);
    made->name =
        node->n_outputs ? arena_strdup(&node->fn->module->ctx->perm, node->outputs[0]->name) : "";
    made->op_type = op_name(node->op);
    made->index = -1;
    return made;
}
