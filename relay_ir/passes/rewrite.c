#include "relay_ir/passes/rewrite.h"

#include <assert.h>

#include "base/str.h"

enum {
    MAX_SWEEPS = 16
}; /* far more than any chain of rules needs; a ping-pong of two rules ends */

/* One pass may rewrite the same big weight many times: what is dead is given back in steps. */
static const size_t garbage_bytes = (size_t)256 << 20;

struct driver {
    struct module *module;
    const struct rule *rules;
    int n_rules;
    size_t swept_bytes; /* of payloads, after the last garbage collection */
    bool is_over;       /* the constants are more than the limit: the pass ends */
};

static void count_firing(struct module *module, const char *name)
{
    long *n = map_get(&module->fired, name);

    if (!n) {
        n = arena_new(&module->arena, long);
        map_set(&module->fired, name, n);
    }
    ++*n;
}

void remove_dead(struct node *node)
{
    struct node *todo[64]; /* what does not fit is left to dead_code */
    int n = 0;

    todo[n++] = node;
    while (n > 0) {
        bool used = false;

        node = todo[--n];
        for (int i = 0; i < node->n_outputs; i++)
            used = used || node->outputs[i]->uses;
        if (used || (!node->prev && node->fn->first != node))
            continue; /* needed, or removed already */
        for (int i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] && node->inputs[i]->def && n < 64)
                todo[n++] = node->inputs[i]->def;
        node_remove(node);
    }
}

/* Whether the rule built this value, or found it: what it built last stands right before the root.
 */
static bool is_fresh(const struct value *value, const struct node *root, const struct node *prev)
{
    return value->def && value->def != prev && value->def == root->prev;
}

static void collect_garbage(struct driver *driver)
{
    if (driver->module->bulk.bytes < driver->swept_bytes + garbage_bytes)
        return;
    module_sweep(driver->module);
    driver->swept_bytes = driver->module->bulk.bytes;
}

static bool apply_rule(struct driver *driver, const struct rule *rule, struct node *node)
{
    struct rewrite rewrite = { .ctx = driver->module->ctx,
                               .fn = node->fn,
                               .root = node,
                               .name = node->outputs[0]->name,
                               .origin = node->origin };
    struct node *const prev = node->prev;
    struct value *const old = node->outputs[0];
    struct value *const new = rule->apply(&rewrite, node);

    if (!new)
        return false;
    assert(type_same_storage(&new->type, &old->type));
    count_firing(driver->module, rule->name);
    if (is_fresh(new, node, prev))
        value_supplant(old, new);
    else {
        value_keep_calibration(old, new);
        value_replace(old, new);
    }
    remove_dead(node);
    collect_garbage(driver);
    driver->is_over = !constants_fit_swept(driver->module, 0, rewrite.origin);
    return true;
}

static bool has_root(const struct rule *rule, enum op op)
{
    const enum op *root = rule->roots;

    while (root && *root != OP_COUNT && *root != op)
        root++;
    return !root || *root == op;
}

static bool sweep(struct driver *driver, struct function *fn)
{
    bool fired = false;

    for (struct node *n = fn->first, *next; n && !driver->is_over; n = next) {
        bool here = false;

        next = n->next;
        for (int i = 0; i < driver->n_rules && !here && n->n_outputs == 1; i++)
            if (has_root(&driver->rules[i], n->op))
                here = apply_rule(driver, &driver->rules[i], n);
        fired = fired || here;
    }
    return fired;
}

bool rewrite_module(struct module *module, const struct rule *rules, int n_rules)
{
    struct driver driver = { module, rules, n_rules, module->bulk.bytes, false };
    const int errors = module->ctx->diags.n_errors;

    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (int i = 0;
             i < MAX_SWEEPS && !driver.is_over && !function_is_region(fn) && sweep(&driver, fn);
             i++)
            ;
    return module->ctx->diags.n_errors == errors;
}

void rule_covers(struct rewrite *rewrite, const struct node *node)
{
    rewrite->origin = origin_join(rewrite->fn->module, rewrite->origin, node->origin);
}

struct value *rule_build(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                         int n_inputs, struct value *const *inputs)
{
    const char *const suffix = str_starts(op_name(op), "nn.") ? op_name(op) + 3 : op_name(op);
    const char *name = arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix);

    for (int i = 0; i < n_inputs; i++)
        if (!inputs[i])
            return NULL;
    return build(rewrite->fn, op, attrs, name, rewrite->origin, rewrite->root, n_inputs, inputs);
}

struct value *rule_build1(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *x)
{
    return rule_build(rewrite, op, attrs, 1, &x);
}

struct value *rule_build2(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b)
{
    return rule_build(rewrite, op, attrs, 2, (struct value *[]){ a, b });
}

struct value *rule_build3(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                          struct value *a, struct value *b, struct value *c)
{
    return rule_build(rewrite, op, attrs, 3, (struct value *[]){ a, b, c });
}

struct value *rule_reshape(struct rewrite *rewrite, struct value *x, const struct type *shape)
{
    union attrs attrs = { .shape = { { 0 } } };

    attrs.shape.shape = ints_of(shape->rank, shape->dim);
    return rule_build1(rewrite, OP_RESHAPE, &attrs, x);
}

struct value *rule_rebuild(struct rewrite *rewrite, const struct node *node,
                           struct value *const *inputs)
{
    struct value *const old = node->outputs[0];
    struct value *copy = build(rewrite->fn, node->op, &node->attrs, old->name, node->origin,
                               rewrite->root, node->n_inputs, inputs);

    if (copy && value_only_user(old))
        value_take_name(copy, old);
    if (copy)
        value_keep_calibration(old, copy);
    return copy;
}

struct value *rule_constant_like(struct rewrite *rewrite, struct value *like,
                                 const struct type *type, const void *data)
{
    struct value *constant = constant_new(rewrite->fn, like->name, type, data);

    if (like->uses && !like->uses->next)
        value_take_name(constant, like);
    return constant;
}

struct node *defined_by(const struct value *value, enum op op)
{
    return value && value->def && value->def->op == op ? value->def : NULL;
}

struct node *only_defined_by(const struct value *value, enum op op)
{
    return value && value->uses && !value->uses->next ? defined_by(value, op) : NULL;
}

struct value *constant_side(const struct node *node, struct value **other)
{
    const bool left = node->inputs[0]->kind == VALUE_CONSTANT;
    const bool right = node->inputs[1]->kind == VALUE_CONSTANT;

    if (left == right)
        return NULL;
    *other = node->inputs[left ? 1 : 0];
    return node->inputs[left ? 0 : 1];
}

bool is_number(const struct value *value, double number)
{
    uint64_t element = 0;
    double found;

    if (!value || value->kind != VALUE_CONSTANT ||
        dtype_kind(value->type.dtype) == KIND_MINIFLOAT || !value_uniform(value, &found))
        return false;
    dtype_store(value->type.dtype, &element, 0, number);
    return found == dtype_load(value->type.dtype, &element, 0);
}

bool is_per_axis(const struct type *type, const struct type *shape, int axis)
{
    for (int i = 0; i < type->rank; i++) {
        const int at = shape->rank - type->rank + i;

        if (type->dim[i] != 1 && at != axis)
            return false;
    }
    return true;
}
