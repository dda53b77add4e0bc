/* data.c - the inputs and expected outputs of a case, and what "as expected" means. */
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "frontend/onnx/wire.h"
#include "frontend/tensors/tensor_file.h"
#include "tests/conformance/conformance.h"

static const double relative_tolerance = 1e-3, absolute_tolerance = 1e-7;
static const double engine_absolute_tolerance = 2e-6;

/* The generator of the data cuts bfloat16 off instead of rounding: one unit in the last place. */
static const double bf16_tolerance = 1.0 / 128;

struct list {
    struct tensor *at;
    int n;
};

static bool read_tensor(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                        struct bulk *bulk, struct list *out)
{
    struct named_tensors all;

    if (out->n == MAX_TENSORS || !tensor_file_read_bytes(ctx, path, bytes, size, bulk, &all) ||
        all.n != 1)
        return false;
    out->at[out->n++] = all.at->tensor;
    return true;
}

/* A TensorProto, the tensors of a SequenceProto, or what an OptionalProto holds, as the model declares. */
static bool read_value(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                       const Onnx__TypeProto *type, struct bulk *bulk, struct list *out)
{
    enum { OPTIONAL_TENSOR = 3, OPTIONAL_SEQUENCE = 5, SEQUENCE_TENSORS = 3 }; /* fields */
    const Onnx__TypeProto__Of *of = !type                 ? NULL
                                    : type->optional_type ? type->optional_type
                                                          : type->sequence_type;
    struct wire_cursor cursor = { bytes, bytes + size };
    struct wire_field field;
    const char *why = NULL;

    if (!of)
        return read_tensor(ctx, path, bytes, size, bulk, out);
    while (wire_next(&cursor, &field, &why)) {
        if (field.type != WIRE_BYTES || field.number < 2)
            continue;
        if (type->optional_type &&
            (field.number == OPTIONAL_TENSOR || field.number == OPTIONAL_SEQUENCE)) {
            if (!read_value(ctx, path, field.bytes, field.size, of->elem_type, bulk, out))
                return false;
        } else if (field.number != SEQUENCE_TENSORS ||
                   !read_tensor(ctx, path, field.bytes, field.size, bulk, out)) {
            return false;
        }
    }
    return why == NULL;
}

/* Reads input_0.pb, input_1.pb ... ; false when one of them is of no such type. */
static bool read_all(struct ctx *ctx, const char *dir, const char *stem, struct bulk *bulk,
                     Onnx__ValueInfoProto *const *infos, int n_infos, struct list *out, int *first,
                     int *n)
{
    for (int i = 0; i <= MAX_TENSORS; i++) {
        const char *path = arena_printf(&ctx->perm, "%s/%s_%d.pb", dir, stem, i);
        struct mapping file;

        first[i] = out->n;
        *n = i;
        if (access(path, R_OK) != 0)
            return true;
        if (i == MAX_TENSORS || !file_map(ctx, path, &file) ||
            !read_value(ctx, path, file.data, file.size, i < n_infos ? infos[i]->type : NULL, bulk,
                        out))
            return false;
    }
    return true;
}

int model_inputs(const Onnx__GraphProto *graph, Onnx__ValueInfoProto **inputs)
{
    int n = 0;

    for (size_t i = 0; graph && i < graph->n_input && n < MAX_TENSORS; i++) {
        bool has_initializer = false;

        for (size_t k = 0; k < graph->n_initializer; k++)
            has_initializer =
                has_initializer || strcmp(graph->initializer[k]->name, graph->input[i]->name) == 0;
        if (!has_initializer)
            inputs[n++] = graph->input[i];
    }
    return n;
}

bool data_set_read(struct ctx *ctx, const struct test_case *test, int index, struct bulk *bulk,
                   struct data_set *set, bool *broken)
{
    const char *dir = arena_printf(&ctx->perm, "%s/test_data_set_%d", test->dir, index);
    struct list inputs = { set->inputs, 0 }, outputs = { set->outputs, 0 };
    Onnx__ValueInfoProto *graph_inputs[MAX_TENSORS];
    int n_graph_inputs, n_outputs, unused[MAX_TENSORS + 1];
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph;
    struct mapping file;

