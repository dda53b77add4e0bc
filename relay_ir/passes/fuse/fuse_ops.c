/* fuse_ops.c - groups nodes into region functions, one C function each.
 *
 * needs    views, element-wise nodes and anchors in any order; no dead nodes; decoders of quantised
 *          values (relay_ir/region.h) with one reader each
 * gives    main of calls and reshapes only; regions as pipeline.h promises
 * method   per seed: the longest group of element-wise users out of which one value escapes, then
 *          what only it reads: decoders, and in a chain every element-wise producer */
#include "relay_ir/passes/pipeline.h"

#include <string.h>

#include "base/str.h"
#include "relay_ir/outline.h"
#include "relay_ir/region.h"

struct group {
    struct node *seed; /* the anchor, if there is one */
    int n;
    struct node *nodes[MAX_REGION_NODES]; /* in topological order */
};

/* What the nodes of main belong to, by node id; NULL = not decided, or a view. */
struct fusion {
    struct module *module;
    struct function *fn;
    struct arena *scratch;
    struct group **group_of;
    bool *in_group;   /* of the group that is growing */
    struct map names; /* of functions */
};

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

static bool group_reads(const struct fusion *fusion, const struct value *value)
{
    return value->def && value->def->fn == fusion->fn && fusion->in_group[value->def->id];
}

/* The number of distinct outer values that the group reads, `extra` (may be NULL) included. */
static int count_params(const struct fusion *fusion, const struct group *group,
                        const struct node *extra)
{
    const struct value *seen[MAX_REGION_PARAMS + 1];
    int n = 0;

    for (int i = 0; i < group->n + (extra != NULL); i++) {
        const struct node *node = i < group->n ? group->nodes[i] : extra;

        for (int j = 0; j < node->n_inputs; j++) {
            const struct value *value = node->inputs[j];
            int k = 0;

            if (!value || value->kind == VALUE_CONSTANT || group_reads(fusion, value))
                continue;
            while (k < n && seen[k] != value)
                k++;
            if (k == n)
                seen[n++] = value;
            if (n > MAX_REGION_PARAMS)
                return n;
        }
    }
    return n;
}

/* Whether every use of the value is inside the growing group. A value that nobody reads does not
 * count as inside: nothing may vanish in a region. */
static bool stays_inside(const struct fusion *fusion, const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node->op == OP_RETURN || !fusion->in_group[use->node->id])
            return false;
    return value->uses != NULL;
}

static int count_escapes(const struct fusion *fusion, const struct group *group)
{
    int n = 0;

    for (int i = 0; i < group->n; i++)
        n += !stays_inside(fusion, group->nodes[i]->outputs[0]);
    return n;
}

/* Whether the group gives f32 that another region only decodes: it would rather read the quantised
 * values. Results of the model have to be decoded somewhere. */
static bool ends_decoded(const struct fusion *fusion, const struct group *group)
{
    for (int i = 0; i < group->n; i++)
        if (!stays_inside(fusion, group->nodes[i]->outputs[0]))
            return i > 0 && is_decoder(group->nodes[i]) &&
                   !value_is_result(group->nodes[i]->outputs[0]);
    return false;
}

static bool may_join(const struct fusion *fusion, const struct group *group,
                     const struct node *node)
{
    return op_is_elementwise(node->op) && !fusion->group_of[node->id] &&
           !fusion->in_group[node->id] &&
           type_same_shape(&node->outputs[0]->type, &group->seed->outputs[0]->type) &&
           count_params(fusion, group, node) <= MAX_REGION_PARAMS;
}

/* The first node, in topological order, that may join the group; NULL if there is none. Values with
 * many readers are not followed: they escape anyway. */
static struct node *next_member(const struct fusion *fusion, const struct group *group)
{
    struct node *next = NULL;

    for (int i = 0; i < group->n; i++) {
        int n = 0;

        for (const struct use *use = group->nodes[i]->outputs[0]->uses; use; use = use->next) {
            if (++n > MAX_REGION_NODES)
                return NULL;
            if (use->node->op != OP_RETURN && (!next || use->node->id < next->id) &&
                may_join(fusion, group, use->node))
                next = use->node;
        }
    }
    return next;
}

/* Whether the node converts the value as it reads it, at each input where it does: x of x * x is also
 * the input that is not converted. */
static bool decodes(const struct node *node, const struct value *value)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == value && !op_decodes(node->op, i))
            return false;
    return true;
}

/* Whether the group may compute what its member reads there: an element-wise node of the same
 * shape, in a chain; quantised values are decoded by everyone, whatever their shape, for a decoder
 * reads no more values than its reader would. */
