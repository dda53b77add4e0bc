/* quantized_table.c - element-wise operators between the qnn.dequantize of one value and a
 * qnn.quantize become one table: whatever stands there, sigmoid or ten operators and their
 * constants. The operators' reference evaluators compute it here, for every code.
 *
 * Of 8 bits the table has 256 entries, so that the result is that of the float form, to the bit.
 * Constants that lie along one axis (the slopes of a prelu) give a table for each channel.
 *
 * Of 16 bits it has segments (ops/qnn_pwl.c): at most one step away from the float form. What would
 * need too many of them stays in floats, as do constants along an axis, and with
 * module->rounds_as_onnx all of 16 bits. */
#include <math.h>
#include <string.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

enum {
    MAX_NODES = 64,     /* of a chain */
    MAX_CHANNELS = 4096 /* 1 MiB of table; more of it than of weights would not be worth it */
};

struct chain {
    struct rewrite *rewrite;
    struct node *source; /* the qnn.dequantize; several are the same one */
    struct affine affine;
    const struct type *shape; /* of the quantized value and of all between */
    int axis;                 /* that constants lie along; -1 = none found yet */
    int n;
    const struct node *nodes[MAX_NODES]; /* in topological order, ends of it dequantize */
    struct tensor results[MAX_NODES];    /* (channels, 256) */
    struct bulk bulk;
};

/* --- finding ---------------------------------------------------------------------------------- */

static bool add_source(struct chain *chain, struct node *node)
{
    struct affine affine;

    if (!affine_of(chain->rewrite, node, node->inputs[0], &affine) ||
        node->inputs[0]->kind == VALUE_CONSTANT)
        return false;
    if (!chain->source) {
        chain->source = node;
        chain->affine = affine;
        return true;
    }
    return chain->source->inputs[0] == node->inputs[0] && affine_equal(&chain->affine, &affine);
}

/* A constant varies along the one axis of the chain at most; `axis`: of a vector that lies along
 * it, -1 = it is broadcast. */
static bool add_constant(struct chain *chain, const struct value *value, int axis)
{
    struct tensor tensor;

    if (type_elements(&value->type) > MAX_CHANNELS ||
        !static_tensor(chain->rewrite, value, &chain->bulk, &tensor))
        return false;
    if (type_elements(&value->type) == 1)
        return true;
    if (axis < 0)
        for (int i = 0; i < value->type.rank; i++)
            if (value->type.dim[i] != 1) {
                if (axis >= 0)
                    return false;
                axis = chain->shape->rank - value->type.rank + i;
            }
    if (axis < 0 || chain->shape->dim[axis] > MAX_CHANNELS ||
        chain->shape->dim[axis] != type_elements(&value->type) ||
        (chain->axis >= 0 && chain->axis != axis))
        return false;
    chain->axis = axis;
    return true;
}

/* What stands for one number each besides input 0: scales and zero points. */
static bool has_single_numbers(const struct node *node)
{
    for (int i = 1; i < node->n_inputs; i++)
        if (node->inputs[i]->kind != VALUE_CONSTANT || type_elements(&node->inputs[i]->type) != 1)
            return false;
    return true;
}

static bool is_found(const struct chain *chain, const struct node *node)
{
    for (int i = 0; i < chain->n; i++)
        if (chain->nodes[i] == node)
            return true;
    return false;
}

static bool add_value(struct chain *chain, const struct value *value);

static bool add_inputs(struct chain *chain, const struct node *node)
{
    if (node->op == OP_QNN_QUANTIZE || node->op == OP_QNN_DEQUANTIZE ||
        node->op == OP_QNN_REQUANTIZE)
        return has_single_numbers(node) && add_value(chain, node->inputs[0]);
    if (node->op == OP_BIAS_ADD)
        return add_value(chain, node->inputs[0]) &&
               add_constant(chain, node->inputs[1], (int)node->attrs.axis.axis);
    if (op_row(node->op)->attrs == ATTRS_none || node->n_inputs == 1)
        for (int i = 0; i < node->n_inputs; i++)
            if (!add_constant(chain, node->inputs[i], -1) && !add_value(chain, node->inputs[i]))
                return false;
    return op_row(node->op)->attrs == ATTRS_none || node->n_inputs == 1;
}

/* Adds the node that computes the value, and first those that it reads. */
static bool add_value(struct chain *chain, const struct value *value)
{
    struct node *node = value->def;

    if (!node || node->n_outputs != 1 || !op_is_elementwise(node->op) ||
        !type_same_shape(&value->type, chain->shape))
        return false;
    if (is_found(chain, node))
        return true;
    if (node->op == OP_QNN_DEQUANTIZE && add_source(chain, node)) {
        /* the chain begins here */
    } else if (chain->n + 1 >= MAX_NODES || !add_inputs(chain, node)) {
        return false;
    }
    if (chain->n >= MAX_NODES)
        return false;
    chain->nodes[chain->n++] = node;
    return true;
}

/* --- computing -------------------------------------------------------------------------------- */

static int64_t channels_of(const struct chain *chain)
{
    return chain->axis < 0 ? 1 : chain->shape->dim[chain->axis];
}

