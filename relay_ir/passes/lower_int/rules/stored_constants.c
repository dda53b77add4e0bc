/* stored_constants.c - constants that are stored as quantised values stay so where a table is read at
 * computed places, and where products read them with zero points, or with scales along another axis
 * than that of their outputs.
 *
 * Only the rows that are read are decoded: an embedding table keeps its bytes. */
#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/passes/rules.h"
#include "relay_ir/products.h"

static const union attrs to_f32 = { .cast = { .dtype = DTYPE_F32, .saturate = true } };

static bool is_constant(const struct value *value)
{
    return value && value->kind == VALUE_CONSTANT;
}

static bool all_zero(const struct value *zero)
{
    const struct tensor tensor = value_tensor(zero);

    for (int64_t i = 0; i < type_elements(&zero->type); i++)
        if (tensor_at(&tensor, i) != 0)
            return false;
    return true;
}

/* --- tables that are read by indices ---------------------------------------------------------- */

/* A number for each row, as a constant f32 of the table's rank: [1, n, 1] for axis 1. */
static struct value *along(struct rewrite *rewrite, const struct value *numbers, int rank,
                           int64_t axis, const char *suffix)
{
    const struct tensor from = value_tensor(numbers);
    struct type type = { .dtype = DTYPE_F32, .rank = rank };
    float *data;

    for (int i = 0; i < rank; i++)
        type.dim[i] = i == axis ? type_elements(&numbers->type) : 1;
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < type_elements(&type); i++)
        data[i] = (float)tensor_at(&from, i);
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.%s", numbers->name, suffix), &type,
                        data);
}

/* Scales along the axis that is read: those of the rows are read as well. */
static struct value *take_rows(struct rewrite *rewrite, const struct node *root,
                               const struct node *decode)
{
    const int64_t axis = root->attrs.axis.axis;
    const int rank = root->inputs[0]->type.rank;
    struct value *indices = root->inputs[1], *zero = decode->inputs[2];
    struct value *y = rule_build2(rewrite, OP_TAKE, &root->attrs, decode->inputs[0], indices);

    y = rule_build1(rewrite, OP_CAST, &to_f32, y);
    if (!all_zero(zero)) {
        const bool one = type_elements(&zero->type) == 1;
        struct value *zeros =
            along(rewrite, zero, one ? root->outputs[0]->type.rank : rank, one ? 0 : axis, "rows");

        if (!one)
            zeros = rule_build2(rewrite, OP_TAKE, &root->attrs, zeros, indices);
        y = rule_build2(rewrite, OP_SUBTRACT, NULL, y, zeros);
    }
    return rule_build2(rewrite, OP_MULTIPLY, NULL, y,
                       rule_build2(rewrite, OP_TAKE, &root->attrs,
                                   along(rewrite, decode->inputs[1], rank, axis, "rows"), indices));
}

/* take(dequantize(table)) -> what is read is decoded; table and scales are constants, a scale (and
 * a zero point) for each index of an axis. One scale for all: move_before_dequantize. */
static struct value *take_of_channels(struct rewrite *rewrite, const struct node *root,
                                      const struct node *decode)
{
    const int64_t axis = root->attrs.axis.axis;
    union attrs attrs = decode->attrs;

    if (!is_constant(decode->inputs[1]) || !is_constant(decode->inputs[2]) ||
        type_elements(&decode->inputs[2]->type) > type_elements(&decode->inputs[1]->type))
        return NULL;
    rule_covers(rewrite, decode);
    if (type_elements(&decode->inputs[1]->type) == 1)
        attrs.axis.axis = 0;
    else if (attrs.axis.axis == axis)
        return take_rows(rewrite, root, decode);
    else if (attrs.axis.axis > axis)
        attrs.axis.axis += root->inputs[1]->type.rank - 1;
    return rule_build3(
        rewrite, OP_QNN_DEQUANTIZE, &attrs,
        rule_build2(rewrite, OP_TAKE, &root->attrs, decode->inputs[0], root->inputs[1]),
        decode->inputs[1], decode->inputs[2]);
}

/* A constant of [rows, blocks], of the scales or zero points of a table's blocks. */
static struct value *of_blocks(struct rewrite *rewrite, const struct value *quantized, bool zeros)
{
    const struct qtype *quant = quantized->type.quant;
    struct type type = type_make(DTYPE_F32, 2, quantized->type.dim);
    float *data;

    type.dim[1] = quant->n / type.dim[0];
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < quant->n; i++)
        data[i] = zeros ? (float)quant->zero[i] : quant->scale[i];
    return constant_new(
        rewrite->fn,
        arena_printf(&rewrite->ctx->scratch, "%s.%s", quantized->name, zeros ? "zero" : "scale"),
        &type, data);
}

