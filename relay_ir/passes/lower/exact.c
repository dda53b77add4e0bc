/* exact.c - see exact.h. */
#include "relay_ir/passes/lower/exact.h"

#include <math.h>
#include <string.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/exact.h"

enum {
    CODES = 256,
    MAX_CHAIN = 32,
    MAX_CHANNELS = 4096 /* 1 MiB of table; more of it than of weights would not be worth it */
};

bool small_equal(const struct small *a, const struct small *b)
{
    return a->dtype == b->dtype && a->scale == b->scale;
}

/* AFP is for weights: its codec belongs to the type, which tables would have to carry along. */
static bool has_quantized(const struct value *value, struct small *small)
{
    *small = (struct small){ .dtype = value->type.dtype,
                             .format = dtype_minifloat(value->type.dtype),
                             .scale = 1 };
    return small->format && minifloat_bits(small->format) == 8 && exact_greatest(small->format) > 0;
}

static bool has_scale(struct rewrite *rewrite, struct value *scale, struct small *small)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    bool ok = type_elements(&scale->type) == 1 &&
              interpret_constant(rewrite->ctx, scale, 1, &bulk, &tensor);

    if (ok) {
        small->scale_value = scale;
        small->scale = tensor_at(&tensor, 0);
        ok = small->scale > 0 && isfinite(small->scale);
    }
    bulk_release(&bulk);
    return ok;
}

bool encodes(struct rewrite *rewrite, const struct node *node, struct small *small)
{
    const bool cast = node->op == OP_CAST;

    if ((!cast && node->op != OP_QNN_QUANTIZE) || node->inputs[0]->type.dtype != DTYPE_F32 ||
        !has_quantized(node->outputs[0], small))
        return false;
    if (cast)
        return node->attrs.cast.saturate;
    return node->attrs.quantize.saturate && has_scale(rewrite, node->inputs[1], small);
}

struct node *decoder_of(struct rewrite *rewrite, const struct value *value, struct small *small)
{
    struct node *node = value->def;

    if (!node || (node->op != OP_CAST && node->op != OP_QNN_DEQUANTIZE) ||
        value->type.dtype != DTYPE_F32 || !has_quantized(node->inputs[0], small))
        return NULL;
    return node->op == OP_CAST || has_scale(rewrite, node->inputs[1], small) ? node : NULL;
}

static struct value *number(struct rewrite *rewrite, enum dtype dtype, double real,
                            const char *suffix)
{
    const struct type type = type_scalar(dtype);
    void *data = constant_alloc(rewrite->fn, &type);

    dtype_store(dtype, data, 0, real);
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix), &type,
                        data);
}

struct value *scale_operand(struct rewrite *rewrite, double scale)
{
    return number(rewrite, DTYPE_F32, scale, "scale");
}

struct value *zero_operand(struct rewrite *rewrite, enum dtype dtype)
{
    return number(rewrite, dtype, 0, "zero");
}

bool same_numbers(struct rewrite *rewrite, const struct value *a, const struct value *b)
{
    struct small first, second;
    const struct node *x = decoder_of(rewrite, a, &first), *y = decoder_of(rewrite, b, &second);

    return a == b || (x && y && x->inputs[0] == y->inputs[0] && first.scale == second.scale);
}

bool read_once(const struct value *value, const struct node *reader)
{
    return value_only_user(value) == reader;
}

struct value *behind_bounds(const struct value *value, const struct node *encoder,
                            const struct node *bounds[MAX_BOUNDS], int *n)
{
    const struct node *reader = encoder;

    *n = 0;
    while (value->def && read_once(value, reader) && *n < MAX_BOUNDS &&
           (value->def->op == OP_RELU ||
            (value->def->op == OP_CLIP &&
             value->def->attrs.clip.a_min <= value->def->attrs.clip.a_max))) {
        reader = bounds[(*n)++] = value->def;
        value = reader->inputs[0];
    }
    return read_once(value, reader) ? (struct value *)value : NULL;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* A chain that is computed for all codes at once: the nodes are built again on a vector of them. */
struct chain {
    struct rewrite *rewrite;
    const struct value *leaf;
    struct value *numbers; /* of the leaf, for all codes */
    int n_built;           /* bounds the work: a value may be reached in many ways */
    bool by_channel;       /* constants may lie along one axis: */
    int axis;              /* -1 = none does yet */
};

/* A constant that is one number, as a scalar; else NULL. */
static struct value *uniform(struct chain *chain, const struct value *value)
{
    const struct type type = type_scalar(value->type.dtype);
    struct value *scalar;
    double real;
    void *data;

    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &real))
        return NULL;
    data = constant_alloc(chain->rewrite->fn, &type);
    memcpy(data, value->data, dtype_bytes(type.dtype));
    scalar = constant_new(chain->rewrite->fn, value->name, &type, data);
    return scalar;
}

