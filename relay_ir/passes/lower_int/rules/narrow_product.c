/* narrow_product.c - product(dequantize(x), dequantize(w)) -> multiply(product(x, w), scales).
 *
 * A dequantize whose scale is 1 may be a cast. */
#include <math.h>

#include "relay_ir/passes/rules.h"
#include "relay_ir/products.h"

/* What stands behind an operand: quantised values, and scales that they are multiplied by. */
struct operand {
    struct value *quantized;   /* NULL = the operand is no decoded quantised value */
    const struct value *scale; /* a constant; NULL = 1 */
};

static bool all_zero(const struct value *zero)
{
    if (zero->kind != VALUE_CONSTANT)
        return false;
    for (int64_t i = 0; i < type_elements(&zero->type); i++) {
        const struct tensor tensor = value_tensor(zero);

        if (tensor_at(&tensor, i) != 0)
            return false;
    }
    return true;
}

static bool is_small(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_I8 || dtype == DTYPE_I4 ||
           dtype_kind(dtype) == KIND_MINIFLOAT;
}

static bool scales_are_fine(const struct value *scale)
{
    const float *data = scale->data;

    if (scale->kind != VALUE_CONSTANT || scale->type.dtype != DTYPE_F32)
        return false;
    for (int64_t i = 0; i < type_elements(&scale->type); i++)
        if (!(data[i] > 0) || !isfinite(data[i]))
            return false;
    return true;
}

static struct operand operand_of(const struct value *value)
{
    const struct node *node = value->def;
    const struct operand none = { NULL, NULL };

    if (!node || value->type.dtype != DTYPE_F32 ||
        (node->op != OP_QNN_DEQUANTIZE && node->op != OP_CAST) ||
        !is_small(node->inputs[0]->type.dtype))
        return none;
    if (node->op == OP_CAST)
        return (struct operand){ node->inputs[0], NULL };
    if (!scales_are_fine(node->inputs[1]) || !all_zero(node->inputs[2]))
        return none;
    return (struct operand){ node->inputs[0], node->inputs[1] };
}

/* Scales of the weight must lie along the output channels. */
static bool weight_fits(const struct node *root, const struct operand *w)
{
    const int64_t n = w->scale ? type_elements(&w->scale->type) : 1;
    int rank;

    return n == 1 || (w->quantized->kind == VALUE_CONSTANT &&
                      root->inputs[1]->def->attrs.axis.axis == product_channel_axis(root, &rank));
}

static float scale_at(const struct operand *operand, int64_t i)
{
    const float *data = operand->scale ? operand->scale->data : NULL;

    return !data ? 1 : type_elements(&operand->scale->type) == 1 ? data[0] : data[i];
}

/* x_scale * w_scale, to multiply the result with; NULL = all are 1. */
static struct value *joined_scale(struct rewrite *rewrite, const struct node *root,
                                  const struct operand *x, const struct operand *w, bool *fine)
{
    const int64_t n = w->scale ? type_elements(&w->scale->type) : 1;
    struct type type = type_scalar(DTYPE_F32);
    bool all_one = true;
    float *data;
    int rank;

    *fine = true;
    if (n > 1) {
        (void)product_channel_axis(root, &rank);
        type.rank = rank;
        for (int i = 0; i < rank; i++)
            type.dim[i] = i == 0 ? n : 1;
    }
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < n; i++) {
        data[i] = scale_at(x, 0) * scale_at(w, i);
        all_one = all_one && data[i] == 1;
        *fine = *fine && isnormal(data[i]);
    }
    if (all_one || !*fine)
        return NULL;
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.float_scale", rewrite->name),
                        &type, data);
}

/* Blocks lie in rows: matrices of them are not transposed, products read them as they are. *turned:
 * what is multiplied is the transpose of the result. */
static const struct value *behind_turns(const struct value *value, bool *turned)
{
    const struct value *from = value;

    *turned = false;
    while (from->def && from->def->op == OP_TRANSPOSE && from->type.rank == 2) {
        *turned ^= from->def->attrs.axes.axes.at[0] == 1;
        from = from->def->inputs[0];
    }
    if (from->def && from->def->op == OP_CAST && type_has_blocks(&from->def->inputs[0]->type))
        return from;
    *turned = false;
    return value;
}

/* The product with the other one of both matrices. */
static void turn_weight(struct node *product)
{
    if (product->op != OP_MATMUL) /* nn.dense: x times the transpose of w */
        product->attrs = (union attrs){ .matmul = { .transpose_b = true,
                                                    .out_dtype = *product_out_dtype(product) } };
    product->op = OP_MATMUL;
    product->attrs.matmul.transpose_b = !product->attrs.matmul.transpose_b;
}

struct value *product_of_quantized(struct rewrite *rewrite, struct node *root)
{
    bool turned;
    struct operand x = operand_of(root->inputs[0]);
    struct operand w = operand_of(behind_turns(root->inputs[1], &turned));
    const bool x_is_fp8 = x.quantized && dtype_kind(x.quantized->type.dtype) == KIND_MINIFLOAT &&
                          (!x.scale || type_elements(&x.scale->type) == 1);
    struct node twin = *root;
    struct value *inputs[2], *scale, *sum;
    bool fine;

    if (*product_out_dtype(root) != DTYPE_NONE || !w.quantized || root->outputs[0]->type.rank < 1 ||
        !weight_fits(root, &w))
        return NULL;
    if (!x_is_fp8 || dtype_kind(w.quantized->type.dtype) != KIND_MINIFLOAT)
        x = (struct operand){ NULL, NULL };
    if (w.quantized->kind != VALUE_CONSTANT && !x.quantized)
        return NULL; /* weights that are computed: nothing to be won */
    scale = joined_scale(rewrite, root, &x, &w, &fine);
    if (!fine)
        return NULL;
    inputs[0] = x.quantized ? x.quantized : root->inputs[0];
    inputs[1] = w.quantized;
    *product_out_dtype(&twin) = DTYPE_F32;
    if (x.quantized)
        rule_covers(rewrite, root->inputs[0]->def);
    if (turned)
        turn_weight(&twin);
    sum = rule_build(rewrite, twin.op, &twin.attrs, 2, inputs);
    return scale ? rule_build2(rewrite, OP_MULTIPLY, NULL, sum, scale) : sum;
}