/* What was read, of [n, 1] or [n, blocks, block]. */
static struct value *shaped(struct rewrite *rewrite, struct value *x, int64_t n, int64_t blocks,
                            int64_t block)
{
    const struct type shape = type_make(DTYPE_F32, 3, (int64_t[]){ n, blocks, block });

    return x ? rule_reshape(rewrite, x, &shape) : NULL;
}

/* take(cast(table)) along its rows, which are of whole blocks. */
static struct value *take_of_blocks(struct rewrite *rewrite, const struct node *root,
                                    const struct node *decode)
{
    const struct value *quantized = decode->inputs[0];
    const struct qtype *quant = quantized->type.quant;
    struct value *indices = root->inputs[1], *y, *scale, *zero = NULL;
    const int64_t n = type_elements(&indices->type);
    struct type plain = quantized->type;
    int64_t blocks;

    if (root->attrs.axis.axis != 0 || quantized->type.rank != 2 ||
        quantized->type.dim[1] % quant->block != 0)
        return NULL;
    blocks = quantized->type.dim[1] / quant->block;
    plain.quant = NULL;
    rule_covers(rewrite, decode);
    y = constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.rows", quantized->name),
                     &plain, quantized->data);
    y = rule_build2(rewrite, OP_TAKE, &root->attrs, y, indices);
    y = shaped(rewrite, rule_build1(rewrite, OP_CAST, &to_f32, y), n, blocks, quant->block);
    scale =
        rule_build2(rewrite, OP_TAKE, &root->attrs, of_blocks(rewrite, quantized, false), indices);
    if (quant->zero)
        zero = shaped(rewrite,
                      rule_build2(rewrite, OP_TAKE, &root->attrs,
                                  of_blocks(rewrite, quantized, true), indices),
                      n, blocks, 1);
    if (zero)
        y = rule_build2(rewrite, OP_SUBTRACT, NULL, y, zero);
    y = rule_build2(rewrite, OP_MULTIPLY, NULL, y, shaped(rewrite, scale, n, blocks, 1));
    return y ? rule_reshape(rewrite, y, &root->outputs[0]->type) : NULL;
}

struct value *take_of_quantized(struct rewrite *rewrite, struct node *root)
{
    const struct node *decode = root->inputs[0]->def;

    if (!decode || root->outputs[0]->type.dtype != DTYPE_F32 ||
        (decode->op != OP_QNN_DEQUANTIZE && decode->op != OP_CAST) ||
        !is_constant(decode->inputs[0]) || is_constant(root->inputs[1]) ||
        dtype_packed_bits(decode->inputs[0]->type.dtype) > 16)
        return NULL;
    if (decode->op == OP_QNN_DEQUANTIZE)
        return take_of_channels(rewrite, root, decode);
    if (type_has_blocks(&decode->inputs[0]->type))
        return take_of_blocks(rewrite, root, decode);
    rule_covers(rewrite, decode);
    return rule_build1(
        rewrite, OP_CAST, &decode->attrs,
        rule_build2(rewrite, OP_TAKE, &root->attrs, decode->inputs[0], root->inputs[1]));
}

/* --- weights ---------------------------------------------------------------------------------- */

/* transpose(decode(quantized)) -> decode(transpose(quantized)) */
struct value *turn_before_decoder(struct rewrite *rewrite, struct node *root)
{
    const struct node *decode = root->inputs[0]->def;
    const struct ints *axes = &root->attrs.axes.axes;
    struct value *inputs[3] = { NULL };
    union attrs attrs;

    if (!decode || (decode->op != OP_QNN_DEQUANTIZE && decode->op != OP_CAST) ||
        !is_constant(decode->inputs[0]) || type_has_blocks(&decode->inputs[0]->type) ||
        root->outputs[0]->type.dtype != DTYPE_F32 ||
        dtype_packed_bits(decode->inputs[0]->type.dtype) > 16)
        return NULL;
    attrs = decode->attrs;
    for (int i = 1; i < decode->n_inputs; i++)
        inputs[i] = decode->inputs[i];
    for (int64_t i = 0; decode->op == OP_QNN_DEQUANTIZE && i < axes->n; i++)
        if (axes->at[i] == decode->attrs.axis.axis)
            attrs.axis.axis = i;
    rule_covers(rewrite, decode);
    inputs[0] = rule_build1(rewrite, OP_TRANSPOSE, &root->attrs, decode->inputs[0]);
    return inputs[0] ? rule_build(rewrite, decode->op, &attrs, decode->n_inputs, inputs) : NULL;
}