/* The axis of the chain along which a constant lies; -1: none, or several. */
static int axis_of(const struct chain *chain, const struct type *constant)
{
    int axis = -1;

    for (int i = 0; i < constant->rank; i++)
        if (constant->dim[i] != 1) {
            if (axis >= 0)
                return -1;
            axis = chain->leaf->type.rank - constant->rank + i;
        }
    return axis;
}

/* A constant along the axis, the only one of the chain, as a column beside all codes. */
static struct value *column(struct chain *chain, const struct value *value, int axis)
{
    const int64_t n = type_elements(&value->type);
    const struct type type = type_make(value->type.dtype, 2, (int64_t[]){ n, 1 });

    if (!chain->by_channel || value->kind != VALUE_CONSTANT || value->type.dtype != DTYPE_F32 ||
        axis < 0 || n > MAX_CHANNELS || chain->leaf->type.dim[axis] != n ||
        (chain->axis >= 0 && chain->axis != axis))
        return NULL;
    chain->axis = axis;
    return constant_new(chain->rewrite->fn, value->name, &type, value->data);
}

static struct value *rebuilt(struct chain *chain, const struct value *value);

static struct value *rebuilt_constant(struct chain *chain, const struct value *value)
{
    struct value *scalar = uniform(chain, value);

    return scalar ? scalar : column(chain, value, axis_of(chain, &value->type));
}

static struct value *rebuilt_bias(struct chain *chain, const struct node *node)
{
    struct value *x = rebuilt(chain, node->inputs[0]);
    struct value *bias = column(chain, node->inputs[1], (int)node->attrs.axis.axis);

    return x && bias && ++chain->n_built <= MAX_CHAIN
               ? build(chain->rewrite->fn, OP_ADD, NULL, "table", NULL, chain->rewrite->root, 2,
                       (struct value *[]){ x, bias })
               : NULL;
}

/* The slopes of a prelu lie along its input: that in as many rows. */
static struct value *in_rows(struct chain *chain, struct value *x, const struct value *slopes)
{
    const union attrs attrs = { .shape = { .shape = ints_of(
                                               2, (int64_t[]){ slopes->type.dim[0], CODES }) } };

    return x->type.rank == 2 || slopes->type.rank < 2
               ? x
               : build(chain->rewrite->fn, OP_BROADCAST_TO, &attrs, "table", NULL,
                       chain->rewrite->root, 1, &x);
}

static struct value *rebuilt(struct chain *chain, const struct value *value)
{
    const struct node *node = value->def;
    struct value *inputs[MAX_BOUNDS];

    if (same_numbers(chain->rewrite, chain->leaf, value))
        return chain->numbers;
    if (!node)
        return rebuilt_constant(chain, value);
    if (node->op == OP_BIAS_ADD && chain->by_channel)
        return rebuilt_bias(chain, node);
    if (!op_is_elementwise(node->op) || node->n_inputs < 1 || node->n_inputs > MAX_BOUNDS ||
        node->n_outputs != 1 || node->op == OP_BIAS_ADD || ++chain->n_built > MAX_CHAIN)
        return NULL;
    for (int i = 0; i < node->n_inputs; i++) {
        inputs[i] = node->inputs[i] ? rebuilt(chain, node->inputs[i]) : NULL;
        if (!inputs[i])
            return NULL;
    }
    if (node->op == OP_PRELU)
        inputs[0] = in_rows(chain, inputs[0], inputs[1]);
    if (!inputs[0])
        return NULL;
    return build(chain->rewrite->fn, node->op, &node->attrs, "table", NULL, chain->rewrite->root,
                 node->n_inputs, inputs);
}

/* The constant of all codes, 0 to 255. */
static struct value *all_quantized(struct rewrite *rewrite, enum dtype dtype)
{
    const int64_t n = CODES;
    const struct type type = type_make(dtype, 1, &n);
    uint8_t *data = constant_alloc(rewrite->fn, &type);

    for (int i = 0; i < CODES; i++)
        data[i] = (uint8_t)i;
    return constant_new(rewrite->fn, "codes", &type, data);
}

