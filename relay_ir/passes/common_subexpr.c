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

static const char *constant_key(struct arena *arena, const struct value *value)
{
    const unsigned long crc = crc32_z(crc32(0, NULL, 0), value->data, type_bytes(&value->type));

    return arena_printf(arena, "%s %08lx", type_text(arena, &value->type), crc);
}

static void unify_constants(struct function *fn, struct arena *scratch)
{
    struct map seen = { .arena = scratch };

    for (struct value *v = fn->constants; v; v = v->next) {
        const char *key = constant_key(scratch, v);
        struct bucket *const first = map_get(&seen, key);
        const struct tensor tensor = value_tensor(v);
        struct bucket *at = first;

        for (; at; at = at->next) {
            const struct tensor other = value_tensor(at->value);

            if (tensor_equal(&tensor, &other))
                break;
        }
        if (at) {
            value_replace(v, at->value);
        } else {
            at = arena_new(scratch, struct bucket);
            *at = (struct bucket){ v, first };
            map_set(&seen, key, at);
        }
    }
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
        unify_constants(fn, &module->ctx->scratch);
        unify_nodes(fn, &module->ctx->scratch);
    }
    return true;
}
