/* partition_outline.c - regions become functions of composite functions, called by main.
 *
 * needs    regions that are convex, candidates of each in topological order; main numbered
 * gives    what the end of partition.h promises; names of the model stay with the values of main
 * method   a call in the place of a region's last node, then a stable topological sort of main:
 *          inputs may be computed behind the region's first node, readers stand before its last */
#include "partition/partition.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/order.h"
#include "relay_ir/outline.h"

enum { MAX_NAME = 48 }; /* of the part of a region's name that comes from the model */

struct outlining {
    struct module *module;
    struct function *fn;
    struct arena *scratch;
    int *region_of;     /* by node id; -1 = the host's. Calls have ids behind those of the nodes */
    struct map names;   /* of functions */
    struct map numbers; /* name -> int *: the number that was last put behind it */
};

/* A region's function while it is made, and what its call in main reads. */
struct region {
    int index;
    struct region_plan *plan;
    struct function *fn;
    const struct origin *origin;
    struct value **outer; /* of main, by parameter */
    int n_results;
    struct value **results; /* of main, that are read outside */
};

/* --- names ------------------------------------------------------------------------------------ */

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) && (unsigned char)c < 128;
}

/* Letters and digits; every run of other characters is one '_' between them. */
static void add_identifier(struct str *out, const char *text)
{
    size_t n = 0;
    bool gap = false;

    for (; *text && n < MAX_NAME; text++) {
        if (is_plain(*text)) {
            if (gap && n)
                str_add(out, "_");
            str_addn(out, text, 1);
            n++;
        }
        gap = !is_plain(*text);
    }
}

/* What the first node is called in the model; a node without a name by operator and place, one that
 * is not of a model by its output. */
static const char *node_name(struct arena *arena, const struct node *node,
                             const struct origin *origin)
{
    if (!origin)
        return node->outputs[0]->name;
    if (*origin->name || origin->index < 0)
        return origin->name;
    return arena_printf(arena, "%s_%ld", origin->op_type, origin->index);
}

/* NAME, NAME_2, NAME_3 ... as far as they are free. The search goes on where it ended the last
 * time: a model may call all its nodes the same. */
static const char *unique_name(struct outlining *o, const char *wanted)
{
    const char *name = wanted;
    int *number = map_get(&o->numbers, wanted);

    if (!number) {
        number = arena_new(o->scratch, int);
        *number = 1;
        map_set(&o->numbers, wanted, number);
    }
    while (map_get(&o->names, name))
        name = arena_printf(o->scratch, "%s_%d", wanted, ++*number);
    return name;
}

static struct function *new_function(struct outlining *o, const char *wanted,
                                     const struct target *target)
{
    struct function *fn = function_new(o->module, unique_name(o, wanted));

    map_set(&o->names, fn->name, fn);
    fn->compiler = arena_strdup(&o->module->arena, target->name);
    return fn;
}

static const char *region_name(struct outlining *o, const struct region *region)
{
    const struct node *first = region->plan->candidates[0]->match.nodes[0];
    struct str name = { .arena = o->scratch };
    size_t n;

    str_printf(&name, "%s_", region->plan->target->name);
    n = name.n;
    add_identifier(&name, node_name(o->scratch, first, region->origin));
    if (name.n == n) /* nothing of it can stand in an identifier */
        str_add(&name, "region");
    return str_text(&name);
}

/* --- composite functions ---------------------------------------------------------------------- */

static int count_inputs(const struct match *match)
{
    int n = 0;

    for (int i = 0; i < match->n_nodes; i++)
        n += match->nodes[i]->n_inputs;
    return n;
}

/* NULL after an error. */
static struct function *make_composite(struct outlining *o, const struct candidate *candidate,
                                       struct value **outer, const struct origin **origin)
{
    const struct match *match = &candidate->match;
    const struct node *root = match->root;
    struct function *fn = new_function(o, root->outputs[0]->name, candidate->row->target);

    assert(match->nodes[match->n_nodes - 1] == root);
    fn->composite = arena_strdup(&o->module->arena, candidate->row->name);
    *origin = NULL;
    for (int i = 0; i < match->n_nodes; i++) {
        if (!node_outline(fn, match->nodes[i], outer))
            return NULL;
        *origin = origin_join(o->module, *origin, match->nodes[i]->origin);
    }
    for (int i = 0; i < root->n_outputs; i++)
        result_add(fn, fn->last->outputs[i], root->outputs[i]->name);
    return fn;
}

/* --- region functions ------------------------------------------------------------------------- */

/* The region's value for one of main: the output of a composite before, or a parameter. */
static struct value *region_value(struct outlining *o, struct region *region, struct value *value)
{
    struct function *fn = region->fn;
    struct value *inner = map_get(&fn->names, value->name);

    if (inner)
        return inner;
    assert(!value->def || o->region_of[value->def->id] != region->index);
    region->outer[fn->n_params] = value;
    return param_new(fn, value->name, &value->type);
}

