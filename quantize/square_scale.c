/* square_scale.c - what lies between a square and a root.
 *
 * method   A square has twice the bits of its operand, and a root half of those of its own: in 8
 *          bits all that is less than 1/16 of the greatest operand would become 0 between them. So
 *          int8 stores in 16 what powers above 1, or exponentials, are made into by sums, averages
 *          and moves alone, where nobody but roots and logarithms reads what comes of it. */
#include <float.h>
#include <math.h>

#include "quantize/steps.h"

enum { MOST_STEPS = 1000 }; /* of a search; what is larger is no spectrum */

static bool exponent_of(const struct node *node, double *exponent)
{
    return node->op == OP_POWER && node->inputs[1]->kind == VALUE_CONSTANT &&
           value_uniform(node->inputs[1], exponent);
}

static bool squares(const struct node *node)
{
    double exponent;

    return node->op == OP_EXP || (exponent_of(node, &exponent) && exponent > 1) ||
           (node->op == OP_MULTIPLY && node->inputs[0] == node->inputs[1]);
}

static bool takes_root(const struct node *node)
{
    double exponent;

    return node->op == OP_SQRT || node->op == OP_RSQRT || node->op == OP_LOG ||
           (exponent_of(node, &exponent) && fabs(exponent) < 1);
}

/* What adds or moves numbers, and what stands between them while annotate is at work. */
static bool adds(const struct node *node)
{
    switch (node->op) {
    case OP_ADD:
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_BIAS_ADD:
    case OP_CLIP:
    case OP_GLOBAL_AVG_POOL:
    case OP_MEAN:
    case OP_QNN_DEQUANTIZE:
    case OP_QNN_QUANTIZE:
    case OP_RELU:
    case OP_SUBTRACT:
    case OP_SUM: return true;
    case OP_DIVIDE:
    case OP_MULTIPLY: return node->inputs[1]->kind == VALUE_CONSTANT;
    default: return keeps_numbers(node);
    }
}

static bool is_made_of_squares(const struct value *value, int *steps)
{
    const struct node *node = value->def;

    if (!node || ++*steps > MOST_STEPS)
        return false;
    if (squares(node))
        return true;
    for (int i = 0; adds(node) && i < node->n_inputs; i++)
        if (node->inputs[i] && is_made_of_squares(node->inputs[i], steps))
            return true;
    return false;
}

static bool becomes_roots(const struct value *value, int *steps)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct node *node = use->node;

        if (++*steps > MOST_STEPS || (!takes_root(node) && !adds(node)))
            return false;
        for (int i = 0; !takes_root(node) && i < node->n_outputs; i++)
            if (!becomes_roots(node->outputs[i], steps))
                return false;
    }
    return value->uses != NULL;
}

bool square_scale_of(struct quantization *q, const struct precision *precision,
                     const struct value *value, struct data_scale *out)
{
    const struct precision p = precision_with_rule(q, precision);
    const struct qtype *quant = data_scale_source(value)->type.quant;
    int there = 0, back = 0;
    double lo, hi;

    if (p.mode != PRECISION_INT8 || !becomes_roots(value, &there) ||
        !is_made_of_squares(value, &back) || !quant || quant->kind != QTYPE_CALIBRATED)
        return false;
    lo = fmin(quant->min, 0);
    hi = fmax(quant->max, 0);
    *out =
        (struct data_scale){ { .name = "i16", .dtype = DTYPE_I16 }, (float)((hi - lo) / 65535), 0 };
    if (out->scale < FLT_MIN)
        out->scale = 1; /* zeros */
    else
        out->zero = (int32_t)fmax(-32768, fmin(32767, rint(-32768 - lo / (double)out->scale)));
    return true;
}
