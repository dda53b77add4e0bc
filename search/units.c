#include "search/units.h"

#include <string.h>

#include "quantize/steps.h"
#include "relay_ir/macs.h"

/* Before the empty ones are left out. */
struct gathering {
    struct ctx *ctx;
    struct function *fn;
    int *unit_of; /* by node->id; -1 = of none (views) */
    int n;
    struct unit *at;
    const struct node **anchor; /* [n] */
    bool *takes;                /* [n]: something can be stored small */
};

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

/* As qtable_find looks for it. */
static const char *row_name(const struct node *node)
{
    for (const struct origin *o = node->origin; o; o = o->next)
        if (o->name && *o->name)
            return o->name;
    return node->outputs[0]->name;
}

/* --- which nodes ------------------------------------------------------------------------------ */

/* The unit of the region, or of an earlier node of the same name. */
static void number_units(struct gathering *g, const void **group_of)
{
    struct map by_name = { .arena = &g->ctx->scratch };
    const void **groups = arena_array(&g->ctx->scratch, const void *, g->fn->n_nodes);

    for (const struct node *node = g->fn->first; node; node = node->next) {
        int unit = -1;

        g->unit_of[node->id] = -1;
        if (is_view(node) || !group_of[node->id])
            continue;
        for (int i = g->n - 1; i >= 0 && unit < 0; i--)
            if (groups[i] == group_of[node->id])
                unit = i;
        if (unit < 0 && map_get(&by_name, row_name(node)))
            unit = *(int *)map_get(&by_name, row_name(node));
        if (unit < 0) {
            unit = g->n++;
            groups[unit] = group_of[node->id];
        }
        g->unit_of[node->id] = unit;
        map_set(&by_name, row_name(node), &g->unit_of[node->id]);
    }
}

static bool add_name(struct arena *arena, int *n, const char ***list, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (strcmp((*list)[i], name) == 0)
            return false;
    if ((*n & (*n - 1)) == 0) { /* a power of two, or none: time to grow */
        const char **more = arena_array(arena, const char *, *n ? 2 * *n : 1);

        if (*n)
            memcpy(more, *list, (size_t)*n * sizeof *more);
        *list = more;
    }
    (*list)[(*n)++] = name;
    return true;
}

/* --- what they read --------------------------------------------------------------------------- */

/* The node that computes a value, seen through views. */
static const struct node *maker_of(const struct value *value)
{
    while (value->def && is_view(value->def))
        value = value->def->inputs[0];
    return value->def;
}

static int unit_of_value(const struct gathering *g, const struct value *value)
{
    const struct node *maker = maker_of(value);

    return maker ? g->unit_of[maker->id] : -1;
}

static void add_next(struct arena *arena, struct unit *unit, int next)
{
    int *more, at = 0;

    for (int i = 0; i < unit->n_next; i++)
        if (unit->next[i] == next)
            return;
    more = arena_array(arena, int, unit->n_next + 1);
    while (at < unit->n_next && unit->next[at] < next)
        at++;
    if (unit->n_next) {
        memcpy(more, unit->next, (size_t)at * sizeof *more);
        memcpy(more + at + 1, unit->next + at, (size_t)(unit->n_next - at) * sizeof *more);
    }
    more[at] = next;
    unit->next = more;
    unit->n_next++;
}

/* Data of 8 bits is what most can be asked for: fp8 and int8 together read whatever any mode does.
 */
static bool may_read_small(const struct node *node, int input)
{
    const struct precision integers = { .mode = PRECISION_INT8, .has_data = true };

    return reads_quantized(node, input, &integers);
}

static void look_at_inputs(struct gathering *g, const struct node *node, int unit)
{
    struct arena *arena = &g->ctx->perm;

    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        if (!value || value->kind == VALUE_CONSTANT || value->type.dtype != DTYPE_F32)
            continue;
        if (unit_of_value(g, value) != unit && unit_of_value(g, value) >= 0)
            add_next(arena, &g->at[unit_of_value(g, value)], unit);
        if (unit_of_value(g, value) == unit || !may_read_small(node, i))
            continue;
        add_name(arena, &g->at[unit].n_reads, &g->at[unit].reads, data_scale_source(value)->name);
        g->takes[unit] = true;
    }
}

/* Whether somebody outside of the unit reads it. */
static bool escapes(const struct gathering *g, const struct value *value, int unit)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node->op == OP_RETURN ||
            (is_view(use->node) ? escapes(g, use->node->outputs[0], unit)
                                : g->unit_of[use->node->id] != unit))
            return true;
    return false;
}

static void look_at(struct gathering *g, const struct node *node)
{
    struct arena *arena = &g->ctx->perm;
    const int index = g->unit_of[node->id];
    struct unit *unit;

    if (index < 0)
        return;
    unit = &g->at[index];
    unit->macs += node_macs(node);
    if (!g->anchor[index] || (is_product(node->op) && !is_product(g->anchor[index]->op)))
        g->anchor[index] = node;
    if (is_product(node->op) && node->inputs[1]->kind == VALUE_CONSTANT &&
        node->inputs[1]->type.dtype == DTYPE_F32) {
        unit->n_weights += type_elements(&node->inputs[1]->type);
        g->takes[index] = true;
    }
    add_name(arena, &unit->n_rows, &unit->rows, row_name(node));
    look_at_inputs(g, node, index);
    for (int i = 0; i < node->n_outputs; i++)
        if (escapes(g, node->outputs[i], index))
            add_name(arena, &unit->n_results, &unit->results, node->outputs[i]->name);
}

static void name_unit(struct unit *unit, const struct node *anchor)
{
    unit->op = anchor->op;
    unit->name = row_name(anchor);
    for (int i = 1; i < unit->n_rows; i++)
        if (strcmp(unit->rows[i], unit->name) == 0) {
            const char *first = unit->rows[0];

            unit->rows[0] = unit->rows[i];
            unit->rows[i] = first;
        }
}

/* Those that nothing can be decided about go; readers of theirs are no neighbours of anybody. */
static struct units keep_those_that_take(struct gathering *g)
{
    struct units units = { .at = g->at };
    int *new_number = arena_array(&g->ctx->scratch, int, g->n);

    for (int i = 0; i < g->n; i++) {
        new_number[i] = g->takes[i] ? units.n : -1;
        if (!g->takes[i])
            continue;
        name_unit(&g->at[i], g->anchor[i]);
        units.at[units.n++] = g->at[i];
    }
    for (int i = 0; i < units.n; i++) {
        struct unit *unit = &units.at[i];
        int n = 0;

        for (int k = 0; k < unit->n_next; k++)
            if (new_number[unit->next[k]] >= 0)
                unit->next[n++] = new_number[unit->next[k]];
        unit->n_next = n;
    }
    return units;
}

struct units units_of(struct ctx *ctx, struct module *module)
{
    struct gathering g = { .ctx = ctx, .fn = module->main };
    const void **groups = fuse_ops_groups(module);
    const int n = module->main->n_nodes;

    g.unit_of = arena_array(&ctx->perm, int, n);
    g.at = arena_array(&ctx->perm, struct unit, n);
    g.anchor = arena_array(&ctx->perm, const struct node *, n);
    g.takes = arena_array(&ctx->perm, bool, n);
    number_units(&g, groups);
    for (const struct node *node = g.fn->first; node; node = node->next)
        look_at(&g, node);
    return keep_those_that_take(&g);
}