    *broken = false;
    memset(set, 0, sizeof *set);
    if (access(dir, R_OK) != 0)
        return false;
    if (!file_map(ctx, arena_printf(&ctx->perm, "%s/model.onnx", test->dir), &file))
        return false;
    model = onnx__model_proto__unpack(NULL, file.size, file.data);
    graph = model ? model->graph : NULL;
    n_graph_inputs = model_inputs(graph, graph_inputs);
    *broken = !graph ||
              !read_all(ctx, dir, "input", bulk, graph_inputs, n_graph_inputs, &inputs, set->first,
                        &set->n_values) ||
              !read_all(ctx, dir, "output", bulk, graph->output, (int)graph->n_output, &outputs,
                        unused, &n_outputs);
    set->n_inputs = inputs.n;
    set->n_outputs = outputs.n;
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    return true;
}

void data_set_freeze(struct data_set *set, uint64_t frozen)
{
    int n = 0;

    for (int i = 0; i < set->n_values; i++)
        for (int k = set->first[i]; k < set->first[i + 1]; k++)
            if (!(frozen >> i & 1))
                set->inputs[n++] = set->inputs[k];
    set->n_inputs = n;
}

struct tolerance {
    double relative, absolute;
};

static bool number_agrees(struct tolerance tolerance, double expected, double found)
{
    if (isnan(expected) || isnan(found))
        return isnan(expected) && isnan(found);
    if (isinf(expected) || isinf(found))
        return expected == found;
    return fabs(found - expected) <= tolerance.absolute + tolerance.relative * fabs(expected);
}

/* Older releases store bfloat16 data as the bits. */
static void read_bits_as(enum dtype dtype, struct tensor *tensor)
{
    if (dtype == DTYPE_BF16 && tensor->type.dtype == DTYPE_U16)
        tensor->type.dtype = DTYPE_BF16;
}

void data_set_adapt(struct data_set *set, const struct function *fn)
{
    for (int i = 0; i < set->n_inputs && i < fn->n_params; i++)
        read_bits_as(fn->params[i]->type.dtype, &set->inputs[i]);
    for (int i = 0; i < set->n_outputs && i < fn->ret->n_inputs; i++)
        read_bits_as(fn->ret->inputs[i]->type.dtype, &set->outputs[i]);
}

bool tensor_agrees(struct ctx *ctx, enum stage stage, const struct tensor *expected,
                   const struct tensor *found, const char **reason)
{
    const enum dtype dtype = expected->type.dtype;
    const bool is_fp8 = dtype_kind(dtype) == KIND_MINIFLOAT || dtype_kind(dtype) == KIND_EXPONENT;
    const struct tolerance tolerance = {
        .relative = dtype == DTYPE_BF16 ? bf16_tolerance
                    : is_fp8            ? 0
                                        : relative_tolerance,
        .absolute = is_fp8                  ? 0
                    : stage == STAGE_ENGINE ? engine_absolute_tolerance
                                            : absolute_tolerance,
    };
    const bool real = dtype_is_float(dtype) || is_fp8;
    const int64_t n = type_elements(&expected->type);
    int64_t wrong = 0, first = 0;

    if (expected->type.dtype != found->type.dtype ||
        !type_same_shape(&expected->type, &found->type)) {
        *reason = arena_printf(&ctx->perm, "has type %s, expected %s",
                               type_text(&ctx->perm, &found->type),
                               type_text(&ctx->perm, &expected->type));
        return false;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        if (real ? number_agrees(tolerance, tensor_at(expected, i), tensor_at(found, i))
                 : tensor_int_at(expected, i) == tensor_int_at(found, i))
            continue;
        wrong++;
        first = i;
    }
    if (wrong)
        *reason = arena_printf(&ctx->perm,
                               "%lld of %lld elements differ; element %lld is %.9g, "
                               "expected %.9g",
                               (long long)wrong, (long long)n, (long long)first,
                               tensor_at(found, first), tensor_at(expected, first));
    return wrong == 0;
}
