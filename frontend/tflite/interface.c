/* interface.c - inputs and outputs of the model, and which tensors there are. */
#include <string.h>

#include "base/str.h"
#include "frontend/tflite/importer.h"
#include "relay_ir/walk.h"

/* --- which tensors there are ------------------------------------------------------------------ */

struct tfl_tensor *tfl_import_tensor(struct import *im, const struct origin *origin,
                                     const char *what, size_t i, int64_t index, bool *ok)
{
    struct tfl_graph *graph = im->graph;

    if (index >= 0 && index < graph->n_tensors)
        return &graph->tensors[index];
    if (index != -1 || !origin)
        *ok = diag_error(im->ctx, DIAG_TFLITE_GRAPH, origin,
                         "%s %zu is tensor #%lld, and there are %d", what, i, (long long)index,
                         graph->n_tensors);
    return NULL;
}

bool tfl_import_readable(struct import *im, const struct origin *origin,
                         const struct tfl_tensor *tensor)
{
    const char *text = tfl_tensor_text(im->ctx, im->graph, tensor);

    if (tensor->type.dtype == DTYPE_NONE) {
        diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, origin, "%s is of %s", text, tensor->dtype_name);
        diag_help(im->ctx, "relayc reads FLOAT32, INT8, UINT8, INT16, INT32, INT64 and BOOL");
        return false;
    }
    if (tensor->refused)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin, "%s: %s", text, tensor->refused);
    if (!tensor->is_variable)
        return true;
    diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, origin,
               "%s keeps its numbers from one run to the next", text);
    diag_help(im->ctx, "SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM may read such tensors; resource "
                       "variables, or inputs and outputs with --state, keep any state");
    return false;
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

/* The file's scales of an input; NULL = none, or not in a form that the interface has. */
static const struct qtype *scaled(struct import *im, const struct tfl_tensor *tensor)
{
    const enum dtype dtype = tensor->is_unsigned ? DTYPE_U8 : tensor->type.dtype;
    const int64_t given = tfl_zero(tensor) + (tensor->is_unsigned ? 128 : 0);
    struct arena *arena = &im->module->arena;
    struct qtype *quant;
    float *scale;
    int32_t *zero;

    if (tensor->scales.n != 1 || tensor->zeros.n > 1 || dtype_is_float(tensor->type.dtype) ||
        dtype_bytes(tensor->type.dtype) > 4 || !(fb_float_at(&tensor->scales, 0) > 0) ||
        fb_float_at(&tensor->scales, 0) > 3e38f || given < (int64_t)dtype_least(dtype) ||
        given > (int64_t)dtype_greatest(dtype))
        return NULL;
    quant = arena_new(arena, struct qtype);
    scale = arena_new(arena, float);
    zero = arena_new(arena, int32_t);
    *scale = fb_float_at(&tensor->scales, 0);
    *zero = (int32_t)given;
    *quant = (struct qtype){
        .kind = QTYPE_SCALED, .axis = -1, .n = 1, .scale = scale, .zero = *zero ? zero : NULL
    };
    return quant;
}

/* UINT8 quantised values as the i8 that they are taken for. */
static struct value *less_128(struct import *im, struct tfl_tensor *tensor, struct value *x)
{
    const union attrs attrs = { .cast = { .dtype = DTYPE_I8, .saturate = true } };
    const struct type type = type_scalar(DTYPE_U8);
    struct function *fn = im->module->main;
    uint8_t *bit = constant_alloc(fn, &type);

    *bit = 128;
    x = build(fn, OP_BITWISE_XOR, NULL, arena_printf(&im->ctx->perm, "%s.flipped", tensor->name),
              NULL, NULL, 2,
              (struct value *const[]){ x, constant_new(fn, "sign_bit", &type, bit) });
    return x ? build(fn, OP_CAST, &attrs, arena_printf(&im->ctx->perm, "%s.i8", tensor->name), NULL,
                     NULL, 1, &x)
             : NULL;
}

