/* simplify_inference.c - operators that are simpler once the network only infers.
 *
 * needs    types
 * gives    no batch norm with constant statistics: multiply and add take its place
 * method   y = scale x + shift, scale = gamma / sqrt(variance + epsilon),
 *          shift = beta - scale mean; in double, rounded once */
#include "relay_ir/passes/pipeline.h"

#include <math.h>

#include "relay_ir/passes/rewrite.h"

/* A constant of shape (n,1,1..) that broadcasts along `axis` of a value of rank `rank`. */
static struct value *channel_constant(struct rewrite *rewrite, struct value *like, int axis,
                                      int rank, void **data)
{
    struct type type = { .dtype = like->type.dtype, .rank = rank - axis };

    type.dim[0] = like->type.dim[0];
    for (int i = 1; i < type.rank; i++)
        type.dim[i] = 1;
    *data = constant_alloc(rewrite->fn, &type);
    return rule_constant_like(rewrite, like, &type, *data);
}

static bool is_constant_float(const struct value *value)
{
    return value->kind == VALUE_CONSTANT && dtype_is_float(value->type.dtype);
}

static struct value *expand_batch_norm(struct rewrite *rewrite, struct node *root)
{
    const struct type *const type = &root->outputs[0]->type;
    const int axis = type_axis(type, root->attrs.batch_norm.axis);
    struct value *scale, *shift;
    void *scale_data, *shift_data;

    for (int i = 1; i < 5; i++)
        if (!is_constant_float(root->inputs[i]) || root->inputs[i]->type.dtype != type->dtype)
            return NULL;
    scale = channel_constant(rewrite, root->inputs[1], axis, type->rank, &scale_data);
    shift = channel_constant(rewrite, root->inputs[2], axis, type->rank, &shift_data);
    for (int64_t i = 0; i < type->dim[axis]; i++) {
        const double gamma = dtype_load(type->dtype, root->inputs[1]->data, i);
        const double beta = dtype_load(type->dtype, root->inputs[2]->data, i);
        const double mean = dtype_load(type->dtype, root->inputs[3]->data, i);
        const double variance = dtype_load(type->dtype, root->inputs[4]->data, i);
        const double s = gamma / sqrt(variance + root->attrs.batch_norm.epsilon);

        dtype_store(type->dtype, scale_data, i, s);
        dtype_store(type->dtype, shift_data, i, beta - s * mean);
    }
    return rule_build2(rewrite, OP_ADD, NULL,
                       rule_build2(rewrite, OP_MULTIPLY, NULL, root->inputs[0], scale), shift);
}

static const struct rule rules[] = {
    { "expand_batch_norm", expand_batch_norm, ROOTS(OP_BATCH_NORM) },
};

bool pass_simplify_inference(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *simplify_inference_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