static bool add_composite(struct outlining *o, struct region *region,
                          const struct candidate *candidate)
{
    const struct node *root = candidate->match.root;
    const int most = count_inputs(&candidate->match);
    struct value **inputs = arena_array(o->scratch, struct value *, most);
    const char **names = arena_array(o->scratch, const char *, root->n_outputs);
    const struct origin *origin;
    struct function *callee = make_composite(o, candidate, inputs, &origin);

    if (!callee)
        return false;
    for (int i = 0; i < callee->n_params; i++)
        inputs[i] = region_value(o, region, inputs[i]);
    for (int i = 0; i < root->n_outputs; i++)
        names[i] = root->outputs[i]->name;
    return node_new(region->fn, &(struct node_args){ .op = OP_CALL,
                                                     .n_inputs = callee->n_params,
                                                     .inputs = inputs,
                                                     .n_outputs = root->n_outputs,
                                                     .names = names,
                                                     .origin = origin,
                                                     .callee = callee }) != NULL;
}

static bool is_read_outside(const struct outlining *o, const struct region *region,
                            const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (o->region_of[use->node->id] != region->index)
            return true;
    return false;
}

static void add_results(struct outlining *o, struct region *region, bool all)
{
    for (int i = 0; i < region->plan->n; i++) {
        const struct node *root = region->plan->candidates[i]->match.root;

        for (int j = 0; j < root->n_outputs; j++) {
            struct value *value = root->outputs[j];

            if (!all && !is_read_outside(o, region, value))
                continue;
            region->results[region->n_results++] = value;
            result_add(region->fn, map_get(&region->fn->names, value->name), value->name);
        }
    }
}

static bool make_region(struct outlining *o, struct region *region)
{
    struct region_plan *plan = region->plan;
    int n_inputs = 0, n_outputs = 0;

    assert(plan->n > 0);
    for (int i = 0; i < plan->n; i++) {
        const struct match *match = &plan->candidates[i]->match;

        n_inputs += count_inputs(match);
        n_outputs += match->root->n_outputs;
        for (int j = 0; j < match->n_nodes; j++)
            region->origin = origin_join(o->module, region->origin, match->nodes[j]->origin);
    }
    region->outer = arena_array(o->scratch, struct value *, n_inputs);
    region->results = arena_array(o->scratch, struct value *, n_outputs);
    region->fn = new_function(o, region_name(o, region), plan->target);
    region->fn->global_symbol = region->fn->name;
    for (int i = 0; i < plan->n; i++)
        if (!add_composite(o, region, plan->candidates[i]))
            return false;
    add_results(o, region, false);
    if (region->n_results == 0)
        add_results(o, region, true); /* nobody reads any of them: nothing may vanish */
    plan->fn = region->fn;
    return true;
}

/* --- main ------------------------------------------------------------------------------------- */

static struct node *last_node(const struct region_plan *plan)
{
    struct node *last = NULL;

    for (int i = 0; i < plan->n; i++)
        if (!last || plan->candidates[i]->match.root->id > last->id)
            last = plan->candidates[i]->match.root;
    return last;
}

/* The call takes the place of the region's nodes. */
static bool replace_region(struct outlining *o, const struct region *region)
{
    const struct region_plan *plan = region->plan;
    struct node *call = node_new(o->fn, &(struct node_args){ .op = OP_CALL,
                                                             .n_inputs = region->fn->n_params,
                                                             .inputs = region->outer,
                                                             .n_outputs = region->n_results,
                                                             .origin = region->origin,
                                                             .callee = region->fn,
                                                             .before = last_node(plan) });

    if (!call)
        return false;
    call->id = o->fn->ret->id + 1 + region->index;
    for (int i = 0; i < region->n_results; i++)
        value_supplant(region->results[i], call->outputs[i]);
    for (int i = plan->n; i-- > 0;)
        for (int j = plan->candidates[i]->match.n_nodes; j-- > 0;)
            node_remove(plan->candidates[i]->match.nodes[j]);
    return true;
}

static void find_regions(struct outlining *o, const struct partition *partition)
{
    const int n = o->fn->n_nodes + 1 + partition->n_regions;

    o->region_of = arena_array(o->scratch, int, n);
    for (int i = 0; i < n; i++)
        o->region_of[i] = -1;
    for (int r = 0; r < partition->n_regions; r++)
        for (int i = 0; i < partition->regions[r].n; i++) {
            const struct match *match = &partition->regions[r].candidates[i]->match;

            for (int j = 0; j < match->n_nodes; j++) {
                assert(o->region_of[match->nodes[j]->id] == -1);
                o->region_of[match->nodes[j]->id] = r;
            }
        }
}

bool partition_outline(struct partition *partition)
{
    struct module *module = partition->module;
    struct outlining o = { .module = module,
                           .fn = partition->fn,
                           .scratch = &module->ctx->scratch,
                           .names = { .arena = &module->ctx->scratch },
                           .numbers = { .arena = &module->ctx->scratch } };

    function_number(o.fn);
    for (struct function *fn = module->functions; fn; fn = fn->next)
        map_set(&o.names, fn->name, fn);
    find_regions(&o, partition);
    for (int r = 0; r < partition->n_regions; r++) {
        struct region region = { .index = r, .plan = &partition->regions[r] };

        if (!make_region(&o, &region) || !replace_region(&o, &region))
            return false;
    }
    function_sort(o.fn);
    return true;
}
