/* pairs.c - topk and max_pool_indices in front of what decodes their input. They have two results,
 * numbers and where these were, which rules of one cannot have. */
#include "relay_ir/passes/lower/quantized.h"

/* False after an error. */
static bool before_decoder(struct rewrite *rewrite, struct node *root, ordered_values *ordered,
                           decoded_values *decoded, bool *changed)
{
    const char *const names[] = { arena_printf(&rewrite->ctx->scratch, "%s.greatest",
                                               rewrite->name),
                                  arena_printf(&rewrite->ctx->scratch, "%s.index", rewrite->name) };
    struct node_args args = { .op = root->op,
                              .n_inputs = 1,
                              .n_outputs = 2,
                              .names = names,
                              .attrs = &root->attrs,
                              .before = root };
    struct value *quantized = ordered(rewrite, root), *values;
    struct node *node;

    if (!quantized)
        return true;
    args.inputs = &quantized;
    args.origin = rewrite->origin;
    node = node_new(rewrite->fn, &args);
    values = node ? decoded(rewrite, root, node->outputs[0]) : NULL;
    if (!values)
        return false;
    value_supplant(root->outputs[0], values);
    value_supplant(root->outputs[1], node->outputs[1]);
    remove_dead(root);
    *changed = true;
    return true;
}

bool pairs_before(struct module *module, ordered_values *ordered, decoded_values *decoded,
                  bool *changed)
{
    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct node *node = fn->first, *next; node && !function_is_region(fn); node = next) {
            struct rewrite rewrite = { .ctx = module->ctx,
                                       .fn = fn,
                                       .root = node,
                                       .name = node->outputs[0]->name,
                                       .origin = node->origin };

            next = node->next;
            if ((node->op == OP_TOPK || node->op == OP_MAX_POOL_INDICES) &&
                !before_decoder(&rewrite, node, ordered, decoded, changed))
                return false;
        }
    return true;
}
