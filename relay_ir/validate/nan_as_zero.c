#include "relay_ir/validate/nan_as_zero.h"

#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/walk.h"

static bool may_have_nan(const struct type *type)
{
    return dtype_is_float(type->dtype) || type_minifloat(type);
}

bool trace_has_nan(const struct trace *trace)
{
    for (int i = 0; i < trace->n_values; i++) {
        const struct tensor *tensor = &trace->values[i].seen.tensor;
        const int64_t n = may_have_nan(&tensor->type) ? type_elements(&tensor->type) : 0;

        for (int64_t k = 0; k < n; k++)
            if (isnan(tensor_at(tensor, k)))
                return true;
    }
    return false;
}

static bool is_dequantize(const struct node *node)
{
    return (node->op == OP_CAST || node->op == OP_QNN_DEQUANTIZE) &&
           type_minifloat(&node->inputs[0]->type);
}

static bool evaluate(void *user, const struct node *node, const struct tensor *const *inputs,
                     struct tensor *outputs)
{
    const bool counts = is_dequantize(node) || node->op == OP_DIVIDE;

    if (!counts || !may_have_nan(&outputs[0].type) ||
        !op_row(node->op)->evaluate(user, node, inputs, outputs))
        return false;
    for (int64_t i = 0; i < type_elements(&outputs[0].type); i++)
        if (isnan(tensor_at(&outputs[0], i)))
            tensor_put(&outputs[0], i, 0);
    return true;
}

bool nan_as_zero_run(struct module *module, const struct tensor *inputs, struct tensor *results,
                     struct bulk *bulk)
{
    const struct other_evaluator other = { evaluate, module->ctx };

    return interpret_by(module->ctx, module->main, inputs, results, bulk, NULL, &other);
}