static int64_t quantized_of(const struct chain *chain)
{
    return dtype_bytes(chain->affine.dtype) == 1 ? QNN_VALUES : QNN_WIDE_VALUES;
}

static struct tensor grid(struct chain *chain, enum dtype dtype)
{
    const struct type type =
        type_make(dtype, 2, (int64_t[]){ channels_of(chain), quantized_of(chain) });

    return tensor_new(&chain->bulk, &type);
}

/* Every code, in each row. */
static struct tensor quantized(struct chain *chain)
{
    const struct tensor tensor = grid(chain, chain->affine.dtype);

    for (int64_t i = 0; i < type_elements(&tensor.type); i++)
        dtype_store(tensor.type.dtype, tensor.data, i,
                    least_stored(tensor.type.dtype) + (double)(i % quantized_of(chain)));
    return tensor;
}

/* A constant as a column of the grid, or one number; the bias of a bias_add as a full vector. */
static struct tensor column(struct chain *chain, const struct value *value, bool vector)
{
    struct tensor tensor, full;
    const int64_t n = type_elements(&value->type), channels = channels_of(chain);
    const size_t bytes = dtype_bytes(value->type.dtype);

    static_tensor(chain->rewrite, value, &chain->bulk, &tensor);
    if (!vector) {
        const struct qtype *quant = tensor.type.quant;

        tensor.type = n == 1 ? type_scalar(value->type.dtype)
                             : type_make(value->type.dtype, 2, (int64_t[]){ n, 1 });
        tensor.type.quant = quant;
        return tensor;
    }
    full.type = type_make(value->type.dtype, 1, &channels);
    full.data = bulk_alloc(&chain->bulk, (size_t)channels * bytes);
    for (int64_t i = 0; i < channels; i++)
        memcpy((char *)full.data + (size_t)i * bytes,
               (const char *)tensor.data + (size_t)(n == 1 ? 0 : i) * bytes, bytes);
    return full;
}

static const struct tensor *result_of(const struct chain *chain, const struct value *value)
{
    for (int i = 0; i < chain->n; i++)
        if (value->def && chain->nodes[i] == value->def)
            return &chain->results[i];
    return NULL;
}

/* The node on the grid: what it reads of the chain, and its constants. */
static bool evaluate(struct chain *chain, const struct node *node, struct tensor *out)
{
    struct ctx *ctx = chain->rewrite->ctx;
    struct node copy = *node;
    const struct tensor **in =
        arena_array(&ctx->scratch, const struct tensor *, (size_t)node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++) {
        const struct tensor *known = result_of(chain, node->inputs[i]);
        struct tensor *own = arena_new(&ctx->scratch, struct tensor);

        if (known) {
            in[i] = known;
            continue;
        }
        *own = node->op == OP_QNN_DEQUANTIZE && i == 0
                   ? quantized(chain)
                   : column(chain, node->inputs[i], node->op == OP_BIAS_ADD && i == 1);
        in[i] = own;
    }
    if (node->op == OP_BIAS_ADD)
        copy.attrs.axis.axis = 0;
    *out = grid(chain, node->outputs[0]->type.dtype);
    return op_row(node->op)->evaluate(ctx, &copy, in, out);
}

/* The quantised values that the root makes of every code. */
static bool evaluate_all(struct chain *chain, const struct node *root, struct tensor *table)
{
    for (int i = 0; i < chain->n; i++)
        if (!evaluate(chain, chain->nodes[i], &chain->results[i]))
            return false;
    return evaluate(chain, root, table);
}

static struct value *constant_of(struct chain *chain, const char *suffix, const struct type *type,
                                 const void *numbers)
{
    struct function *fn = chain->rewrite->fn;
    void *data = constant_alloc(fn, type);

    memcpy(data, numbers, type_bytes(type));
    return constant_new(
        fn, arena_printf(&chain->rewrite->ctx->scratch, "%s.%s", chain->rewrite->name, suffix),
        type, data);
}

static void cover_all(const struct chain *chain)
{
    for (int i = 0; i < chain->n; i++)
        rule_covers(chain->rewrite, chain->nodes[i]);
}

static struct value *lut_of(struct chain *chain, const struct node *root, const struct affine *out)
{
    const union attrs attrs = { .axis = { chain->axis < 0 ? 0 : chain->axis } };
    const int64_t channels = channels_of(chain);
    struct tensor quantized;
    struct type type;

    if (!evaluate_all(chain, root, &quantized))
        return NULL;
    type = channels == 1 ? type_make(quantized.type.dtype, 1, (int64_t[]){ QNN_VALUES })
                         : type_make(quantized.type.dtype, 2, (int64_t[]){ channels, QNN_VALUES });
    cover_all(chain);
    return rule_build(chain->rewrite, OP_QNN_LUT, &attrs, 4,
                      (struct value *[]){ chain->source->inputs[0],
                                          constant_of(chain, "table", &type, quantized.data),
                                          out->scale_value, out->zero_value });
}

