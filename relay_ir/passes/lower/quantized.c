/* quantized.c - see quantized.h. */
#include "relay_ir/passes/lower/quantized.h"

#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/qnn.h"

bool static_tensor(struct rewrite *rewrite, const struct value *value, struct bulk *bulk,
                   struct tensor *tensor)
{
    return interpret_constant(rewrite->ctx, value, type_elements(&value->type), bulk, tensor);
}

static bool one_number(struct rewrite *rewrite, const struct value *value, double *number)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    bool ok = type_elements(&value->type) == 1 && static_tensor(rewrite, value, &bulk, &tensor);

    if (ok)
        *number = tensor_at(&tensor, 0);
    bulk_release(&bulk);
    return ok;
}

bool affine_from(struct rewrite *rewrite, enum dtype dtype, struct value *scale, struct value *zero,
                 struct affine *affine)
{
    double number;

    *affine = (struct affine){ .dtype = dtype, .scale_value = scale, .zero_value = zero };
    if (!is_quantized(dtype) || !one_number(rewrite, scale, &affine->scale) ||
        !one_number(rewrite, zero, &number))
        return false;
    affine->zero = (int64_t)number;
    return affine->scale > 0 && isfinite(affine->scale);
}

bool affine_of(struct rewrite *rewrite, const struct node *node, const struct value *of,
               struct affine *affine)
{
    return affine_from(rewrite, of->type.dtype, node->inputs[1], node->inputs[2], affine);
}

bool affine_equal(const struct affine *a, const struct affine *b)
{
    return a->dtype == b->dtype && a->scale == b->scale && a->zero == b->zero;
}

struct node *dequantize_of(struct rewrite *rewrite, const struct value *value,
                           struct affine *affine)
{
    struct node *node = defined_by(value, OP_QNN_DEQUANTIZE);

    return node && affine_of(rewrite, node, node->inputs[0], affine) ? node : NULL;
}

bool only_quantized(struct rewrite *rewrite, const struct value *value, const struct node *root)
{
    struct affine wanted, found;
    bool ok = affine_of(rewrite, root, root->outputs[0], &wanted);

    for (const struct use *use = value->uses; ok && use; use = use->next)
        ok = use->node == root || (use->node->op == OP_QNN_QUANTIZE && use->input == 0 &&
                                   affine_of(rewrite, use->node, use->node->outputs[0], &found) &&
                                   affine_equal(&wanted, &found));
    return ok;
}

double least_stored(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_INT ? -ldexp(1, (int)dtype_bytes(dtype) * 8 - 1) : 0;
}

double greatest_stored(enum dtype dtype)
{
    return least_stored(dtype) + ldexp(1, (int)dtype_bytes(dtype) * 8) - 1;
}

int64_t affine_reach(const struct affine *affine)
{
    const double zero = (double)affine->zero;

    return (int64_t)fmax(greatest_stored(affine->dtype) - zero, zero - least_stored(affine->dtype));
}

struct value *int32_constant(struct rewrite *rewrite, int32_t number, const char *suffix)
{
    const struct type type = type_scalar(DTYPE_I32);
    int32_t *data = constant_alloc(rewrite->fn, &type);

    *data = number;
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix), &type,
                        data);
}

struct value *int64_constant(struct rewrite *rewrite, int64_t number, const char *suffix)
{
    const struct type type = type_scalar(DTYPE_I64);
    int64_t *data = constant_alloc(rewrite->fn, &type);

    *data = number;
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix), &type,
                        data);
}

static struct value *scalar_constant(struct rewrite *rewrite, enum dtype dtype, double number,
                                     const char *suffix)
{
    const struct type type = type_scalar(dtype);
    void *data = constant_alloc(rewrite->fn, &type);

    dtype_store(dtype, data, 0, number);
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix), &type,
                        data);
}

void make_affine_values(struct rewrite *rewrite, struct affine *affine)
{
    affine->scale_value = scalar_constant(rewrite, DTYPE_F32, affine->scale, "scale");
    affine->zero_value = scalar_constant(rewrite, affine->dtype, (double)affine->zero, "zero");
}

double stored_number(const struct affine *affine, double real)
{
    const double q = (double)(float)((double)(float)real / affine->scale);

    return fmin(fmax(rint(q) + (double)affine->zero, least_stored(affine->dtype)),
                greatest_stored(affine->dtype));
}

/* The operators before a qnn.quantize for which there is a rule. */
bool may_become_integer(const struct value *value)
{
    switch (value->def ? value->def->op : OP_COUNT) {
    case OP_ADD:
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_BIAS_ADD:
    case OP_CONCATENATE:
    case OP_CONV1D:
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D:
    case OP_CONV3D_TRANSPOSE:
    case OP_CUMSUM:
    case OP_DENSE:
    case OP_DIVIDE:
    case OP_GLOBAL_AVG_POOL:
    case OP_GRID_SAMPLE:
    case OP_GROUP_NORM:
    case OP_GRU:
    case OP_INSTANCE_NORM:
    case OP_LAYER_NORM:
    case OP_LP_NORMALIZE:
    case OP_LP_POOL1D:
    case OP_LP_POOL2D:
    case OP_LP_POOL3D:
    case OP_LRN:
    case OP_LSTM:
    case OP_MATMUL:
    case OP_MAXIMUM:
    case OP_MEAN:
    case OP_MINIMUM:
    case OP_MULTIPLY:
    case OP_PROD:
    case OP_QNN_DEQUANTIZE:
    case OP_RESIZE:
    case OP_RNN:
    case OP_SCATTER_ELEMENTS:
    case OP_SCATTER_ND:
    case OP_SUBTRACT:
    case OP_SUM:
    case OP_WHERE: return true;
    default: return false;
    }
}

/* The float form, of which chain_to_table makes a table where x has 8 bits. */
static struct value *quantized_again(struct rewrite *rewrite, struct value *x,
                                     const struct affine *from, const struct affine *to)
{
    const union attrs attrs = { .quantize = { .axis = 0, .saturate = true } };
    struct value *real =
        rule_build3(rewrite, OP_QNN_DEQUANTIZE, NULL, x, from->scale_value, from->zero_value);

    return rule_build3(rewrite, OP_QNN_QUANTIZE, &attrs, real, to->scale_value, to->zero_value);
}

struct value *requantized_to(struct rewrite *rewrite, struct value *x, const struct affine *from,
                             const struct affine *to)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    const union attrs attrs = { .requantize = { .rounding = "double" } };
    struct value *inputs[5];

    if (affine_equal(from, to))
        return x;
    if (rewrite->fn->module->rounds_as_onnx)
        return quantized_again(rewrite, x, from, to);
    inputs[0] = rule_build1(rewrite, OP_CAST, &cast, x);
    inputs[1] = from->scale_value;
    inputs[2] = int32_constant(rewrite, (int32_t)from->zero, "in_zero");
    inputs[3] = to->scale_value;
    inputs[4] = to->zero_value;
    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5, inputs);
}
