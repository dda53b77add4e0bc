/* order.c - a stack of its own instead of recursion: the graph may be as deep as it has nodes. */
#include "relay_ir/order.h"

#include <assert.h>

enum { NOT_PLACED, UNDER_WAY, PLACED };

struct sorting {
    const struct guards *guards; /* by node id, NULL = none; computed before what they guard */
    unsigned char *state;        /* by node id */
    int *next_input;
    struct node **stack;
    int depth;
};

static void push(struct sorting *sorting, struct node *node)
{
    assert(sorting->state[node->id] == NOT_PLACED); /* else they read each other */
    sorting->state[node->id] = UNDER_WAY;
    sorting->stack[sorting->depth++] = node;
}

/* Moves the node to the end of its function, behind all that it needs. */
static void place(struct sorting *sorting, struct node *node)
{
    push(sorting, node);
    while (sorting->depth > 0) {
        struct node *top = sorting->stack[sorting->depth - 1];
        const int i = sorting->next_input[top->id]++;

        const int n_guards = sorting->guards ? sorting->guards[top->id].n : 0;

        if (i < top->n_inputs + n_guards) {
            const struct value *value =
                i < top->n_inputs ? top->inputs[i]
                                  : sorting->guards[top->id].at[i - top->n_inputs].condition;
            struct node *def = value ? value->def : NULL;

            if (def && sorting->state[def->id] != PLACED)
                push(sorting, def);
        } else {
            sorting->depth--;
            sorting->state[top->id] = PLACED;
            node_move_before(top, NULL);
        }
    }
}

void function_sort(struct function *fn)
{
    function_sort_guarded(fn, NULL);
}

void function_sort_guarded(struct function *fn, const struct guards *guards)
{
    struct sorting sorting = { .guards = guards };
    struct arena arena = { NULL };
    struct node **order;
    int n = 0;

    function_number(fn);
    sorting.state = arena_array(&arena, unsigned char, fn->n_nodes);
    sorting.next_input = arena_array(&arena, int, fn->n_nodes);
    sorting.stack = arena_array(&arena, struct node *, fn->n_nodes);
    order = arena_array(&arena, struct node *, fn->n_nodes);
    for (struct node *node = fn->first; node; node = node->next)
        order[n++] = node;
    for (int i = 0; i < n; i++)
        if (sorting.state[order[i]->id] == NOT_PLACED)
            place(&sorting, order[i]);
    function_number(fn);
    arena_release(&arena);
}