/* Where the result is no number, or an infinite one, its code says what is wanted. */
static void find_wanted(const struct tensor *reals, const struct tensor *quantized,
                        const struct affine *out, double wanted[QNN_WIDE_VALUES])
{
    for (int64_t i = 0; i < QNN_WIDE_VALUES; i++) {
        wanted[i] = tensor_at(reals, i) / out->scale;
        if (!isfinite(wanted[i]))
            wanted[i] = tensor_at(quantized, i) - (double)out->zero;
    }
}

static struct value *pwl_of(struct chain *chain, const struct node *root, const struct affine *out)
{
    struct arena *scratch = &chain->rewrite->ctx->scratch;
    const struct qnn_pwl_range range = { out->dtype, out->zero };
    double *wanted = arena_array(scratch, double, QNN_WIDE_VALUES);
    struct qnn_pwl *pwl = arena_new(scratch, struct qnn_pwl);
    struct type starts, lines;
    struct tensor quantized;

    if (chain->axis >= 0 || !evaluate_all(chain, root, &quantized))
        return NULL;
    find_wanted(result_of(chain, root->inputs[0]), &quantized, out, wanted);
    if (!qnn_pwl_fit(wanted, &range, pwl))
        return NULL;
    starts = type_make(DTYPE_U16, 1, (int64_t[]){ pwl->n });
    lines = type_make(DTYPE_I32, 2, (int64_t[]){ pwl->n, 2 });
    cover_all(chain);
    return rule_build(chain->rewrite, OP_QNN_PWL, NULL, 5,
                      (struct value *[]){ chain->source->inputs[0],
                                          constant_of(chain, "starts", &starts, pwl->starts),
                                          constant_of(chain, "lines", &lines, pwl->lines),
                                          out->scale_value, out->zero_value });
}

/* Whether a table is what is wanted: with module->rounds_as_onnx it has to be exact, and sums and
 * products with constants along an axis, which would have a table for each channel where fixed
 * point has none, stay in floats. A dequantize alone is a chain then. */
static bool is_wanted(const struct chain *chain, const struct node *root)
{
    const enum op op = root->inputs[0]->def->op;

    if (!chain->rewrite->fn->module->rounds_as_onnx)
        return chain->n > 1;
    return quantized_of(chain) == QNN_VALUES &&
           (chain->axis < 0 || !(op == OP_ADD || op == OP_BIAS_ADD || op == OP_SUBTRACT ||
                                 op == OP_MULTIPLY || op == OP_DIVIDE));
}

/* quantize(element-wise operators of dequantize(x) and constants) -> qnn.lut(x, table), of 16 bits
 * qnn.pwl(x, starts, lines) */
struct value *chain_to_table(struct rewrite *rewrite, struct node *root)
{
    struct chain *chain = arena_new(&rewrite->ctx->scratch, struct chain);
    struct value *y = NULL;
    struct affine out;

    *chain = (struct chain){ .rewrite = rewrite, .shape = &root->outputs[0]->type, .axis = -1 };
    if (affine_of(rewrite, root, root->outputs[0], &out) && add_value(chain, root->inputs[0]) &&
        chain->source && is_wanted(chain, root))
        y = (quantized_of(chain) == QNN_VALUES ? lut_of : pwl_of)(chain, root, &out);
    bulk_release(&chain->bulk);
    return y;
}

/* Which entry of a table an element of another one, or of what goes through it, stands for. */
static int64_t entry_of(const struct tensor *quantized, int64_t i)
{
    return dtype_kind(quantized->type.dtype) == KIND_MINIFLOAT
               ? ((const uint8_t *)quantized->data)[i]
               : (int64_t)(tensor_at(quantized, i) - least_stored(quantized->type.dtype));
}

/* lut(lut(x)) -> lut(x), where nobody else reads what lies between; one table each. */
struct value *table_of_table(struct rewrite *rewrite, struct node *root)
{
    const struct node *first = only_defined_by(root->inputs[0], OP_QNN_LUT);
    const struct value *inner = first ? first->inputs[1] : NULL, *outer = root->inputs[1];
    union attrs attrs = { .axis = { 0 } };
    struct tensor from;
    struct value *inputs[4];
    struct type type;
    size_t bytes;
    char *data;

    if (!first || inner->kind != VALUE_CONSTANT || outer->kind != VALUE_CONSTANT ||
        outer->type.rank != 1)
        return NULL;
    rule_covers(rewrite, first);
    from = value_tensor(inner);
    type = outer->type; /* in the shape of the inner one */
    type.rank = inner->type.rank;
    memcpy(type.dim, inner->type.dim, sizeof type.dim);
    bytes = dtype_bytes(type.dtype);
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < type_elements(&type); i++)
        memcpy(data + (size_t)i * bytes,
               (const char *)outer->data + (size_t)entry_of(&from, i) * bytes, bytes);
    attrs.axis.axis = first->attrs.axis.axis;
    inputs[0] = first->inputs[0];
    inputs[1] = constant_new(
        rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.table", rewrite->name), &type, data);
    inputs[2] = root->inputs[2];
    inputs[3] = root->inputs[3];
    return rule_build(rewrite, OP_QNN_LUT, &attrs, 4, inputs);
}
