#include "relay_ir/validate/cost.h"

#include <math.h>

#include "relay_ir/macs.h"

enum { MOST_DEPTH = 200 }; /* of calls; beyond it nothing is evaluated */

static bool reads_constants_only(const struct node *node, const bool *is_constant)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT &&
            !is_constant[node->inputs[i]->id])
            return false;
    return true;
}

static void add_cost(struct cost *sum, const struct cost *more)
{
    sum->work += more->work;
    sum->bytes += more->bytes;
    sum->constant_bytes += more->constant_bytes;
    sum->n_nodes += more->n_nodes;
}

/* Of the functions that are looked at already, each with what it calls. */
struct known {
    struct arena *arena;
    int n;
    const struct function **fns;
    struct cost *costs;
    int depth;
};

static struct cost function_cost(struct known *known, struct function *fn);

static void add_node(struct cost *cost, struct known *known, const struct node *node,
                     bool *is_constant)
{
    const bool constant = reads_constants_only(node, is_constant);

    cost->n_nodes++;
    cost->work += (double)node_macs(node);
    for (int i = 0; i < node->n_outputs; i++) {
        const double bytes = (double)type_bytes(&node->outputs[i]->type);

        is_constant[node->outputs[i]->id] = constant;
        cost->work += (double)type_elements(&node->outputs[i]->type);
        cost->bytes += bytes;
        cost->constant_bytes += constant ? bytes : 0;
    }
    if (node->op == OP_CALL) {
        const struct cost called = function_cost(known, node->callee);

        add_cost(cost, &called);
    }
}

/* Each call counts all that it runs: functions that call the next one twice are few lines, and cost
 * 2^n. */
static struct cost function_cost(struct known *known, struct function *fn)
{
    struct cost cost = { 0 };
    bool *is_constant;

    for (int i = 0; i < known->n; i++)
        if (known->fns[i] == fn)
            return known->costs[i];
    if (known->depth == MOST_DEPTH)
        return (struct cost){ .n_nodes = HUGE_VAL };
    known->depth++;
    function_number(fn);
    is_constant = arena_array(known->arena, bool, fn->n_values);
    for (int i = 0; i < fn->n_params; i++) {
        cost.work += (double)type_elements(&fn->params[i]->type);
        cost.bytes += (double)type_bytes(&fn->params[i]->type);
    }
    for (const struct node *node = fn->first; node; node = node->next)
        add_node(&cost, known, node, is_constant);
    known->depth--;
    known->fns[known->n] = fn;
    known->costs[known->n++] = cost;
    return cost;
}

struct cost network_cost(struct module *module)
{
    struct arena arena = { NULL };
    struct known known = { .arena = &arena };
    struct cost cost;
    int n = 0;

    for (const struct function *fn = module->functions; fn; fn = fn->next)
        n++;
    known.fns = arena_array(&arena, const struct function *, n);
    known.costs = arena_array(&arena, struct cost, n);
    cost = function_cost(&known, module->main);
    arena_release(&arena);
    return cost;
}