/* transpose(quantized) -> quantised values: constants are folded later, when decoders are as well. */
struct value *turned_quantized(struct rewrite *rewrite, struct node *root)
{
    const struct value *quantized = root->inputs[0];
    struct tensor tensor;

    if (!is_constant(quantized) || dtype_packed_bits(quantized->type.dtype) > 16 ||
        type_has_blocks(&quantized->type) ||
        !interpret_constant(rewrite->ctx, root->outputs[0], INT64_MAX, &rewrite->fn->module->bulk,
                            &tensor))
        return NULL;
    return rule_constant_like(rewrite, root->inputs[0], &root->outputs[0]->type, tensor.data);
}

/* Products read weights without zero points and with scales along their outputs, or in blocks. */
static bool are_weights(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (!(is_product(use->node->op) && use->node->inputs[1] == value) &&
            !(use->node->op == OP_TRANSPOSE && are_weights(use->node->outputs[0])))
            return false;
    return value->uses != NULL;
}

/* Weights of whole numbers as [outer, channels, inner], with a scale and a zero point for each
 * channel. */
struct weights {
    const struct value *quantized, *scale;
    struct tensor zero;
    int64_t channels, inner;
};

static int32_t zero_at(const struct weights *w, int64_t channel)
{
    return (int32_t)tensor_int_at(&w->zero, type_elements(&w->zero.type) == 1 ? 0 : channel);
}

static bool scales_are_fine(const struct value *scale)
{
    const float *data = scale->data;

    if (scale->type.dtype != DTYPE_F32)
        return false;
    for (int64_t i = 0; i < type_elements(&scale->type); i++)
        if (!(data[i] > 0) || !isfinite(data[i]))
            return false;
    return true;
}

static bool weights_of(const struct node *decode, struct weights *w)
{
    const struct type *type = &decode->inputs[0]->type;
    const int axis = (int)decode->attrs.axis.axis;
    const bool small = type->dtype == DTYPE_I8 || type->dtype == DTYPE_U8 ||
                       dtype_kind(type->dtype) == KIND_NIBBLE;

    if (!small || !is_constant(decode->inputs[0]) || !is_constant(decode->inputs[1]) ||
        !is_constant(decode->inputs[2]) || decode->outputs[0]->type.dtype != DTYPE_F32 ||
        !scales_are_fine(decode->inputs[1]) || type_elements(type) == 0)
        return false;
    *w = (struct weights){ .quantized = decode->inputs[0],
                           .scale = decode->inputs[1],
                           .zero = value_tensor(decode->inputs[2]),
                           .channels = 1,
                           .inner = type_elements(type) };
    if (type_elements(&w->scale->type) == 1 && type_elements(&w->zero.type) == 1)
        return true;
    w->channels = type->dim[axis];
    w->inner = type_span(type, axis + 1, type->rank);
    return true;
}

/* Of unsigned quantised values: what signed ones are less. */
static int32_t shift_of(const struct weights *w)
{
    const enum dtype dtype = w->quantized->type.dtype;

    return dtype == DTYPE_U8 ? 128 : dtype == DTYPE_U4 ? 8 : 0;
}

static int32_t code_at(const struct weights *w, const struct tensor *x, int64_t i, bool centred)
{
    return (int32_t)tensor_int_at(x, i) -
           (centred ? zero_at(w, i / w->inner % w->channels) : shift_of(w));
}

/* Quantised values less their zero points (`centred`), or moved to where signed ones are: as i4
 * where they fit and were of 4 bits, or (`may_grow`) i8. NULL when they do not fit. */
static void *quantized_of(struct rewrite *rewrite, const struct weights *w, bool centred,
                          bool may_grow, struct type *type)
{
    const struct tensor x = value_tensor(w->quantized);
    const int64_t n = type_elements(&x.type);
    int32_t least = 0, greatest = 0;
    bool is_nibble;
    void *data;

    for (int64_t i = 0; i < n; i++) {
        const int32_t code = code_at(w, &x, i, centred);

        least = code < least ? code : least;
        greatest = code > greatest ? code : greatest;
    }
    is_nibble = dtype_kind(x.type.dtype) == KIND_NIBBLE && least >= -8 && greatest <= 7;
    if (least < INT8_MIN || greatest > INT8_MAX ||
        (!may_grow && !is_nibble && dtype_kind(x.type.dtype) == KIND_NIBBLE))
        return NULL;
    *type = x.type;
    type->quant = NULL;
    type->dtype = is_nibble ? DTYPE_I4 : DTYPE_I8;
    data = constant_alloc(rewrite->fn, type);
    for (int64_t i = 0; i < n; i++)
        dtype_store_int(type->dtype, data, i, code_at(w, &x, i, centred));
    return data;
}

