/* fold_constant.c - nodes all of whose inputs are constants become constants.
 *
 * needs    types
 * gives    constants named as the outputs they replace
 * method   the reference evaluators, in topological order; what would blow up the weights stays */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/interpret.h"
#include "relay_ir/macs.h"

/* A small result is always welcome; a big one only if its operands were big as well, because it has
 * to be stored in the firmware. The work limit keeps the slow evaluators at about a second. */
enum { SMALL_BYTES = 1 << 16, MAX_GROWTH = 4 };
static const double max_work = 1 << 28;

/* Multiply-adds per output element, of the operators where they are many. */
static double work_per_element(const struct node *node)
{
    const struct type *weight = node->n_inputs > 1 ? &node->inputs[1]->type : NULL;
    const struct type *x = node->n_inputs > 0 ? &node->inputs[0]->type : NULL;

    if (node->op == OP_MATMUL)
        return (double)x->dim[x->rank - (node->attrs.matmul.transpose_a && x->rank > 1 ? 2 : 1)];
    if (op_row(node->op)->pattern == PATTERN_OUT_FUSABLE && weight && weight->rank > 1)
        return (double)type_span(weight, 1, weight->rank);
    return 1;
}

static bool is_worth_it(const struct node *node)
{
    double in_bytes = 0, out_bytes = 0, out_elements = 0;

    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i])
            in_bytes += (double)type_bytes(&node->inputs[i]->type);
    for (int i = 0; i < node->n_outputs; i++) {
        out_bytes += (double)type_bytes(&node->outputs[i]->type);
        out_elements += (double)type_elements(&node->outputs[i]->type);
    }
    return (out_bytes <= SMALL_BYTES || out_bytes <= MAX_GROWTH * in_bytes) &&
           out_elements * work_per_element(node) <= max_work;
}

static bool is_foldable(const struct node *node)
{
    if (node->op == OP_CALL || node->op == OP_CUSTOM)
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT)
            return false;
    return is_worth_it(node);
}

static bool evaluate(struct ctx *ctx, struct node *node, struct tensor *outputs)
{
    struct tensor *inputs = arena_array(&ctx->scratch, struct tensor, node->n_inputs);
    const struct tensor **in = arena_array(&ctx->scratch, const struct tensor *, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]) {
            inputs[i] = value_tensor(node->inputs[i]);
            in[i] = &inputs[i];
        }
    if (op_row(node->op)->pattern == PATTERN_VIEW) {
        outputs[0] = (struct tensor){ node->outputs[0]->type, inputs[0].data };
        return true;
    }
    return interpret_node(ctx, node, in, outputs, &node->fn->module->bulk);
}

/* Before anything is computed. */
static bool is_granted(struct ctx *ctx, const struct node *node)
{
    double bytes = 0;

    if (op_row(node->op)->pattern == PATTERN_VIEW)
        return true;
    for (int i = 0; i < node->n_outputs; i++)
        bytes += (double)type_bytes(&node->outputs[i]->type);
    return limit_spend(ctx, node->origin, node_work(node)) &&
           constants_fit_swept(node->fn->module, bytes, node->origin);
}

static bool fold(struct ctx *ctx, struct node *node)
{
    struct tensor *outputs = arena_array(&ctx->scratch, struct tensor, node->n_outputs);

    if (!is_granted(ctx, node) || !evaluate(ctx, node, outputs))
        return false;
    for (int i = 0; i < node->n_outputs; i++) {
        struct value *output = node->outputs[i];

        value_supplant(output,
                       constant_new(node->fn, output->name, &output->type, outputs[i].data));
    }
    node_remove(node);
    return true;
}

bool pass_fold_constant(struct module *module)
{
    bool ok = true;

    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct node *n = function_is_region(fn) ? NULL : fn->first, *next; n && ok; n = next) {
            next = n->next;
            if (is_foldable(n))
                ok = fold(module->ctx, n);
        }
    return ok;
}
