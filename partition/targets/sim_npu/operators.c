/* operators.c - the operators of sim_npu's rows as commands. */
#include <math.h>
#include <string.h>

#include "partition/targets/sim_npu/encoder.h"
#include "relay_ir/ops/qnn.h"

static enum sim_npu_format format_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F8E4M3: return SIM_NPU_E4M3;
    case DTYPE_F8E5M2: return SIM_NPU_E5M2;
    case DTYPE_I8: return SIM_NPU_I8;
    default: return SIM_NPU_F32;
    }
}

/* A tensor as [batch][channels][inner]. */
struct planes {
    uint32_t batch, channels, inner;
};

static struct planes planes_of(const struct type *type)
{
    return (struct planes){ (uint32_t)type->dim[0], (uint32_t)type->dim[1],
                            (uint32_t)type_span(type, 2, type->rank) };
}

static uint32_t elements(const struct value *value)
{
    return (uint32_t)type_elements(&value->type);
}

static uint32_t float_bits(double number)
{
    const float single = (float)number;
    uint32_t bits;

    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static int32_t constant_int(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);

    return (int32_t)tensor_int_at(&tensor, 0);
}

static double constant_real(const struct value *value, int64_t i)
{
    const struct tensor tensor = value_tensor(value);

    return tensor_at(&tensor, type_elements(&value->type) == 1 ? 0 : i);
}

/* The result of a node that changes its first operand's block, or a copy where others need that. */
static struct sram_block *change(struct encoder *e, const struct node *node,
                                 const struct value *operand)
{
    struct sram_block *block = encoder_operand(e, operand), *copy;

    if (!block || encoder_is_own(e, block))
        return e->inner[node->outputs[0]->id] = block;
    copy = encoder_take(e, type_bytes(&operand->type));
    if (!copy)
        return NULL;
    encoder_command(e, SIM_NPU_CONVERT, 5,
                    (const uint32_t[]){ block->address, copy->address, elements(operand),
                                        SIM_NPU_F32, SIM_NPU_F32 });
    return e->inner[node->outputs[0]->id] = copy;
}

/* Convolutions and dense layers, which are convolutions of single pixels. */
static bool encode_product(struct encoder *e, const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *w = &node->inputs[1]->type;
    const struct type *y = &node->outputs[0]->type;
    const bool is_dense = node->op == OP_DENSE || node->op == OP_QNN_DENSE;
    const bool is_flat = is_dense || x->rank == 3; /* one spatial dim at most */
    const struct conv_attrs *a = &node->attrs.conv;
    struct sram_block *from = encoder_operand(e, node->inputs[0]);
    struct sram_block *weights = encoder_operand(e, node->inputs[1]);
    struct sram_block *to = encoder_take(e, (uint64_t)type_elements(y) * 4);
    uint32_t c[22] = { 0 };

    if (!from || !weights || !to)
        return false;
    c[0] = from->address;
    c[1] = weights->address;
    c[2] = to->address;
    c[3] = (uint32_t)format_of(x->dtype) | (uint32_t)format_of(w->dtype) << 8;
    c[4] = (uint32_t)x->dim[0];
    c[5] = (uint32_t)x->dim[1];
    c[8] = (uint32_t)y->dim[1];
    for (int i = 6; i <= 19; i++)
        if (i != 8 && i != 15 && i != 16)
            c[i] = 1; /* extents, strides, dilations, groups */
    c[15] = c[16] = 0;
    if (!is_dense) {
        for (int i = 0; i < x->rank - 2; i++) {
            const int at = is_flat ? 1 : i; /* a row has a height of 1 */

            c[6 + at] = (uint32_t)x->dim[2 + i];
            c[9 + at] = (uint32_t)y->dim[2 + i];
            c[11 + at] = (uint32_t)w->dim[2 + i];
            c[13 + at] = (uint32_t)a->strides.at[i];
            c[15 + at] = (uint32_t)a->padding.at[i];
            c[17 + at] = (uint32_t)a->dilation.at[i];
        }
        c[19] = (uint32_t)a->groups;
    }
    if (node->n_inputs > 2) {
        c[20] = (uint32_t)constant_int(node->inputs[2]);
        c[21] = (uint32_t)constant_int(node->inputs[3]);
    }
    encoder_command(e, SIM_NPU_CONV, 22, c);
    e->inner[node->outputs[0]->id] = to;
    return true;
}