/* dequantize(quantized, scale, zero) -> dequantize(quantized - zero, scale, 0) */
static struct value *centred(struct rewrite *rewrite, const struct node *root,
                             const struct weights *w, bool may_grow)
{
    struct type type, scalar;
    const void *data = quantized_of(rewrite, w, true, may_grow, &type);
    struct value *quantized;
    void *zero;

    if (!data)
        return NULL;
    quantized = rule_constant_like(rewrite, root->inputs[0], &type, data);
    scalar = type_scalar(type.dtype);
    zero = constant_alloc(rewrite->fn, &scalar);
    dtype_store_int(scalar.dtype, zero, 0, 0);
    return rule_build3(
        rewrite, OP_QNN_DEQUANTIZE, &root->attrs, quantized, root->inputs[1],
        constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.zero", quantized->name),
                     &scalar, zero));
}

/* The same quantised values with rows and columns exchanged. */
static void *turned(struct rewrite *rewrite, const void *quantized, struct type *type)
{
    const struct tensor from = { *type, (void *)(uintptr_t)quantized };
    const int64_t rows = type->dim[1], n = type->dim[0];
    void *data;

    *type = type_make(type->dtype, 2, (int64_t[]){ rows, n });
    data = constant_alloc(rewrite->fn, type);
    for (int64_t i = 0; i < rows * n; i++)
        dtype_store_int(type->dtype, data, i, tensor_int_at(&from, i % n * rows + i / n));
    return data;
}

/* dequantize(quantized, scale, zero) -> quantised values in blocks of a whole row, with a zero point
 * each: for matrices, and kernels of one point. */
static struct value *in_blocks(struct rewrite *rewrite, const struct node *root,
                               const struct weights *w)
{
    const union attrs swapped = { .axes = { .axes = { .n = 2, .at = { 1, 0 } } } };
    struct arena *arena = &rewrite->fn->module->arena;
    const struct tensor scale = value_tensor(w->scale);
    const int axis = w->channels == 1 ? 0 : (int)root->attrs.axis.axis;
    struct qtype *quant = arena_new(arena, struct qtype);
    struct type type;
    float *scales;
    int32_t *zeros;
    struct value *y;
    void *quantized;
    int64_t n;

    if (root->outputs[0]->type.rank < 2 || axis > 1 ||
        (axis == 1 && root->outputs[0]->type.rank != 2) ||
        type_span(&w->quantized->type, 2, w->quantized->type.rank) != 1)
        return NULL;
    quantized = quantized_of(rewrite, w, false, false, &type);
    if (axis == 1)
        quantized = turned(rewrite, quantized, &type);
    n = type.dim[0];
    *quant = (struct qtype){ .kind = QTYPE_BLOCKS, .axis = -1, .n = n };
    quant->block = (type.dim[1] + 31) / 32 * 32;
    quant->scale = scales = arena_array(arena, float, (size_t)n);
    zeros = arena_array(arena, int32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        scales[i] = (float)tensor_at(&scale, type_elements(&scale.type) == 1 ? 0 : i);
        zeros[i] = zero_at(w, i) - shift_of(w);
        if (zeros[i] != 0)
            quant->zero = zeros;
    }
    type.quant = quant;
    y = rule_build1(rewrite, OP_CAST, &to_f32,
                    rule_constant_like(rewrite, root->inputs[0], &type, quantized));
    return axis == 1 ? rule_build1(rewrite, OP_TRANSPOSE, &swapped, y) : y;
}

/* Whether products multiply by the scales behind them. */
static bool are_of_outputs(const struct value *value, int64_t axis)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct ints *axes = &use->node->attrs.axes.axes;
        int64_t moved = 0;
        int rank;

        if (is_product(use->node->op)) {
            if (product_channel_axis(use->node, &rank) != axis)
                return false;
            continue;
        }
        while (moved < axes->n && axes->at[moved] != axis)
            moved++;
        if (!are_of_outputs(use->node->outputs[0], moved))
            return false;
    }
    return true;
}

struct value *quantized_of_weights(struct rewrite *rewrite, struct node *root)
{
    const enum dtype dtype = root->inputs[0]->type.dtype;
    struct value *y = NULL;
    bool along;
    struct weights w;

    if (!weights_of(root, &w) || !are_weights(root->outputs[0]))
        return NULL;
    along = w.channels == 1 || are_of_outputs(root->outputs[0], root->attrs.axis.axis);
    if (along && all_zero(root->inputs[2]) && (dtype == DTYPE_I8 || dtype == DTYPE_I4))
        return NULL;
    if (along)
        y = centred(rewrite, root, &w, false);
    if (!y)
        y = in_blocks(rewrite, root, &w);
    return y || !along ? y : centred(rewrite, root, &w, true);
}
