/* inline_functions.c - puts functions that are no regions into main.
 *
 * Graphs from elsewhere may use functions as they like; engines and code generators know regions
 * only. A region of another compiler stays, and so does one that fuse_ops has made.
 *
 * needs    calls that are not in a circle
 * gives    main calls regions only: of other compilers, or of "c" in the form that pipeline.h
 *          promises, each called once
 * method   calls are replaced by copies of the callee's nodes, those among them in turn */
#include "relay_ir/passes/pipeline.h"

#include <string.h>

#include "relay_ir/outline.h"
#include "relay_ir/region.h"

/* Functions that call functions that call functions ... become as many values as their product. */
enum { MAX_WORK = 1 << 20 };

/* --- which calls stay ------------------------------------------------------------------------- */

static bool only_last_is_result(const struct function *fn)
{
    const struct node *last = fn->last;

    if (fn->ret->n_inputs != last->n_outputs)
        return false;
    for (int i = 0; i < last->n_outputs; i++)
        if (fn->ret->inputs[i] != last->outputs[i])
            return false;
    return true;
}

/* A decoder that one node of the region reads, and that reads a parameter. */
static bool is_inner_decoder(const struct function *fn, const struct node *node)
{
    const struct value *x = node->inputs[0];

    return node != fn->last && is_decoder(node) && x->kind == VALUE_PARAM &&
           value_only_user(node->outputs[0]) != NULL;
}

/* Decoders, one anchor at most, and element-wise nodes of its output's shape, each of which is
 * read.
 */
static bool is_chain(const struct function *fn)
{
    const struct node *anchor = region_anchor(fn);
    const struct type *shape = &(anchor ? anchor : fn->last)->outputs[0]->type;
    bool before = anchor != NULL;
    int n = 0, n_decoders = 0;

    for (const struct node *node = fn->first; node; node = node->next, n++) {
        const bool decoder = is_inner_decoder(fn, node);

        if (node->op == OP_CALL || op_row(node->op)->pattern == PATTERN_VIEW ||
            n >= MAX_REGION_NODES)
            return false;
        if (node == anchor)
            before = false;
        else if (!op_is_elementwise(node->op) || (before && !decoder))
            return false;
        else if (!decoder && !type_same_shape(&node->outputs[0]->type, shape))
            return false;
        if (node != fn->last && (node->n_outputs != 1 || !node->outputs[0]->uses))
            return false;
        n_decoders += decoder;
    }
    if (anchor && !anchor_decodes_all(anchor))
        return false;
    return n - n_decoders == 1 || (fn->n_params <= MAX_REGION_PARAMS &&
                                   (!anchor || op_row(anchor->op)->pattern == PATTERN_OUT_FUSABLE));
}

static bool is_fused(const struct function *fn)
{
    if (strcmp(fn->compiler, "c") != 0 || !fn->composite || !fn->first)
        return false;
    for (int i = 0; i < fn->n_params; i++)
        if (!fn->params[i]->uses)
            return false;
    for (const struct value *v = fn->constants; v; v = v->next)
        if (!v->uses)
            return false;
    return only_last_is_result(fn) && is_chain(fn);
}

/* How often functions are called, by name. */
static void count_calls(const struct module *module, struct map *calls)
{
    static char once, more; /* only their addresses count */

    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *node = fn->first; node; node = node->next)
            if (node->callee)
                map_set(calls, node->callee->name,
                        map_get(calls, node->callee->name) ? &more : &once);
    for (size_t i = 0; i < calls->n; i++)
        if (calls->entries[i].value == &once)
            calls->entries[i].value = NULL;
}

/* A region must not read one value through two parameters, or its constants would not be known. */
static bool distinct_inputs(const struct node *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        for (int j = 0; j < i; j++)
            if (call->inputs[i] == call->inputs[j])
                return false;
    return true;
}

static bool reads_constant(const struct node *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i]->kind == VALUE_CONSTANT)
            return true;
    return false;
}

static bool stays(const struct node *call, const struct map *called_again)
{
    const struct function *callee = call->callee;

    if (!callee->compiler)
        return false;
    if (strcmp(callee->compiler, "c") != 0)
        return true;
    return is_fused(callee) && !map_get(called_again, callee->name) && !reads_constant(call) &&
           distinct_inputs(call);
}

/* --- inlining --------------------------------------------------------------------------------- */

/* The value of main for one of the callee, by its id. */
struct copies {
    struct function *fn;
    struct arena *scratch;
    struct value **of;
};

static struct value *copy_of(const struct copies *copies, const struct value *value)
{
    return value ? copies->of[value->id] : NULL;
}

static struct node *copy_node(struct copies *copies, const struct node *node, struct node *call)
{
    struct value **inputs = arena_array(copies->scratch, struct value *, node->n_inputs);
    struct node *copy;

    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = copy_of(copies, node->inputs[i]);
    copy = node_copy(copies->fn, node, inputs, call);
    if (copy && !copy->origin)
        copy->origin = call->origin;
    for (int i = 0; copy && i < node->n_outputs; i++)
        copies->of[node->outputs[i]->id] = copy->outputs[i];
    return copy;
}

/* The names of the call's outputs are those that the user knows: each goes to the value that it is
 * now, unless that has one that came from outside or from another output. */
static void replace_outputs(const struct copies *copies, struct node *call)
{
    const struct node *ret = call->callee->ret;

    for (int i = 0; i < call->n_outputs; i++) {
        struct value *now = copy_of(copies, ret->inputs[i]);
        bool fresh = ret->inputs[i]->kind == VALUE_OUTPUT;

        for (int j = 0; j < i; j++)
            fresh = fresh && ret->inputs[j] != ret->inputs[i];
        if (fresh)
            value_supplant(call->outputs[i], now);
        else
            value_replace(call->outputs[i], now);
    }
}

static bool inline_call(struct node *call, struct arena *scratch)
{
    struct function *callee = call->callee;
    struct copies copies = { .fn = call->fn, .scratch = scratch };

    copies.of = arena_array(scratch, struct value *, callee->n_values);
    for (int i = 0; i < callee->n_params; i++)
        copies.of[callee->params[i]->id] = call->inputs[i];
    for (struct value *v = callee->constants; v; v = v->next)
        copies.of[v->id] = constant_new(call->fn, v->name, &v->type, v->data);
    for (struct node *node = callee->first; node; node = node->next)
        if (!copy_node(&copies, node, call))
            return false;
    replace_outputs(&copies, call);
    node_remove(call);
    return true;
}

bool pass_inline_functions(struct module *module)
{
    struct arena *scratch = &module->ctx->scratch;
    struct map called_again = { .arena = scratch };
    int64_t work = 0;

    count_calls(module, &called_again);
    for (struct function *fn = module->functions; fn; fn = fn->next)
        function_number(fn);
    for (struct node *node = module->main->first; node;) {
        struct node *const prev = node->prev;

        if (node->op != OP_CALL || stays(node, &called_again)) {
            node = node->next;
            continue;
        }
        work += 1 + node->callee->n_values;
        if (work > MAX_WORK)
            return diag_error(module->ctx, DIAG_TOO_BIG, NULL,
                              "functions are called so often that main would have more than %d "
                              "values",
                              MAX_WORK);
        if (!inline_call(node, scratch))
            return false;
        node = prev ? prev->next : module->main->first;
    }
    return true;
}
