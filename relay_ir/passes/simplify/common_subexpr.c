/* common_subexpr.c - computes equal expressions once.
 *
 * needs    types; constants on one side of commutative operators (canonicalize)
 * gives    no two nodes with the same operator, attributes and inputs; no two equal constants
 * method   value numbering: a node's text is its key */
#include "relay_ir/passes/pipeline.h"

#include <zlib.h>

#include "base/str.h"

/* Constants with the same key, which differ (crc32 is no proof). */
struct bucket {
    struct value *value;
    struct bucket *next;
};

static const char *key_of(struct arena *arena, const struct value *value, size_t bytes)
{
    return arena_printf(arena, "%s %08lx", type_text(arena, &value->type),
                        crc32_z(crc32(0, NULL, 0), value->data, bytes));
}

/* The text of the type and the first bytes: all that most constants are asked for, so that not
 * every weight has to be read. */
static const char *short_key(struct arena *arena, const struct value *value)
{
    enum { FIRST_BYTES = 256 };
    const size_t bytes = type_bytes(&value->type);

    return key_of(arena, value, bytes < FIRST_BYTES ? bytes : FIRST_BYTES);
}

static bool same_constant(const struct value *a, const struct value *b)
{
    const struct tensor x = value_tensor(a), y = value_tensor(b);

    return type_equal(&x.type, &y.type) && tensor_equal(&x, &y);
}

/* Replaces the constant by an equal one seen before, or remembers it. */
static void unify_constant(struct map *seen, struct value *value)
{
    const char *key = key_of(seen->arena, value, type_bytes(&value->type));
    struct bucket *const first = map_get(seen, key);
    struct bucket *at = first;

    while (at && !same_constant(at->value, value))
        at = at->next;
    if (at) {
        value_replace(value, at->value);
    } else {
        at = arena_new(seen->arena, struct bucket);
        *at = (struct bucket){ value, first };
        map_set(seen, key, at);
    }
}

static void unify_constants(struct function *fn, struct arena *scratch)
{
    struct map counts = { .arena = scratch }, seen = { .arena = scratch };

    for (struct value *v = fn->constants; v; v = v->next) {
        const char *key = short_key(scratch, v);
        int *n = map_get(&counts, key);

        if (!n)
            map_set(&counts, key, n = arena_new(scratch, int));
        ++*n;
    }
    for (struct value *v = fn->constants; v; v = v->next)
        if (*(int *)map_get(&counts, short_key(scratch, v)) > 1)
            unify_constant(&seen, v);
}

static const char *node_key(struct arena *arena, const struct node *node)
{
    struct str key = { .arena = arena };

    str_add(&key, op_name(node->op));
    attrs_print(&key, op_row(node->op)->attrs, &node->attrs);
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i])
            str_printf(&key, " %d", node->inputs[i]->id);
        else
            str_add(&key, " _");
    str_printf(&key, " : %d", node->n_outputs);
    return str_text(&key);
}

static void unify_nodes(struct function *fn, struct arena *scratch)
{
    struct map seen = { .arena = scratch };

    function_number(fn);
    for (struct node *n = fn->first, *next; n; n = next) {
        struct node *same;
        const char *key;

        next = n->next;
        if (n->op == OP_CALL)
            continue;
        key = node_key(scratch, n);
        same = map_get(&seen, key);
        if (!same) {
            map_set(&seen, key, n);
            continue;
        }
        for (int i = 0; i < n->n_outputs; i++)
            value_replace(n->outputs[i], same->outputs[i]);
        same->origin = origin_join(fn->module, same->origin, n->origin);
        node_remove(n);
    }
}

bool pass_common_subexpr(struct module *module)
{
    for (struct function *fn = module->functions; fn; fn = fn->next) {
        if (function_is_region(fn))
            continue;
        unify_constants(fn, &module->ctx->scratch);
        unify_nodes(fn, &module->ctx->scratch);
    }
    return true;
}
