/* quantized_onnx.c - what is rounded as ONNX Runtime has it, module->rounds_as_onnx: what a model
 * says in integers already (QLinearConv, QLinearAdd ... of ONNX and ONNX Runtime), and averages of
 * all positions. */
#include <string.h>

#include "relay_ir/layout.h"

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

/* requantize of a sum of products, in fixed point -> as ONNX Runtime has it */
struct value *requantize_as_onnx(struct rewrite *rewrite, struct node *root)
{
    union attrs attrs = root->attrs;

    if (strcmp(attrs.requantize.rounding, "double") != 0 ||
        !is_quantized(root->outputs[0]->type.dtype) || !is_number(root->inputs[2], 0))
        return NULL;
    attrs.requantize.rounding = "onnx";
    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5, root->inputs);
}

static enum op float_op(enum op op)
{
    return op == OP_QNN_ADD ? OP_ADD : op == OP_QNN_MUL ? OP_MULTIPLY : OP_SUBTRACT;
}

/* qnn.add(a, b) -> quantize(add(dequantize(a), dequantize(b))): the definition of QLinearAdd */
struct value *binary_as_onnx(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .quantize = { .axis = 0, .saturate = true } };
    struct value *const *in = root->inputs;
    struct value *a, *b;

    if (!is_quantized(root->outputs[0]->type.dtype))
        return NULL;
    a = rule_build3(rewrite, OP_QNN_DEQUANTIZE, NULL, in[0], in[2], in[3]);
    b = rule_build3(rewrite, OP_QNN_DEQUANTIZE, NULL, in[1], in[4], in[5]);
    return rule_build3(rewrite, OP_QNN_QUANTIZE, &attrs,
                       rule_build2(rewrite, float_op(root->op), NULL, a, b), in[6], in[7]);
}

/* x as rows of n numbers, and their sums: a dense layer of one channel, whose weights are 1. */
static struct value *sums_of_rows(struct rewrite *rewrite, struct value *x, struct value *zero,
                                  int64_t n)
{
    const int64_t rows = type_elements(&x->type) / n, one = 1;
    const struct type shape = type_make(x->type.dtype, 2, (int64_t[]){ rows, n });
    const struct type weights = type_make(DTYPE_I8, 2, (int64_t[]){ one, n });
    const struct type scalar = type_scalar(DTYPE_I8);
    int8_t *ones = constant_alloc(rewrite->fn, &weights);
    struct arena *scratch = &rewrite->ctx->scratch;
    struct value *inputs[4] = { rule_reshape(rewrite, x, &shape) };

    memset(ones, 1, (size_t)n);
    inputs[1] =
        constant_new(rewrite->fn, arena_printf(scratch, "%s.ones", rewrite->name), &weights, ones);
    inputs[2] = zero;
    inputs[3] = constant_new(rewrite->fn, arena_printf(scratch, "%s.ones_zero", rewrite->name),
                             &scalar, constant_alloc(rewrite->fn, &scalar));
    return rule_build(rewrite, OP_QNN_DENSE, NULL, 4, inputs);
}

static struct value *share_of_scale(struct rewrite *rewrite, double scale, int64_t n)
{
    const struct type type = type_scalar(DTYPE_F32);
    float *data = constant_alloc(rewrite->fn, &type);

    *data = (float)(scale / (double)n);
    return constant_new(
        rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.scale", rewrite->name), &type, data);
}

/* quantize(global_avg_pool(dequantize(x))) -> requantize(sum of x), as QLinearGlobalAveragePool;
 * other averages are computed in floats there. */
struct value *global_average_as_onnx(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .requantize = { .rounding = "onnx" } };
    const struct node *node = defined_by(root->inputs[0], OP_GLOBAL_AVG_POOL), *x;
    struct value *inputs[5], *y;
    struct affine in, out;
    int64_t n;

    if (!node || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out) ||
        layout_spatial_axis(node->attrs.layout.layout) != 2)
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    if (!x || type_elements(&root->outputs[0]->type) == 0)
        return NULL;
    n = type_elements(&x->outputs[0]->type) / type_elements(&root->outputs[0]->type);
    if (n < 1 || n > INT32_MAX >> (8 * dtype_bytes(in.dtype)))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    inputs[0] = sums_of_rows(rewrite, x->inputs[0], in.zero_value, n);
    inputs[1] = share_of_scale(rewrite, in.scale, n);
    inputs[2] = int32_constant(rewrite, 0, "in_zero");
    inputs[3] = out.scale_value;
    inputs[4] = out.zero_value;
    y = rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5, inputs);
    return y ? rule_reshape(rewrite, y, &root->outputs[0]->type) : NULL;
}
