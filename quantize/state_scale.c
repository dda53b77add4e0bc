/* state_scale.c - states of recurrent layers between calls.
 *
 * method   What a network is given and gives as the state of a recurrent layer goes through its
 *          layers again and again, and what it is rounded by with it; so int8 stores it in 16 bits,
 *          around 0. It is what only initial states are made of, and of what last states are made
 *          the results, by nothing but moves. Both have one scale, for the greatest number of
 *          either: what comes out can go in again as it is. */
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

/* --- one scale for both ends ------------------------------------------------------------------ */

/* The result of this many elements that moves make of the value; NULL = none. */
static const struct value *result_of(const struct value *value, int64_t n)
{
    for (const struct use *use = value->uses; use; use = use->next) {
        const struct node *node = use->node;

        if (node->op == OP_RETURN && type_elements(&value->type) == n)
            return value;
        for (int i = 0; moves_state(node) && i < node->n_outputs; i++) {
            const struct value *result = result_of(node->outputs[i], n);

            if (result)
                return result;
        }
    }
    return NULL;
}

/* The result of this many elements that is made of the last state of a layer whose initial state
 * the value becomes; NULL = none is. */
static const struct value *last_state_of(const struct value *value, int64_t n)
{
    const struct value *last = NULL;

    for (const struct use *use = value->uses; use && !last; use = use->next) {
        const struct node *node = use->node;
        const int output = use->input - INITIAL_H + 1;

        if (reads_state(node, use->input)) {
            last = output < node->n_outputs ? result_of(node->outputs[output], n) : NULL;
            continue;
        }
        for (int i = 0; use->input == 0 && moves_state(node) && i < node->n_outputs && !last; i++)
            last = last_state_of(node->outputs[i], n);
    }
    return last;
}

/* The initial state of the layer whose last state the value was; NULL = it has none. */
static const struct value *initial_state_of(const struct value *value)
{
    while (value->def && moves_state(value->def))
        value = value->def->inputs[0];
    if (!value->def || !is_recurrent(value->def->op) || value->index < 1 ||
        value->index - 1 + INITIAL_H >= value->def->n_inputs)
        return NULL;
    return value->def->inputs[value->index - 1 + INITIAL_H];
}

/* What the caller gives where this comes out, or the other way round: as many numbers; NULL = it is
 * not known. */
static const struct value *other_end(const struct value *value)
{
    const struct value *source = data_scale_source(value), *state;
    const int64_t n = type_elements(&source->type);

    state = becomes_state(value) ? last_state_of(source, n) : initial_state_of(value);
    if (state)
        state = data_scale_source(state);
    return state && type_elements(&state->type) == n ? state : NULL;
}

static double greatest_of(const struct value *value)
{
    const struct qtype *quant = value ? value->type.quant : NULL;

    return quant && quant->kind == QTYPE_CALIBRATED ? fmax(fabs(quant->min), fabs(quant->max)) : 0;
}

bool moves_state(const struct node *node)
{
    return node->op == OP_CONCATENATE || keeps_numbers(node) || is_rounding(node);
}

bool state_scale_of(struct quantization *q, const struct precision *precision,
                    const struct value *value, struct data_scale *out)
{
    const struct precision p = precision_with_rule(q, precision);

    if (p.mode != PRECISION_INT8 ||
        !(becomes_state(value) || (was_state(value) && becomes_result(moved_from(value)))))
        return false;
    *out = (struct data_scale){ { .name = "i16", .dtype = DTYPE_I16 }, 1, 0 };
    if (!scale_rule_needs_data(&p.data_scale))
        out->scale = scale_of_numbers(&p.data_scale, &p.data, NULL, 0) / 256;
    else
        out->scale =
            (float)(fmax(greatest_of(data_scale_source(value)), greatest_of(other_end(value))) /
                    32767);
    if (out->scale < FLT_MIN)
        out->scale = 1; /* zeros */
    return true;
}
