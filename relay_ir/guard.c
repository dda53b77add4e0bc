/* guard.c - see guard.h. Backwards through the function: what all readers of a node demand before
 * they need it, it demands as well. */
#include "relay_ir/guard.h"

#include <stdlib.h>

enum { MOST_GUARDS = 16 }; /* of one node; it only runs more often without the others */

/* While they are found: sorted by condition, no order of nesting yet. */
struct demand {
    bool read; /* by anyone; else it has no guards yet */
    int n;
    struct guard at[MOST_GUARDS];
};

static const struct value *behind_views(const struct value *value)
{
    while (value->def && op_row(value->def->op)->pattern == PATTERN_VIEW)
        value = value->def->inputs[0];
    return value;
}

/* The `if` that the node is, or that its callee is all of; NULL = none. */
static const struct node *choice_of(const struct node *node)
{
    if (node->op == OP_CALL)
        node = node->callee->first && node->callee->first == node->callee->last
                   ? node->callee->first
                   : NULL;
    return node && node->op == OP_IF ? node : NULL;
}

/* What `value`, an operand of the node's `if`, is outside of the callee. */
static const struct value *outside(const struct node *node, const struct value *value)
{
    return node->op == OP_CALL && value->kind == VALUE_PARAM ? node->inputs[value->index] : value;
}

/* Whether the read is that of one side of an `if`: then what that side demands. */
static bool reads_side(const struct use *use, struct guard *guard)
{
    const struct node *choice = choice_of(use->node);
    int input = use->input;

    if (choice && choice != use->node) {
        const struct use *inside = use->node->callee->params[input]->uses;

        if (!inside || inside->next)
            return false;
        input = inside->input;
    }
    if (!choice || input == 0 || choice->inputs[0]->kind == VALUE_CONSTANT)
        return false;
    *guard = (struct guard){ behind_views(outside(use->node, choice->inputs[0])), input == 1 };
    return guard->condition->kind != VALUE_CONSTANT;
}

static int compare(const void *a, const void *b)
{
    const struct guard *x = a, *y = b;

    if (x->condition->id != y->condition->id)
        return x->condition->id < y->condition->id ? -1 : 1;
    return (x->when > y->when) - (x->when < y->when);
}

static void add(struct demand *demand, const struct guard *guard)
{
    for (int i = 0; i < demand->n; i++)
        if (compare(&demand->at[i], guard) == 0)
            return;
    if (demand->n == MOST_GUARDS)
        return;
    demand->at[demand->n++] = *guard;
    qsort(demand->at, (size_t)demand->n, sizeof *demand->at, compare);
}

/* What both demand. */
static void intersect(struct demand *all, const struct demand *one)
{
    int n = 0, k = 0;

    for (int i = 0; i < all->n; i++) {
        while (k < one->n && compare(&one->at[k], &all->at[i]) < 0)
            k++;
        if (k < one->n && compare(&one->at[k], &all->at[i]) == 0)
            all->at[n++] = all->at[i];
    }
    all->n = n;
}

static void demand_of(struct demand *demands, const struct node *node)
{
    struct demand *demand = &demands[node->id];

    for (int i = 0; i < node->n_outputs; i++)
        for (const struct use *use = node->outputs[i]->uses; use; use = use->next) {
            const bool is_result = use->node == node->fn->ret;
            struct demand one = { .read = is_result };
            struct guard guard;

            if (!is_result)
                one = demands[use->node->id];
            if (!one.read)
                continue;
            if (reads_side(use, &guard))
                add(&one, &guard);
            if (demand->read)
                intersect(demand, &one);
            else
                *demand = one;
        }
}

/* Conditions come in the order in which they are computed: an outer one is needed for an inner. */
static int by_place(const void *a, const void *b)
{
    const struct guard *x = a, *y = b;
    const int p = x->condition->def ? x->condition->def->id : -1;
    const int q = y->condition->def ? y->condition->def->id : -1;

    return p != q ? (p < q ? -1 : 1) : compare(a, b);
}

static bool chooses(const struct function *fn)
{
    for (const struct node *node = fn->first; node; node = node->next)
        if (choice_of(node))
            return true;
    return false;
}

const struct guards *guards_find(struct arena *arena, const struct function *fn)
{
    struct arena scratch = { NULL };
    struct guards *guards;
    struct demand *demands;

    if (!chooses(fn))
        return NULL;
    guards = arena_array(arena, struct guards, fn->n_nodes);
    demands = arena_array(&scratch, struct demand, fn->n_nodes);
    for (const struct node *node = fn->last; node; node = node->prev) {
        struct demand *demand = &demands[node->id];

        demand_of(demands, node);
        if (!demand->read || demand->n == 0)
            continue;
        guards[node->id].n = demand->n;
        guards[node->id].at =
            arena_memdup(arena, demand->at, (size_t)demand->n * sizeof *demand->at);
        qsort(guards[node->id].at, (size_t)demand->n, sizeof *demand->at, by_place);
    }
    arena_release(&scratch);
    return guards;
}