/* multiply and bias_add by a constant: one number, or one per channel. */
static bool encode_channel(struct encoder *e, const struct node *node, const struct value *operand,
                           const struct value *vector)
{
    const struct planes planes = planes_of(&node->outputs[0]->type);
    const bool is_integer = operand->type.dtype == DTYPE_I32;
    const enum sim_npu_channel what = node->op == OP_MULTIPLY ? SIM_NPU_MUL_F32
                                      : is_integer            ? SIM_NPU_ADD_I32
                                                              : SIM_NPU_ADD_F32;
    struct sram_block *block, *factors;

    if (elements(vector) == planes.channels) {
        factors = encoder_operand(e, vector);
    } else {
        uint32_t *repeated = arena_array(e->arena, uint32_t, planes.channels);

        for (uint32_t i = 0; i < planes.channels; i++)
            memcpy(&repeated[i], vector->data, sizeof *repeated);
        factors = encoder_constant(e, repeated, (size_t)planes.channels * sizeof *repeated);
    }
    block = change(e, node, operand);
    if (!block || !factors)
        return false;
    encoder_command(e, SIM_NPU_CHANNEL, 6,
                    (const uint32_t[]){ block->address, factors->address, planes.batch,
                                        planes.channels, planes.inner, (uint32_t)what });
    return true;
}

static bool encode_add(struct encoder *e, const struct node *node)
{
    struct sram_block *a = encoder_operand(e, node->inputs[0]);
    struct sram_block *b = encoder_operand(e, node->inputs[1]), *y = NULL;

    if (!a || !b)
        return false;
    y = encoder_is_own(e, a)   ? a
        : encoder_is_own(e, b) ? b
                               : encoder_take(e, type_bytes(&node->outputs[0]->type));
    if (!y)
        return false;
    encoder_command(
        e, SIM_NPU_ADD, 4,
        (const uint32_t[]){ a->address, b->address, y->address, elements(node->outputs[0]) });
    e->inner[node->outputs[0]->id] = y;
    return true;
}

static bool encode_clamp(struct encoder *e, const struct node *node)
{
    const bool is_relu = node->op == OP_RELU;
    const struct sram_block *y = change(e, node, node->inputs[0]);

    if (!y)
        return false;
    encoder_command(e, SIM_NPU_CLAMP, 5,
                    (const uint32_t[]){ y->address, elements(node->outputs[0]), SIM_NPU_F32,
                                        float_bits(is_relu ? 0 : node->attrs.clip.a_min),
                                        float_bits(is_relu ? INFINITY : node->attrs.clip.a_max) });
    return true;
}

static bool encode_cast(struct encoder *e, const struct node *node)
{
    const struct type *from = &node->inputs[0]->type, *to = &node->outputs[0]->type;
    const struct sram_block *x = encoder_operand(e, node->inputs[0]);
    struct sram_block *y = encoder_take(e, type_bytes(to));

    if (!x || !y)
        return false;
    encoder_command(e, SIM_NPU_CONVERT, 5,
                    (const uint32_t[]){ x->address, y->address, elements(node->outputs[0]),
                                        format_of(from->dtype), format_of(to->dtype) });
    e->inner[node->outputs[0]->id] = y;
    return true;
}

/* A row of the table is a multiplier and a shift. */
static bool encode_requantize(struct encoder *e, const struct node *node)
{
    const struct planes planes = planes_of(&node->outputs[0]->type);
    const uint32_t n_factors = elements(node->inputs[1]);
    int32_t *table = arena_array(e->arena, int32_t, 2 * (size_t)n_factors);
    const struct sram_block *x = encoder_operand(e, node->inputs[0]), *factors;
    struct sram_block *y = encoder_take(e, type_bytes(&node->outputs[0]->type));

    for (uint32_t i = 0; i < n_factors; i++) {
        const struct fixed_point factor =
            fixed_point_of(constant_real(node->inputs[1], i) / constant_real(node->inputs[3], 0));

        table[2 * i] = factor.multiplier;
        table[2 * i + 1] = factor.shift;
    }
    factors = encoder_constant(e, table, 8 * (size_t)n_factors);
    if (!x || !y || !factors)
        return false;
    encoder_command(e, SIM_NPU_REQUANTIZE, 9,
                    (const uint32_t[]){ x->address, y->address, planes.batch, planes.channels,
                                        planes.inner, factors->address, n_factors,
                                        (uint32_t)constant_int(node->inputs[2]),
                                        (uint32_t)constant_int(node->inputs[4]) });
    e->inner[node->outputs[0]->id] = y;
    return true;
}

