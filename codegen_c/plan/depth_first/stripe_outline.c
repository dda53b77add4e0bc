/* stripe_outline.c - striped regions become one call of a function of calls, and back.
 *
 * needs    main as fuse_ops leaves it; choices of regions that follow each other
 * gives    main in which each choice is one call; the regions' functions are as they were */
#include "codegen_c/core/stripe.h"

#include <string.h>

#include "relay_ir/outline.h"

bool is_striped(const struct function *fn)
{
    return fn->composite && strcmp(fn->composite, STRIPES_COMPOSITE) == 0;
}

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

struct stripes stripes_of(struct arena *arena, struct function *fn)
{
    struct stripes stripes = { 0 };
    struct row_region *regions;

    for (const struct node *node = fn->first; node; node = node->next)
        stripes.n++;
    regions = arena_array(arena, struct row_region, stripes.n);
    stripes.n = 0;
    for (struct node *node = fn->first; node; node = node->next)
        regions[stripes.n++] = rows_of_region(arena, node);
    stripes.regions = regions;
    stripes_link(arena, &stripes);
    return stripes;
}

/* Calls of main, in their order. */
static struct node **list_calls(struct function *main, struct arena *arena, int *n)
{
    struct node **calls;

    *n = 0;
    for (struct node *node = main->first; node; node = node->next)
        *n += node->op == OP_CALL;
    calls = arena_array(arena, struct node *, *n);
    *n = 0;
    for (struct node *node = main->first; node; node = node->next)
        if (node->op == OP_CALL)
            calls[(*n)++] = node;
    return calls;
}

static bool is_one_of(const struct node *node, struct node *const *calls, int n)
{
    for (int i = 0; i < n; i++)
        if (calls[i] == node)
            return true;
    return false;
}

static bool is_read_outside(const struct value *value, struct node *const *calls, int n)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (!is_one_of(use->node, calls, n))
            return true;
    return false;
}

/* Views of what the calls make, which stand between them. */
static void move_views_behind(struct node *const *calls, int n)
{
    struct node *const behind = calls[n - 1]->next;

    for (struct node *node = calls[0], *next; node != calls[n - 1]; node = next) {
        next = node->next;
        if (!is_view(node))
            continue;
        for (const struct node *from = node; from; from = from->inputs[0]->def)
            if (is_one_of(from, calls, n)) {
                node_move_before(node, behind);
                break;
            } else if (!is_view(from)) {
                break;
            }
    }
}

static bool outline_calls(struct module *module, struct node *const *calls, int n, int64_t parts)
{
    struct arena *scratch = &module->ctx->scratch;
    const char *name = calls[n - 1]->outputs[0]->name;
    struct function *fn = function_new(module, arena_printf(&module->arena, "%s.stripes", name));
    const struct origin *origin = NULL;
    struct value **outer, **results;
    struct node *call;
    int n_inputs = 0, n_results = 0;

    fn->compiler = "c";
    fn->composite = STRIPES_COMPOSITE;
    fn->n_stripes = parts;
    for (int i = 0; i < n; i++)
        n_inputs += calls[i]->n_inputs;
    outer = arena_array(scratch, struct value *, n_inputs);
    results = arena_array(scratch, struct value *, n);
    for (int i = 0; i < n; i++) {
        if (!node_outline(fn, calls[i], outer))
            return false;
        origin = origin_join(module, origin, calls[i]->origin);
        if (!is_read_outside(calls[i]->outputs[0], calls, n))
            continue;
        result_add(fn, fn->last->outputs[0], calls[i]->outputs[0]->name);
        results[n_results++] = calls[i]->outputs[0];
    }
    move_views_behind(calls, n);
    call = node_new(module->main, &(struct node_args){ .op = OP_CALL,
                                                       .n_inputs = fn->n_params,
                                                       .inputs = outer,
                                                       .n_outputs = n_results,
                                                       .origin = origin,
                                                       .callee = fn,
                                                       .before = calls[n - 1]->next });
    if (!call)
        return false;
    /* Inside, the values keep their names; here, only the results have any. */
    for (int i = 0; i < n_results; i++)
        value_supplant(results[i], call->outputs[i]);
    for (int i = n; i-- > 0;)
        node_remove(calls[i]);
    return true;
}

/* A plan with stripes may have put main into another order, which stays when they are inlined. */
static void restore_order(struct function *main, const struct stripe_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct value *value = map_get(&main->names, plan->order[i]);

        if (value && value->def)
            node_move_before(value->def, NULL);
    }
}

bool stripes_outline(struct module *module, const struct stripe_plan *plan)
{
    struct arena *scratch = &module->ctx->scratch;
    struct node **calls;
    bool ok = true;
    int n;

    restore_order(module->main, plan);
    calls = list_calls(module->main, scratch, &n);

    for (int i = 0; i < plan->n && ok; i++)
        ok = outline_calls(module, &calls[plan->at[i].first],
                           plan->at[i].last - plan->at[i].first + 1, plan->at[i].parts);
    return ok;
}

static struct value *outside_value(const struct value *inner, const struct node *call,
                                   const struct map *made)
{
    return inner->kind == VALUE_PARAM ? call->inputs[inner->index] : map_get(made, inner->name);
}

static bool inline_call(struct module *module, struct node *call)
{
    struct arena *scratch = &module->ctx->scratch;
    struct map made = { .arena = scratch };
    const struct function *fn = call->callee;

    for (const struct node *node = fn->first; node; node = node->next) {
        struct value **inputs = arena_array(scratch, struct value *, node->n_inputs);
        struct node *copy;

        for (int i = 0; i < node->n_inputs; i++)
            inputs[i] = outside_value(node->inputs[i], call, &made);
        copy = node_copy(module->main, node, inputs, call);
        if (!copy)
            return false;
        map_set(&made, node->outputs[0]->name, copy->outputs[0]);
    }
    for (int i = 0; i < call->n_outputs; i++)
        value_supplant(call->outputs[i], map_get(&made, fn->ret->inputs[i]->name));
    node_remove(call);
    return true;
}

bool stripes_inline(struct module *module)
{
    bool ok = true;

    for (struct node *node = module->main->first, *next; node && ok; node = next) {
        next = node->next;
        if (node->op == OP_CALL && is_striped(node->callee))
            ok = inline_call(module, node);
    }
    return ok;
}