static bool may_take(const struct fusion *fusion, const struct group *group,
                     const struct node *member, int input)
{
    const struct value *value = member->inputs[input];
    const struct node *def = value ? value->def : NULL;

    if (!def || fusion->group_of[def->id] || fusion->in_group[def->id] ||
        !stays_inside(fusion, value))
        return false;
    if (is_decoder(def))
        return op_is_elementwise(member->op) || decodes(member, value);
    return op_is_elementwise(group->seed->op) && may_join(fusion, group, def);
}

/* What only this group reads: computing it here saves its buffer. The group stays free of cycles,
 * since all readers are in it. */
static void take_producers(struct fusion *fusion, struct group *group)
{
    for (int i = 0; i < group->n; i++)
        for (int j = 0; j < group->nodes[i]->n_inputs && group->n < MAX_REGION_NODES; j++) {
            struct node *def;
            int at = group->n;

            if (!may_take(fusion, group, group->nodes[i], j))
                continue;
            def = group->nodes[i]->inputs[j]->def;
            for (; at > 0 && group->nodes[at - 1]->id > def->id; at--)
                group->nodes[at] = group->nodes[at - 1];
            group->nodes[at] = def;
            group->n++;
            fusion->in_group[def->id] = true;
            i = -1; /* the new member has inputs of its own */
            break;
        }
}

/* Grows a group from `seed`. A prefix of it out of which one value escapes is a region without
 * cycles: every member leads to that value, so nothing outside can both depend on it and feed it.
 */
static void grow(struct fusion *fusion, struct node *seed)
{
    struct group *group = arena_new(fusion->scratch, struct group);
    const bool chain = op_is_elementwise(seed->op);
    int best = 1;

    group->seed = seed;
    group->nodes[group->n++] = seed;
    fusion->in_group[seed->id] = true;
    if (chain || op_row(seed->op)->pattern == PATTERN_OUT_FUSABLE) {
        struct node *next;

        while (group->n < MAX_REGION_NODES && (next = next_member(fusion, group))) {
            group->nodes[group->n++] = next;
            fusion->in_group[next->id] = true;
            if (count_escapes(fusion, group) == 1 && !ends_decoded(fusion, group))
                best = group->n;
        }
    }
    while (group->n > best)
        fusion->in_group[group->nodes[--group->n]->id] = false;
    take_producers(fusion, group);
    for (int i = 0; i < group->n; i++) {
        fusion->in_group[group->nodes[i]->id] = false;
        fusion->group_of[group->nodes[i]->id] = group;
    }
}

/* "c.conv2d_bias_add_relu" */
static const char *composite_name(struct module *module, const struct group *group)
{
    struct str name = { .arena = &module->arena };

    str_add(&name, "c.");
    for (int i = 0; i < group->n; i++) {
        const char *op = op_name(group->nodes[i]->op);

        str_printf(&name, "%s%s", i ? "_" : "", str_starts(op, "nn.") ? op + 3 : op);
    }
    return str_text(&name);
}

/* Called as its first result. */
static struct function *region_new(struct fusion *fusion, const struct group *group,
                                   const char *wanted)
{
    struct module *module = fusion->module;
    const char *name = wanted;
    struct function *region;

    for (int i = 2; map_get(&fusion->names, name); i++)
        name = arena_printf(&module->arena, "%s_%d", wanted, i);
    region = function_new(module, name);
    region->compiler = "c";
    region->composite = composite_name(module, group);
    map_set(&fusion->names, region->name, region);
    return region;
}

/* The outputs that the region returns: `wanted` of the node's. */
static int find_results(const struct node *last, struct value **wanted)
{
    int n = 0;

    for (int i = 0; i < last->n_outputs; i++)
        if (last->outputs[i]->uses || !op_leaves_results(last->op))
            wanted[n++] = last->outputs[i];
    if (n == 0) /* nobody reads any of them */
        wanted[n++] = last->outputs[0];
    return n;
}