/* Inputs: a, b, scale and zero point of a, of b, of the result. */
static bool encode_qnn_add(struct encoder *e, const struct node *node)
{
    const struct qnn_add_factors f =
        qnn_add_factors_of(DTYPE_I8, constant_real(node->inputs[2], 0),
                           constant_real(node->inputs[4], 0), constant_real(node->inputs[6], 0));
    const struct sram_block *a = encoder_operand(e, node->inputs[0]);
    const struct sram_block *b = encoder_operand(e, node->inputs[1]);
    struct sram_block *y = encoder_take(e, type_bytes(&node->outputs[0]->type));

    if (!a || !b || !y)
        return false;
    encoder_command(e, SIM_NPU_ADD_I8, 14,
                    (const uint32_t[]){
                        a->address, b->address, y->address, elements(node->outputs[0]),
                        (uint32_t)f.shift, (uint32_t)f.a.multiplier, (uint32_t)f.a.shift,
                        (uint32_t)f.b.multiplier, (uint32_t)f.b.shift, (uint32_t)f.out.multiplier,
                        (uint32_t)f.out.shift, (uint32_t)constant_int(node->inputs[3]),
                        (uint32_t)constant_int(node->inputs[5]),
                        (uint32_t)constant_int(node->inputs[7]) });
    e->inner[node->outputs[0]->id] = y;
    return true;
}

static bool encode_max_pool(struct encoder *e, const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct pool_attrs *a = &node->attrs.pool;
    const struct sram_block *from = encoder_operand(e, node->inputs[0]);
    struct sram_block *to = encoder_take(e, type_bytes(y));

    if (!from || !to)
        return false;
    encoder_command(e, SIM_NPU_MAX_POOL, 14,
                    (const uint32_t[]){ from->address, to->address, (uint32_t)format_of(x->dtype),
                                        (uint32_t)(x->dim[0] * x->dim[1]), (uint32_t)x->dim[2],
                                        (uint32_t)x->dim[3], (uint32_t)y->dim[2],
                                        (uint32_t)y->dim[3], (uint32_t)a->pool_size.at[0],
                                        (uint32_t)a->pool_size.at[1], (uint32_t)a->strides.at[0],
                                        (uint32_t)a->strides.at[1], (uint32_t)a->padding.at[0],
                                        (uint32_t)a->padding.at[1] });
    e->inner[node->outputs[0]->id] = to;
    return true;
}

static bool is_constant(const struct value *value)
{
    return value->kind == VALUE_CONSTANT;
}

bool encode_node(struct encoder *e, const struct node *node)
{
    switch (node->op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_DENSE:
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_DENSE: return encode_product(e, node);
    case OP_MULTIPLY:
        return is_constant(node->inputs[0])
                   ? encode_channel(e, node, node->inputs[1], node->inputs[0])
                   : encode_channel(e, node, node->inputs[0], node->inputs[1]);
    case OP_BIAS_ADD: return encode_channel(e, node, node->inputs[0], node->inputs[1]);
    case OP_ADD: return encode_add(e, node);
    case OP_RELU:
    case OP_CLIP: return encode_clamp(e, node);
    case OP_CAST: return encode_cast(e, node);
    case OP_QNN_REQUANTIZE: return encode_requantize(e, node);
    case OP_QNN_ADD: return encode_qnn_add(e, node);
    case OP_MAX_POOL2D: return encode_max_pool(e, node);
    case OP_RESHAPE: /* the same bytes */
        return (e->inner[node->outputs[0]->id] = encoder_operand(e, node->inputs[0])) != NULL;
    default: return encoder_refuse(e, "an operator that the accelerator does not have");
    }
}
