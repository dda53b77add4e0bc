/* floats.c - dequantises the tensors of a file (--dequantize): a tensor with scales becomes f32, and its payload
 * scale * (q - zero point). Converters then see a network of floats. */
#include <math.h>

#include "frontend/tflite/convert.h"
#include "relay_ir/walk.h"

enum { MOST_SCALE = 100 }; /* powers of two: beyond it nothing real is stored */

/* Integers with usable scales: one, or one for each index of an axis. */
static bool is_quantised(const struct tfl_tensor *tensor)
{
    const enum dtype dtype = tensor->type.dtype;
    const size_t n = tensor->scales.n;

    if ((dtype != DTYPE_I8 && dtype != DTYPE_I16 && dtype != DTYPE_I32 && dtype != DTYPE_I64) ||
        n == 0 || tensor->refused || tensor->is_resource || tensor->sparsity.at != 0)
        return false;
    if (n > 1 && (tensor->axis < 0 || tensor->axis >= tensor->type.rank ||
                  tensor->type.dim[tensor->axis] != (int64_t)n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!(fb_float_at(&tensor->scales, i) > 0) ||
            !(fb_float_at(&tensor->scales, i) < ldexpf(1, MOST_SCALE)))
            return false;
    return true;
}

/* Quantised value i, before stored.c makes UINT8 signed. */
static int64_t code_at(const struct tfl_tensor *tensor, int64_t i)
{
    const uint8_t *data = tensor->data.data;

    if (tensor->is_packed)
        return tfl_nibble(data, i);
    if (tensor->is_unsigned)
        return data[i];
    return fb_int_at(&tensor->data, (size_t)i, (int)dtype_bytes(tensor->type.dtype));
}

static float number_at(const struct tfl_tensor *tensor, int64_t i, int64_t inner)
{
    const size_t n = tensor->scales.n;
    const size_t channel = n > 1 ? (size_t)(i / inner) % n : 0;
    const int64_t zero =
        tensor->zeros.n ? fb_int_at(&tensor->zeros, channel < tensor->zeros.n ? channel : 0, 8) : 0;

    return (float)((double)fb_float_at(&tensor->scales, channel) *
                   (double)(code_at(tensor, i) - zero));
}

/* False if the payload exceeds the limits. One whose size does not fit the shape stays, for an error later. */
static bool dequantise(struct module *module, struct tfl_tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    const size_t bytes = type_bytes(&tensor->type);

    if (tensor->data.data) {
        const int64_t inner =
            tensor->scales.n > 1
                ? type_span(&tensor->type, (int)tensor->axis + 1, tensor->type.rank)
                : 1;
        float *numbers;

        if (tensor->data.n != (tensor->is_packed ? (bytes + 1) / 2 : bytes))
            return true;
        if (!constants_fit(module, (double)n * sizeof *numbers, NULL))
            return false;
        numbers = arena_array(&module->arena, float, n);
        for (int64_t i = 0; i < n; i++)
            numbers[i] = number_at(tensor, i, inner);
        tensor->data.data = (const uint8_t *)numbers;
        tensor->data.n = (size_t)n * sizeof *numbers;
    }
    tensor->type.dtype = DTYPE_F32;
    tensor->is_unsigned = tensor->is_packed = false;
    tensor->scales.n = tensor->zeros.n = 0;
    return true;
}

/* --- biases ----------------------------------------------------------------------------------- */

/* Operators with a bias: which inputs are the data, the weights, the bias. */
static const struct {
    int code, x, w, bias;
} biased[] = {
    { TFL_CONV_2D, 0, 1, 2 },
    { TFL_DEPTHWISE_CONV_2D, 0, 1, 2 },
    { TFL_FULLY_CONNECTED, 0, 1, 2 },
    { TFL_TRANSPOSE_CONV, 2, 1, 3 },
};

static struct tfl_tensor *input_of(const struct tfl_graph *graph, const struct tfl_operator *op,
                                   int input)
{
    const int64_t index =
        (size_t)input < op->inputs.n ? fb_int_at(&op->inputs, (size_t)input, 4) : -1;

    return index >= 0 && index < graph->n_tensors ? &graph->tensors[index] : NULL;
}

/* A bias has the scale of the data times that of the weights, as kernels assume: the one in the file may be absent. */
static bool dequantise_bias(struct module *module, const struct tfl_tensor *x,
                            const struct tfl_tensor *w, struct tfl_tensor *bias)
{
    const int64_t n = type_elements(&bias->type);
    float *numbers;

    if (!is_quantised(x) || !is_quantised(w) || !bias->data.data || bias->is_packed ||
        (bias->type.dtype != DTYPE_I32 && bias->type.dtype != DTYPE_I64) ||
        bias->data.n != type_bytes(&bias->type) || (w->scales.n > 1 && w->scales.n != (size_t)n))
        return true;
    if (!constants_fit(module, (double)n * sizeof *numbers, NULL))
        return false;
    numbers = arena_array(&module->arena, float, n);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (float)((double)fb_float_at(&x->scales, 0) *
                             (double)fb_float_at(&w->scales, w->scales.n > 1 ? (size_t)i : 0) *
                             (double)code_at(bias, i));
    bias->data.data = (const uint8_t *)numbers;
    bias->data.n = (size_t)n * sizeof *numbers;
    bias->type.dtype = DTYPE_F32;
    bias->scales.n = bias->zeros.n = 0;
    return true;
}

static bool dequantise_biases(struct module *module, struct tfl_graph *graph)
{
    for (const struct tfl_operator *op = graph->operators;
         op < graph->operators + graph->n_operators; op++)
        for (size_t i = 0; i < sizeof biased / sizeof *biased; i++) {
            const struct tfl_tensor *x = input_of(graph, op, biased[i].x),
                                    *w = input_of(graph, op, biased[i].w);
            struct tfl_tensor *bias = input_of(graph, op, biased[i].bias);

            if (op->code == biased[i].code && !op->custom && x && w && bias &&
                !dequantise_bias(module, x, w, bias))
                return false;
        }
    return true;
}

bool tfl_floats(struct module *module, struct tfl_graph *graph)
{
    if (!dequantise_biases(module, graph))
        return false;
    for (int i = 0; i < graph->n_tensors; i++)
        if (is_quantised(&graph->tensors[i]) && !dequantise(module, &graph->tensors[i]))
            return false;
    return true;
}
