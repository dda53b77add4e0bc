/* split.c - the split of quantised values in front of a split of what they stand for. */
#include "relay_ir/passes/rules.h"

static bool same_split(const struct node *a, const struct node *b)
{
    return a->n_outputs == b->n_outputs && a->attrs.split.axis == b->attrs.split.axis &&
           ints_equal(&a->attrs.split.sizes, &b->attrs.split.sizes);
}

struct node *split_found(const struct node *split, const struct value *x)
{
    struct node *const found = split->prev;

    return found && found->op == OP_SPLIT && found->inputs[0] == x && same_split(found, split)
               ? found
               : NULL;
}

struct node *split_before(struct rewrite *rewrite, struct node *split, struct value *x)
{
    const char **names =
        arena_array(&rewrite->ctx->scratch, const char *, (size_t)split->n_outputs);
    struct node_args args = { .op = OP_SPLIT,
                              .n_inputs = 1,
                              .inputs = &x,
                              .n_outputs = split->n_outputs,
                              .names = names,
                              .attrs = &split->attrs,
                              .origin = rewrite->origin,
                              .before = split };
    struct node *const found = split_found(split, x);

    if (found)
        return found;
    for (int i = 0; i < split->n_outputs; i++)
        names[i] = arena_printf(&rewrite->ctx->scratch, "%s.split", split->outputs[i]->name);
    return node_new(rewrite->fn, &args);
}