void tfl_import_inputs(struct import *im)
{
    const struct fb_vector *inputs = &im->model.main.inputs;

    for (size_t i = 0; i < inputs->n && !im->is_over; i++) {
        bool ok = true;
        struct tfl_tensor *tensor =
            tfl_import_tensor(im, NULL, "input", i, fb_int_at(inputs, i, 4), &ok);
        struct type type;

        if (!tensor || !limit_check(im->ctx, LIMIT_INTERFACE, NULL, (double)(i + 1))) {
            im->is_over = im->is_over || tensor;
            continue;
        }
        if (tensor->value || tensor->is_failed || tensor->data.data) {
            diag_error(im->ctx, DIAG_TFLITE_GRAPH, NULL,
                       "input %zu is %s, which is defined already", i,
                       tfl_tensor_text(im->ctx, &im->model.main, tensor));
            continue;
        }
        tensor->is_failed = true;
        if (!tfl_import_readable(im, NULL, tensor))
            continue;
        type = tensor->type;
        type.dtype = tensor->is_unsigned ? DTYPE_U8 : type.dtype;
        type.quant = scaled(im, tensor);
        tensor->value = param_new(im->module->main, tensor->name, &type);
        if (tensor->is_unsigned)
            tensor->value = less_128(im, tensor, tensor->value);
        tensor->is_failed = false;
    }
}

/* A result says how its quantised values are read. Averages are computed without zero points, and what moves
 * quantised values passes on what it reads: where that is not what the file says, a table changes nothing but
 * the scale. Another one gives UINT8 quantised values their 128 again. */
static struct value *with_scale(struct import *im, struct tfl_tensor *tensor, struct value *value)
{
    const int64_t n = 256;
    const union attrs attrs = { .axis = { .axis = 0 } };
    struct type plain = value->type, wanted = value->type;
    struct type table = type_make(plain.dtype, 1, &n);
    struct function *fn = im->module->main;
    struct value *inputs[4] = { value };
    uint8_t *quantized;

    wanted.quant = scaled(im, tensor);
    wanted.dtype = table.dtype = tensor->is_unsigned ? DTYPE_U8 : plain.dtype;
    if (!wanted.quant || type_equal(&plain, &wanted) ||
        (value->kind != VALUE_OUTPUT && !tensor->is_unsigned) || plain.dtype != DTYPE_I8)
        return value;
    quantized = constant_alloc(fn, &table);
    for (int i = 0; i < 256; i++)
        quantized[i] = (uint8_t)(tensor->is_unsigned ? i : i - 128);
    inputs[1] = constant_new(fn, "codes", &table, quantized);
    plain = type_scalar(DTYPE_F32);
    inputs[2] =
        constant_new(fn, "scale", &plain,
                     memcpy(constant_alloc(fn, &plain), wanted.quant->scale, sizeof(float)));
    plain = type_scalar(wanted.dtype);
    inputs[3] = constant_new(fn, "zero", &plain, constant_alloc(fn, &plain));
    dtype_store_int(plain.dtype, (void *)(uintptr_t)inputs[3]->data, 0,
                    tfl_zero(tensor) + (tensor->is_unsigned ? 128 : 0));
    return build(fn, OP_QNN_LUT, &attrs, tensor->name, value->def ? value->def->origin : NULL, NULL,
                 4, inputs);
}

/* The name that no other output has. */
static const char *output_name(struct import *im, struct map *seen, const char *name)
{
    const char *unique = *name ? name : "output";

    for (int i = 2; map_get(seen, unique); i++)
        unique = arena_printf(&im->module->arena, "%s_%d", *name ? name : "output", i);
    map_set(seen, unique, im);
    return unique;
}

void tfl_import_outputs(struct import *im)
{
    const struct tfl_graph *graph = &im->model.main;
    const struct fb_vector *outputs = &graph->outputs;
    struct map seen = { .arena = &im->ctx->perm };

    if (!outputs->n)
        diag_error(im->ctx, DIAG_TFLITE_GRAPH, NULL, "the graph has no outputs");
    if (!limit_check(im->ctx, LIMIT_INTERFACE, NULL, (double)outputs->n))
        return;
    for (size_t i = 0; i < outputs->n; i++) {
        bool ok = true;
        struct tfl_tensor *tensor =
            tfl_import_tensor(im, NULL, "output", i, fb_int_at(outputs, i, 4), &ok);
        struct value *value;

        if (!tensor || tensor->is_failed)
            continue;
        value = tfl_result(im->module->main, tensor);
        value = value ? with_scale(im, tensor, value) : NULL;
        if (value)
            result_add(im->module->main, value, output_name(im, &seen, tensor->name));
        else
            diag_error(im->ctx, DIAG_TFLITE_GRAPH, NULL, "output %zu is %s, which nothing computes",
                       i, tfl_tensor_text(im->ctx, graph, tensor));
    }
}