/* The value, which depends on constants only, as a constant. */
static struct value *folded(struct rewrite *rewrite, const struct value *value)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    struct value *constant = NULL;
    void *data;

    if (interpret_constant(rewrite->ctx, value, type_elements(&value->type), &bulk, &tensor)) {
        data = constant_alloc(rewrite->fn, &value->type);
        memcpy(data, tensor.data, type_bytes(&value->type));
        constant = constant_new(rewrite->fn,
                                arena_printf(&rewrite->ctx->scratch, "%s.table", rewrite->name),
                                &value->type, data);
    }
    bulk_release(&bulk);
    return constant;
}

/* What was built behind `prev` was for folding only. */
static void remove_built(struct rewrite *rewrite, const struct node *prev)
{
    while (rewrite->root->prev != prev)
        node_remove(rewrite->root->prev);
}

static struct value *through(struct rewrite *rewrite, struct value *quantized,
                             const struct small *from, const struct value *leaf,
                             const struct value *value, const struct small *to, bool by_channel)
{
    const union attrs decode = { .axis = { 0 } }, encode = { .quantize = { .saturate = true } };
    union attrs lut = { .axis = { 0 } };
    const struct node *const prev = rewrite->root->prev;
    struct chain chain = { .rewrite = rewrite, .leaf = leaf, .by_channel = by_channel, .axis = -1 };
    struct value *numbers, *table = NULL;

    chain.numbers =
        rule_build3(rewrite, OP_QNN_DEQUANTIZE, &decode, all_quantized(rewrite, from->dtype),
                    scale_operand(rewrite, from->scale), zero_operand(rewrite, from->dtype));
    numbers = rebuilt(&chain, value);
    if (numbers && numbers->type.dtype == DTYPE_F32)
        table = folded(rewrite, rule_build3(rewrite, OP_QNN_QUANTIZE, &encode, numbers,
                                            scale_operand(rewrite, to->scale),
                                            zero_operand(rewrite, to->dtype)));
    remove_built(rewrite, prev);
    if (!table)
        return NULL;
    lut.axis.axis = table->type.rank == 2 ? chain.axis : 0;
    return rule_build(rewrite, OP_QNN_LUT, &lut, 4,
                      (struct value *[]){ quantized, table, scale_operand(rewrite, to->scale),
                                          zero_operand(rewrite, to->dtype) });
}

struct value *through_table(struct rewrite *rewrite, struct value *quantized,
                            const struct small *from, const struct value *leaf,
                            const struct value *value, const struct small *to)
{
    return through(rewrite, quantized, from, leaf, value, to, false);
}

struct value *through_tables(struct rewrite *rewrite, struct value *quantized,
                             const struct small *from, const struct value *leaf,
                             const struct value *value, const struct small *to)
{
    return through(rewrite, quantized, from, leaf, value, to, true);
}

struct value *exact_numbers_of(struct rewrite *rewrite, struct value *quantized,
                               const struct small *small, double unit)
{
    const union attrs axis = { .axis = { 0 } }, cast = { .cast = { DTYPE_I64, true } };
    const int64_t n = CODES;
    const struct type type = type_make(DTYPE_I32, 1, &n);
    int32_t *table = constant_alloc(rewrite->fn, &type);

    for (unsigned code = 0; code < CODES; code++)
        table[code] =
            (int32_t)rint(ldexp((double)exact_steps(small->format, code) * small->scale / unit,
                                exact_unit(small->format)));
    return rule_build1(
        rewrite, OP_CAST, &cast,
        rule_build(rewrite, OP_QNN_LUT, &axis, 4,
                   (struct value *[]){ quantized, constant_new(rewrite->fn, "table", &type, table),
                                       scale_operand(rewrite, unit),
                                       zero_operand(rewrite, DTYPE_I32) }));
}

bool exact_find_behind(struct rewrite *rewrite, const struct node *root,
                       struct exact_behind *behind)
{
    if (!encodes(rewrite, root, &behind->out))
        return false;
    behind->value = behind_bounds(root->inputs[0], root, behind->bounds, &behind->n_bounds);
    return behind->value && behind->value->def;
}

struct value *exact_bounded(struct rewrite *rewrite, const struct exact_behind *behind,
                            const struct node *root, struct value *quantized)
{
    for (int i = 0; i < behind->n_bounds; i++)
        rule_covers(rewrite, behind->bounds[i]);
    if (!quantized || behind->n_bounds == 0)
        return quantized;
    return through_table(rewrite, quantized, &behind->out, behind->value, root->inputs[0],
                         &behind->out);
}
