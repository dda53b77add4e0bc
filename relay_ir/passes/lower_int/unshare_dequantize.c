/* unshare_dequantize.c - quantised values are decoded where they are read.
 *
 * needs    types; no dead nodes
 * gives    a decoder (region.h) has one reader
 * method   a copy for each reader but the first: decoding again costs less than memory for f32
 *
 * fuse_ops then puts it into the region of its reader. */
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/region.h"

/* The earliest reader but `first` and the return node, which keeps what has the model's name. */
static struct node *next_reader(const struct value *value, const struct node *first)
{
    struct node *next = NULL;

    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node != first && use->node->op != OP_RETURN && (!next || use->node->id < next->id))
            next = use->node;
    return next;
}

static bool give_own(struct node *node, struct node *reader)
{
    struct value *const shared = node->outputs[0];
    struct value *own = build(node->fn, node->op, &node->attrs, shared->name, node->origin, reader,
                              node->n_inputs, node->inputs);

    for (int i = 0; own && i < reader->n_inputs; i++)
        if (reader->inputs[i] == shared)
            node_set_input(reader, i, own);
    return own != NULL;
}

static bool unshare(struct node *node)
{
    const struct value *value = node->outputs[0];
    const struct node *first = value_is_result(value) ? NULL : next_reader(value, NULL);
    struct node *reader;

    while ((reader = next_reader(value, first)))
        if (!give_own(node, reader))
            return false;
    return true;
}

bool pass_unshare_dequantize(struct module *module)
{
    function_number(module->main);
    for (struct node *n = module->main->first, *next; n; n = next) {
        next = n->next;
        if (is_decoder(n) && !unshare(n))
            return false;
    }
    return true;
}
