#include "relay_ir/validate/stored.h"

bool stored_is_decoder(const struct node *node)
{
    return node->op == OP_QNN_DEQUANTIZE ||
           (node->op == OP_CAST && node->attrs.cast.dtype == DTYPE_F32 &&
            node->inputs[0]->type.dtype != DTYPE_F32);
}

/* The element of a scale or zero point, one or a vector along the axis. */
static int64_t along(const struct node *decoder, const struct type *numbers, int64_t i)
{
    const struct type *type = &decoder->inputs[0]->type;
    const int64_t n = type_elements(numbers);

    return n == 1 ? 0 : i / type_span(type, (int)decoder->attrs.axis.axis + 1, type->rank) % n;
}

static int64_t block_of(const struct type *type, int64_t i)
{
    const int64_t rows = type->rank ? type->dim[0] : 1, row = type_elements(type) / rows;
    const int64_t block = type->quant->block, blocks = (row + block - 1) / block;

    return i / row * blocks + i % row / block;
}

int64_t stored_channel(const struct node *decoder, int64_t i)
{
    const struct type *type = &decoder->inputs[0]->type;

    if (type_has_blocks(type)) /* a row: its errors make up for each other */
        return i / (type_elements(type) / (type->rank ? type->dim[0] : 1));
    return decoder->op == OP_CAST ? 0 : along(decoder, &decoder->inputs[1]->type, i);
}

double stored_scale(const struct node *decoder, int64_t i)
{
    const struct type *type = &decoder->inputs[0]->type;
    double scale = 1;

    if (type_has_blocks(type))
        scale = (double)type->quant->scale[block_of(type, i)];
    if (decoder->op == OP_QNN_DEQUANTIZE) {
        const struct tensor scales = value_tensor(decoder->inputs[1]);

        scale *= tensor_at(&scales, along(decoder, &scales.type, i));
    }
    return scale;
}

double stored_zero(const struct node *decoder, int64_t i)
{
    if (decoder->op == OP_QNN_DEQUANTIZE && decoder->inputs[2]) {
        const struct tensor zeros = value_tensor(decoder->inputs[2]);

        return tensor_at(&zeros, along(decoder, &zeros.type, i));
    }
    return 0;
}

double stored_code(const struct tensor *quantized, int64_t i)
{
    const struct type *type = &quantized->type;
    const double number = tensor_at(quantized, i);

    return type_has_blocks(type) ? number / (double)type->quant->scale[block_of(type, i)] : number;
}