/* Makes the region, and the call that stands where the group's last node stands. */
static bool outline(struct fusion *fusion, const struct group *group)
{
    struct node *const last = group->nodes[group->n - 1];
    struct value **results = arena_array(fusion->scratch, struct value *, last->n_outputs);
    const int n_results = find_results(last, results);
    struct function *region = region_new(fusion, group, results[0]->name);
    const struct origin *origin = NULL;
    struct value **outer;
    struct node *call;
    int n_inputs = 0;

    for (int i = 0; i < group->n; i++)
        n_inputs += group->nodes[i]->n_inputs;
    outer = arena_array(fusion->scratch, struct value *, n_inputs);
    for (int i = 0; i < group->n; i++) {
        if (!node_outline(region, group->nodes[i], outer))
            return false;
        origin = origin_join(fusion->module, origin, group->nodes[i]->origin);
    }
    for (int i = 0; i < n_results; i++)
        result_add(region, region->last->outputs[results[i]->index], results[i]->name);
    call = node_new(fusion->fn, &(struct node_args){ .op = OP_CALL,
                                                     .n_inputs = region->n_params,
                                                     .inputs = outer,
                                                     .n_outputs = n_results,
                                                     .origin = origin,
                                                     .callee = region,
                                                     .before = last });
    for (int i = 0; call && i < n_results; i++)
        value_supplant(results[i], call->outputs[i]);
    for (int i = group->n; call && i-- > 0;)
        node_remove(group->nodes[i]);
    return call != NULL;
}

/* Views of any kind become reshapes, the one view that engines and code generators know. */
static bool unify_views(struct function *fn)
{
    for (struct node *n = fn->first, *next; n; n = next) {
        union attrs attrs = { .shape = { .shape = { 0 } } };
        struct value *view;

        next = n->next;
        if (!is_view(n) || n->op == OP_RESHAPE)
            continue;
        attrs.shape.shape = ints_of(n->outputs[0]->type.rank, n->outputs[0]->type.dim);
        view = build(fn, OP_RESHAPE, &attrs, n->outputs[0]->name, n->origin, n, 1, n->inputs);
        if (!view)
            return false;
        value_supplant(n->outputs[0], view);
        node_remove(n);
    }
    return true;
}

/* The value whose memory `value` is seen in. */
static struct value *behind_views(struct value *value)
{
    while (value->def && is_view(value->def))
        value = value->def->inputs[0];
    return value;
}

/* Every result gets memory of its own: one that is a parameter, a constant or the memory of an
 * earlier result is copied. */
static bool separate_results(struct fusion *fusion)
{
    struct node *const ret = fusion->fn->ret;
    struct map taken = { .arena = fusion->scratch };

    for (int i = 0; i < ret->n_inputs; i++) {
        struct value *value = ret->inputs[i];
        const struct value *source = behind_views(value);

        if (source->kind != VALUE_OUTPUT || map_get(&taken, source->name)) {
            value = build(fusion->fn, OP_COPY, NULL, fusion->fn->result_names[i], NULL, NULL, 1,
                          &value);
            if (!value)
                return false;
            node_set_input(ret, i, value);
        } else {
            map_set(&taken, source->name, value);
        }
    }
    return true;
}

/* Anchors choose first: an addition belongs to the convolution before it, not to a chain. Decoders
 * come last, when nobody has taken them. */
static int turn_of(const struct node *node)
{
    return !op_is_elementwise(node->op) ? 0 : is_decoder(node) ? 2 : 1;
}

static void choose_groups(struct fusion *fusion)
{
    for (int turn = 0; turn < 3; turn++)
        for (struct node *n = fusion->fn->first; n; n = n->next)
            if (n->op != OP_CALL && !is_view(n) && turn_of(n) == turn && !fusion->group_of[n->id])
                grow(fusion, n);
}

static void begin_groups(struct fusion *fusion)
{
    function_number(fusion->fn);
    fusion->group_of = arena_array(fusion->scratch, struct group *, fusion->fn->n_nodes);
    fusion->in_group = arena_array(fusion->scratch, bool, fusion->fn->n_nodes);
    choose_groups(fusion);
}

const void **fuse_ops_groups(struct module *module)
{
    struct fusion fusion = { .module = module,
                             .fn = module->main,
                             .scratch = &module->ctx->scratch };

    begin_groups(&fusion);
    return (const void **)fusion.group_of;
}

bool pass_fuse_ops(struct module *module)
{
    struct fusion fusion = { .module = module,
                             .fn = module->main,
                             .scratch = &module->ctx->scratch,
                             .names = { .arena = &module->ctx->scratch } };

    if (!unify_views(fusion.fn) || !separate_results(&fusion))
        return false;
    for (struct function *fn = module->functions; fn; fn = fn->next)
        map_set(&fusion.names, fn->name, fn);
    begin_groups(&fusion);
    for (struct node *n = fusion.fn->first, *next; n; n = next) {
        const struct group *group = n->op == OP_CALL ? NULL : fusion.group_of[n->id];

        next = n->next;
        if (group && group->nodes[group->n - 1] == n && !outline(&fusion, group))
            return false;
    }
    return true;
}
