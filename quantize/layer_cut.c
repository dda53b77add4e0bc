#include "quantize/layer_cut.h"

#include <assert.h>

#include "base/str.h"
#include "relay_ir/products.h"

/* What is found out about a function, by the ids of nodes and values. */
struct analysis {
    struct ctx *ctx;
    struct function *fn;
    struct layer_cut *cut;
    int from;        /* nodes up to this id were behind the cut before */
    bool *needed;    /* [n_nodes] by this product or a later one */
    bool *constant;  /* [n_values] depends on constants only */
    bool *collected; /* [n_values] */
};

static bool is_read_by_needed(const struct analysis *a, const struct value *value, int from)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node != a->fn->ret && use->node->id > from && a->needed[use->node->id])
            return true;
    return false;
}

static void find_needed(struct analysis *a, struct node *const *products, int n)
{
    for (int i = 0; i < n; i++)
        a->needed[products[i]->id] = true;
    for (const struct node *node = a->fn->last; node; node = node->prev)
        for (int i = 0; i < node->n_outputs && !a->needed[node->id]; i++)
            a->needed[node->id] = is_read_by_needed(a, node->outputs[i], -1);
}

static void find_constant(struct analysis *a)
{
    for (const struct value *c = a->fn->constants; c; c = c->next)
        a->constant[c->id] = true;
    for (const struct node *node = a->fn->first; node; node = node->next) {
        bool all = !is_product(node->op); /* one of constants is looked at like all others */

        for (int i = 0; i < node->n_inputs; i++)
            all = all && (!node->inputs[i] || a->constant[node->inputs[i]->id]);
        for (int i = 0; i < node->n_outputs; i++)
            a->constant[node->outputs[i]->id] = all;
    }
}

static void find_live(struct analysis *a, struct live *live)
{
    const int at = a->cut->product->id;
    struct function *fn = a->fn;

    *live = (struct live){ .values = arena_array(&a->cut->arena, struct value *, fn->n_values) };
    for (int i = 0; i < fn->n_params; i++)
        if (is_read_by_needed(a, fn->params[i], at))
            live->values[live->n++] = fn->params[i];
    for (const struct node *node = fn->first; node && node->id <= at; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            if (!a->constant[node->outputs[i]->id] && is_read_by_needed(a, node->outputs[i], at))
                live->values[live->n++] = node->outputs[i];
    for (int i = 0; i < live->n; i++)
        live->bytes += type_bytes(&live->values[i]->type);
}

/* The payload of what depends on constants only, computed once for all cuts. */
static bool know_constant(struct analysis *a, const struct value *value, struct part_constant *out)
{
    struct layer_cut *cut = a->cut;
    struct part_constant *known = map_get(&cut->known, value->name);

    if (!known) {
        known = arena_new(&cut->constants, struct part_constant);
        known->value = value;
        if (!interpret_constant(a->ctx, value, INT64_MAX, &cut->payloads, &known->tensor))
            return diag_error(a->ctx, DIAG_ENGINE, node_origin(value->def),
                              "'%s' depends on constants only, but cannot be computed",
                              str_safe(&a->ctx->perm, value->name, 200));
        map_set(&cut->known, value->name, known);
    }
    *out = *known;
    return true;
}

static bool collect_constants(struct analysis *a, const struct node *node, struct part_plan *plan)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (!value || value->kind == VALUE_CONSTANT || !a->constant[value->id] ||
            a->collected[value->id])
            continue;
        a->collected[value->id] = true;
        if (!know_constant(a, value, &plan->constants[plan->n_constants++]))
            return false;
    }
    return true;
}

/* The nodes behind `from` up to the product. */
static bool make_plan(struct analysis *a, int from, struct part_plan *plan)
{
    struct layer_cut *cut = a->cut;
    const struct live *after = &cut->after;

    *plan = (struct part_plan){ .n_nodes = 0 };
    plan->nodes = arena_array(&cut->arena, const struct node *, a->fn->n_nodes);
    plan->constants = arena_array(&cut->arena, struct part_constant, a->fn->n_values);
    plan->results = arena_array(&cut->arena, struct value *, after->n + 1);
    a->collected = arena_array(&cut->arena, bool, a->fn->n_values);
    for (const struct node *node = a->fn->first; node && node->id <= cut->product->id;
         node = node->next) {
        if (node->id <= from || !a->needed[node->id] || a->constant[node->outputs[0]->id])
            continue;
        plan->nodes[plan->n_nodes++] = node;
        if (!collect_constants(a, node, plan))
            return false;
    }
    plan->results[plan->n_results++] = cut->product->outputs[0];
    for (int i = 0; i < after->n; i++)
        if (after->values[i] != cut->product->outputs[0] && after->values[i]->def &&
            after->values[i]->def->id > from)
            plan->results[plan->n_results++] = after->values[i];
    return true;
}

bool layer_cut(struct ctx *ctx, struct function *fn, struct node *const *products, int n_products,
               struct layer_cut *cut)
{
    struct analysis a = { .ctx = ctx, .fn = fn, .cut = cut, .from = -1 };
    struct arena old = cut->arena;
    bool ok;

    function_number(fn);
    if (cut->product)
        a.from = cut->product->id;
    cut->arena = (struct arena){ NULL };
    cut->known.arena = &cut->constants;
    cut->before = cut->after; /* its values are of the old arena */
    cut->before.values = arena_array(&cut->arena, struct value *, cut->after.n);
    for (int i = 0; i < cut->after.n; i++)
        cut->before.values[i] = cut->after.values[i];
    arena_release(&old);
    cut->product = products[0];
    a.needed = arena_array(&cut->arena, bool, fn->n_nodes);
    a.constant = arena_array(&cut->arena, bool, fn->n_values);
    find_needed(&a, products, n_products);
    find_constant(&a);
    find_live(&a, &cut->after);
    ok = make_plan(&a, a.from, &cut->next) && make_plan(&a, -1, &cut->whole);
    return ok;
}

void layer_cut_free(struct layer_cut *cut)
{
    bulk_release(&cut->payloads);
    arena_release(&cut->constants);
    arena_release(&cut->arena);
}

int live_find(const struct live *live, const struct value *value)
{
    int i = 0;

    while (i < live->n && live->values[i] != value)
        i++;
    assert(i < live->n);
    return i;
}
