/* state_scale.c - states of recurrent layers between calls.
 *
 * method   What a network is given and gives as the state of a recurrent layer goes through its
 *          layers again and again, and what it is rounded by with it; so int8 stores it in 16 bits,
 *          around 0. It is what only initial states are made of, and of what last states are made
 *          the results, by nothing but moves. */
#include <float.h>
#include <math.h>

#include "quantize/steps.h"

enum { INITIAL_H = 5, INITIAL_C = 6 }; /* inputs of nn.lstm and the like */

/* What annotate writes between a value and its reader. */
static bool is_rounding(const struct node *node)
{
    return node->op == OP_QNN_QUANTIZE || node->op == OP_QNN_DEQUANTIZE;
}

bool reads_state(const struct node *node, int input)
{
    return is_recurrent(node->op) && (input == INITIAL_H || input == INITIAL_C);
}

/* Whether the readers take the value for an initial state, all of them. */
static bool becomes_state(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct node *node = use->node;

        if (reads_state(node, use->input))
            continue;
        if (use->input != 0 || (!keeps_numbers(node) && !is_rounding(node)))
            return false;
        for (int i = 0; i < node->n_outputs; i++)
            if (node->outputs[i]->uses && !becomes_state(node->outputs[i]))
                return false;
    }
    return value->uses != NULL;
}

/* Whether it is made of last states. */
static bool was_state(const struct value *value)
{
    const struct node *node = value->def;

    if (!node)
        return false;
    if (is_recurrent(node->op))
        return value->index > 0;
    if (node->op == OP_CONCATENATE) {
        for (int i = 0; i < node->n_inputs; i++)
            if (!was_state(node->inputs[i]))
                return false;
        return true;
    }
    return (keeps_numbers(node) || is_rounding(node)) && was_state(node->inputs[0]);
}

/* What nothing but moves have made the value of. */
static const struct value *moved_from(const struct value *value)
{
    while (value->def && value->def->op != OP_CONCATENATE && moves_state(value->def))
        value = value->def->inputs[0];
    return value;
}

/* Whether it, or what nothing but moves make of it, is a result. */
static bool becomes_result(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct node *node = use->node;

        if (node->op == OP_RETURN)
            return true;
        if (!moves_state(node))
            continue;
        for (int i = 0; i < node->n_outputs; i++)
            if (becomes_result(node->outputs[i]))
                return true;
    }
    return false;
}

bool moves_state(const struct node *node)
{
    return node->op == OP_CONCATENATE || keeps_numbers(node) || is_rounding(node);
}

bool state_scale_of(struct quantization *q, const struct precision *precision,
                    const struct value *value, struct data_scale *out)
{
    const struct precision p = precision_with_rule(q, precision);
    const struct value *source = data_scale_source(value);
    const struct qtype *quant = source->type.quant;

    if (p.mode != PRECISION_INT8 ||
        !(becomes_state(value) || (was_state(value) && becomes_result(moved_from(value)))))
        return false;
    *out = (struct data_scale){ { .name = "i16", .dtype = DTYPE_I16 }, 1, 0 };
    if (!scale_rule_needs_data(&p.data_scale))
        out->scale = scale_of_numbers(&p.data_scale, &p.data, NULL, 0) / 256;
    else if (quant && quant->kind == QTYPE_CALIBRATED)
        out->scale = (float)(fmax(fabs(quant->min), fabs(quant->max)) / 32767);
    if (out->scale < FLT_MIN)
        out->scale = 1; /* zeros */
    return true;
}
