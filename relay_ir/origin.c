/* origin.c - which nodes of the user's model a node stands for. */
#include <string.h>

#include "relay_ir/ir.h"

/* Reports need no more. Without a limit, joining along a chain of thousands of nodes would fill the
 * memory with the squares of their number. */
enum { MAX_ORIGINS = 100 };

static bool origin_equal(const struct origin *a, const struct origin *b)
{
    return a->index == b->index && strcmp(a->name, b->name) == 0 &&
           strcmp(a->op_type, b->op_type) == 0;
}

static bool origin_in(const struct origin *list, const struct origin *wanted)
{
    for (; list; list = list->next)
        if (origin_equal(list, wanted))
            return true;
    return false;
}

/* Whether the join of both is the first as it is: what the second has is there, or comes behind a
 * list that is full. Then nothing need be copied, as along a chain of thousands of nodes. */
static bool origin_covers(const struct origin *all, const struct origin *more)
{
    int n = 0;

    for (const struct origin *at = all; at; at = at->next, n++)
        while (more && origin_equal(at, more))
            more = more->next;
    if (!more || n < MAX_ORIGINS)
        return !more;
    while (all->next)
        all = all->next;
    return all->index < more->index;
}

void origin_imported(struct module *module, const struct origin *origin)
{
    if (*origin->name)
        map_set(&module->imported, origin->name, module);
    if (origin->output)
        map_set(&module->imported, origin->output, module);
}

const struct origin *origin_join(struct module *module, const struct origin *a,
                                 const struct origin *b)
{
    const struct origin *first = NULL;
    const struct origin **end = &first;

    if (!a || !b || a == b)
        return a ? a : b;
    if (origin_covers(a, b))
        return a;
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
