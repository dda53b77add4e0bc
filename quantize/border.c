/* border.c - see border.h.
 *
 * method   a region is computed element by element: between its operators floats are not rounded.
 *          Integers are, between any two operators, but for two kinds of neighbours: what the store
 *          does along with an operator (a bias, bounds), and functions of one number in a row,
 *          which become one table. A function whose constants vary along several axes is none: it
 *          is a sum or a product with a constant for each element. In int8 numbers have 16 bits on
 *          both sides of it, in exact FP8 those in a row are one, and others are rounded to FP8 */
#include "quantize/border.h"

#include <float.h>
#include <math.h>

enum { MAX_CHANNELS = 4096 }; /* of tables */

/* What is joined with a function, itself included. */
struct chain {
    bool varies; /* a constant lies along several axes */
    bool bends;  /* more than sums and products with constants */
};

/* What the store of an integer operator does along with it: a bias, bounds. */
static bool is_part_of_store(const struct node *node)
{
    return node->op == OP_BIAS_ADD || node->op == OP_RELU || node->op == OP_CLIP;
}

/* A function of one number, which integers take from a table, together with others of its kind. */
static bool is_function(const struct node *node)
{
    int n_computed = 0;

    for (int i = 0; i < node->n_inputs; i++)
        n_computed += node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT;
    return op_is_elementwise(node->op) && n_computed == 1 && !is_part_of_store(node);
}

static const struct value *computed_input(const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind != VALUE_CONSTANT)
            return node->inputs[i];
    return NULL;
}

/* Whether no table has the function: a constant of several axes, or of too many channels. */
static bool varies(const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];
        int n_axes = 0;

        if (!value || value->kind != VALUE_CONSTANT)
            continue;
        for (int d = 0; d < value->type.rank; d++)
            n_axes += value->type.dim[d] != 1;
        if (n_axes > 1 || type_elements(&value->type) > MAX_CHANNELS)
            return true;
    }
    return false;
}

/* More than a sum or a product with constants. */
static bool bends(const struct node *node)
{
    switch (node->op) {
    case OP_ADD:
    case OP_MULTIPLY:
    case OP_SUBTRACT: return false;
    case OP_DIVIDE: return node->inputs[1]->kind != VALUE_CONSTANT;
    default: return true;
    }
}

static const void *group_of(const struct borders *borders, const struct node *node)
{
    return node && node->id < borders->n_nodes ? borders->group_of[node->id] : NULL;
}

static bool in_one_region(const struct borders *borders, const struct value *value,
                          const struct node *node)
{
    return value->kind != VALUE_PARAM && group_of(borders, value->def) &&
           group_of(borders, value->def) == group_of(borders, node);
}

/* Whether a function is one with what computes its input, another one: both in one table, or, of
 * FP8, both in one sum. */
static bool joins(const struct borders *borders, const struct node *def, const struct node *node)
{
    const struct chain *before = &borders->chains[def->id];

    if (!before->varies && !varies(node))
        return true;
    return borders->q->options->exact && !before->bends && !bends(node);
}

void borders_find(struct borders *borders, struct node *const *nodes, int n_nodes)
{
    borders->chains = arena_array(&borders->q->ctx->scratch, struct chain, (size_t)n_nodes + 1);
    for (int i = 0; i < n_nodes; i++) {
        const struct node *node = nodes[i];
        const struct value *x = is_function(node) ? computed_input(node) : NULL;
        struct chain *chain = &borders->chains[i];

        if (!x)
            continue;
        *chain = (struct chain){ varies(node), bends(node) };
        if (in_one_region(borders, x, node) && is_function(x->def) &&
            joins(borders, x->def, node)) {
            chain->varies |= borders->chains[x->def->id].varies;
            chain->bends |= borders->chains[x->def->id].bends;
        }
    }
}

enum border border_before(const struct borders *borders, const struct value *value,
                          const struct node *node, const struct precision *precision)
{
    const bool int8 = precision->mode == PRECISION_INT8;

    if (int8 && node->op == OP_GRID_SAMPLE && node->inputs[1] == value)
        return BORDER_WIDE; /* places */
    if (!in_one_region(borders, value, node))
        return BORDER_NARROW;
    if ((!int8 && !borders->q->options->exact) || is_part_of_store(node))
        return BORDER_NONE;
    if (!is_function(node) || !is_function(value->def))
        return BORDER_NARROW;
    if (joins(borders, value->def, node))
        return BORDER_NONE;
    return int8 && value_only_user(value) == node ? BORDER_WIDE : BORDER_NARROW;
}

/* The greatest magnitude of the node's constant; of its reciprocals where it divides by it. */
static double greatest_constant(const struct node *node)
{
    double greatest = 0;

    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *value = node->inputs[i];

        for (int64_t k = 0; value->kind == VALUE_CONSTANT && value->type.dtype == DTYPE_F32 &&
                            k < type_elements(&value->type);
             k++) {
            const double number = fabs((double)((const float *)value->data)[k]);

            greatest = fmax(greatest, node->op == OP_DIVIDE && i == 1 ? 1 / number : number);
        }
    }
    return greatest;
}

/* The distance between the least and the greatest number of what was annotated before. */
static double range_of(const struct value *value)
{
    const struct node *decoder = value->def;
    double scale;

    if (!decoder || decoder->op != OP_QNN_DEQUANTIZE || !value_uniform(decoder->inputs[1], &scale))
        return 0;
    return scale * (ldexp(1, 8 * (int)dtype_bytes(decoder->inputs[0]->type.dtype)) - 1);
}

/* Constants have 16 bits, too: what their last half makes of a sum or a product is at most half a
 * step of the result. 0 = any will do. */
static double least_wide_scale(const struct node *node)
{
    const double step = node && varies(node) ? greatest_constant(node) / 32767 * 1.001 : 0;

    switch (step > 0 ? node->op : OP_COUNT) {
    case OP_ADD:
    case OP_SUBTRACT: return isfinite(step) ? step : 0;
    case OP_DIVIDE:
    case OP_MULTIPLY: return isfinite(step) ? step * range_of(computed_input(node)) : 0;
    default: return 0;
    }
}

bool wide_scale_of(const struct value *value, struct data_scale *out)
{
    const struct qtype *quant = data_scale_source(value)->type.quant;
    double lo, hi;

    if (!quant || quant->kind != QTYPE_CALIBRATED)
        return false;
    lo = fmin(quant->min, 0);
    hi = fmax(quant->max, 0);
    *out = (struct data_scale){ { .name = "i16", .dtype = DTYPE_I16 }, 1, 0 };
    out->scale = (float)fmax((hi - lo) / 65535, least_wide_scale(value->def));
    if (out->scale < FLT_MIN)
        out->scale = 1; /* zeros */
    else
        out->zero = (int32_t)fmax(-32768, fmin(32767, rint(-(lo + hi) / 2 / (double)out->scale)));
    return true;
}
