/* quantized_recurrent.c - nn.rnn, nn.gru and nn.lstm between qnn.dequantize and qnn.quantize, in
 * integers; ops/qnn_rnn.c says how they round. And of FP8 numbers that are decoded and encoded
 * again, for fake_quant_to_exact: `exact`. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn_recurrent.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

enum { X, W, R, B, LENGTHS, H, C, P };

struct recurrent {
    bool exact;
    struct node *node; /* the operator on floats */
    struct node *x;    /* the decoder of its operand */
    struct value *inputs[QNN_RNN_INPUTS];
};

static enum op integer_op(enum op op)
{
    switch (op) {
    case OP_RNN: return OP_QNN_RNN;
    case OP_GRU: return OP_QNN_GRU;
    case OP_LSTM: return OP_QNN_LSTM;
    default: return OP_COUNT;
    }
}

static struct value *input(const struct node *node, int i)
{
    return i < node->n_inputs ? node->inputs[i] : NULL;
}

/* --- integers, or narrow floats ---------------------------------------------------------------- */

static void affine_of_small(struct rewrite *rewrite, const struct small *small,
                            struct affine *affine)
{
    *affine =
        (struct affine){ .dtype = small->dtype,
                         .scale = small->scale,
                         .scale_value = small->scale_value ? small->scale_value
                                                           : scale_operand(rewrite, small->scale),
                         .zero_value = zero_operand(rewrite, small->dtype) };
}

/* What decodes the value; NULL = nothing does. */
static struct node *decoder(struct rewrite *rewrite, bool exact, const struct value *value,
                            struct affine *affine)
{
    struct small small;
    struct node *node;

    if (!exact)
        return dequantize_of(rewrite, value, affine);
    node = decoder_of(rewrite, value, &small);
    if (node)
        affine_of_small(rewrite, &small, affine);
    return node;
}

/* Whether the node encodes. */
static bool encoder(struct rewrite *rewrite, bool exact, const struct node *node,
                    struct affine *affine)
{
    struct small small;

    if (!exact)
        return node->op == OP_QNN_QUANTIZE && affine_of(rewrite, node, node->outputs[0], affine);
    if (!encodes(rewrite, node, &small))
        return false;
    affine_of_small(rewrite, &small, affine);
    return true;
}

/* What all that read the value encode it to. Narrow floats may be bounded before. */
static bool encoded(struct rewrite *rewrite, bool exact, const struct value *value,
                    struct affine *affine)
{
    const struct node *user = value_only_user(value);
    struct affine other;

    while (exact && user && (user->op == OP_RELU || user->op == OP_CLIP)) {
        value = user->outputs[0];
        user = value_only_user(value);
    }
    if (!value->uses || !encoder(rewrite, exact, value->uses->node, affine))
        return false;
    for (const struct use *use = value->uses->next; use; use = use->next)
        if (!encoder(rewrite, exact, use->node, &other) || !affine_equal(affine, &other))
            return false;
    return true;
}

/* Quantised values of narrow floats, with one scale or one for each row of gates. */
static bool read_exact_weights(struct rewrite *rewrite, const struct value *value,
                               struct value **quantized, struct value **scale)
{
    const struct node *node = value->def;
    const bool cast = node && node->op == OP_CAST;
    const struct minifloat *format;

    if (!node || (!cast && node->op != OP_QNN_DEQUANTIZE) ||
        node->inputs[0]->kind != VALUE_CONSTANT)
        return false;
    format = dtype_minifloat(node->inputs[0]->type.dtype);
    if (!format || minifloat_bits(format) != 8 || exact_greatest(format) == 0)
        return false;
    *quantized = node->inputs[0];
    *scale = cast ? scale_operand(rewrite, 1) : node->inputs[1];
    return cast || ((*scale)->kind == VALUE_CONSTANT &&
                    (type_elements(&(*scale)->type) == 1 || node->attrs.axis.axis == 1));
}

/* Quantised values of i8 around 0, likewise. */
static struct node *weights_of(struct rewrite *rewrite, const struct value *value)
{
    struct node *node = defined_by(value, OP_QNN_DEQUANTIZE);
    struct bulk bulk = { NULL, 0 };
    struct tensor zero;
    bool ok = node && node->inputs[0]->kind == VALUE_CONSTANT &&
              node->inputs[0]->type.dtype == DTYPE_I8 && node->inputs[1]->kind == VALUE_CONSTANT &&
              (type_elements(&node->inputs[1]->type) == 1 || node->attrs.axis.axis == 1) &&
              static_tensor(rewrite, node->inputs[2], &bulk, &zero);

    for (int64_t i = 0; ok && i < type_elements(&zero.type); i++)
        ok = tensor_at(&zero, i) == 0;
    bulk_release(&bulk);
    return ok ? node : NULL;
}

static bool read_weights(struct rewrite *rewrite, struct recurrent *of, int from, int to)
{
    const struct value *value = of->node->inputs[from];
    const struct node *node;

    if (of->exact)
        return read_exact_weights(rewrite, value, &of->inputs[to], &of->inputs[to + 1]);
    node = weights_of(rewrite, value);
    if (node) {
        of->inputs[to] = node->inputs[0];
        of->inputs[to + 1] = node->inputs[1];
    }
    return node != NULL;
}

/* --- states ----------------------------------------------------------------------------------- */

/* A known initial state as 16-bit values around 0. */
static struct value *coded_state(struct rewrite *rewrite, struct value *state,
                                 struct affine *affine)
{
    const struct type type = type_make(DTYPE_I16, state->type.rank, state->type.dim);
    const int64_t n = type_elements(&type);
    struct tensor from = value_tensor(state), to = { .type = type };
    double greatest = 0;

    for (int64_t i = 0; i < n; i++)
        greatest = fmax(greatest, fabs(tensor_at(&from, i)));
    if (!isfinite(greatest))
        return NULL;
    *affine = (struct affine){ .dtype = DTYPE_I16,
                               .scale = (double)(float)(greatest > 0 ? greatest / 32767 : 1) };
    make_affine_values(rewrite, affine);
    to.data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < n; i++)
        dtype_store(DTYPE_I16, to.data, i, stored_number(affine, tensor_at(&from, i)));
    return constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.codes", state->name),
                        &type, to.data);
}

/* Input `from` of floats, where there is one, as `to` and the two behind it. */
static bool read_state(struct rewrite *rewrite, struct recurrent *of, int from, int to)
{
    struct value *state = input(of->node, from), *quantized;
    struct affine affine;
    const struct node *node;

    if (!state || is_number(state, 0))
        return true;
    node = decoder(rewrite, of->exact, state, &affine);
    if (!node && (state->kind != VALUE_CONSTANT || state->type.dtype != DTYPE_F32))
        return false;
    quantized = node ? node->inputs[0] : coded_state(rewrite, state, &affine);
    if (node)
        rule_covers(rewrite, node);
    of->inputs[to] = quantized;
    of->inputs[to + 1] = affine.scale_value;
    of->inputs[to + 2] = affine.zero_value;
    return quantized != NULL;
}

/* What output i becomes: of all that encode it, which do the same. */
static bool read_result(struct rewrite *rewrite, struct recurrent *of, int i, int scale)
{
    const struct value *output = of->node->outputs[i];
    struct affine affine;

    if (!output->uses)
        return true;
    if (!encoded(rewrite, of->exact, output, &affine))
        return false;
    of->inputs[scale] = affine.scale_value;
    of->inputs[scale + 1] = affine.zero_value;
    return true;
}

static bool read_results(struct rewrite *rewrite, struct recurrent *of)
{
    if (!read_result(rewrite, of, 0, QNN_RNN_Y_SCALE) ||
        !read_result(rewrite, of, 1, QNN_RNN_LAST_H_SCALE) ||
        (of->node->n_outputs > 2 && !read_result(rewrite, of, 2, QNN_RNN_LAST_C_SCALE)))
        return false;
    if (!of->inputs[QNN_RNN_Y_SCALE]) { /* nobody reads y: as the last state, or any */
        const bool last = of->inputs[QNN_RNN_LAST_H_SCALE] != NULL;
        const int like = last ? QNN_RNN_LAST_H_SCALE : QNN_RNN_LAST_C_SCALE;

        of->inputs[QNN_RNN_Y_SCALE] = of->inputs[like];
        of->inputs[QNN_RNN_Y_ZERO] = of->inputs[like + 1];
    }
    return true;
}

/* --- the rule --------------------------------------------------------------------------------- */

/* Biases and peepholes: absent, or known. */
static bool is_known(const struct value *value)
{
    return !value || (value->kind == VALUE_CONSTANT && value->type.dtype == DTYPE_F32);
}

static bool find_recurrent(struct rewrite *rewrite, struct recurrent *of)
{
    const struct node *node = of->node;
    struct affine x;

    of->x = decoder(rewrite, of->exact, node->inputs[X], &x);
    if (!of->x || !read_weights(rewrite, of, W, QNN_RNN_W) ||
        !read_weights(rewrite, of, R, QNN_RNN_R) || !is_known(input(node, B)) ||
        !is_known(input(node, P)))
        return false;
    of->inputs[QNN_RNN_X] = of->x->inputs[0];
    of->inputs[QNN_RNN_X_SCALE] = x.scale_value;
    of->inputs[QNN_RNN_X_ZERO] = x.zero_value;
    of->inputs[QNN_RNN_B] = input(node, B);
    of->inputs[QNN_RNN_LENGTHS] = input(node, LENGTHS);
    of->inputs[QNN_RNN_P] = input(node, P);
    return read_results(rewrite, of) && read_state(rewrite, of, H, QNN_RNN_H) &&
           read_state(rewrite, of, C, QNN_RNN_C);
}

/* Whether the integers of such a node would fit: a constant where the operator wants one. */
static bool is_fine(struct rewrite *rewrite, const struct node *made)
{
    struct tensor tensors[QNN_RNN_INPUTS];
    const struct tensor *in[QNN_RNN_INPUTS] = { NULL };
    struct bulk bulk = { NULL, 0 };
    struct qnn_recurrent integers;
    const char *why;
    bool ok = true;

    for (int i = 0; i < made->n_inputs && ok; i++) {
        const struct value *value = made->inputs[i];
        const bool computed =
            i == QNN_RNN_X || i == QNN_RNN_LENGTHS || i == QNN_RNN_H || i == QNN_RNN_C;

        if (!value)
            continue;
        if (computed)
            tensors[i] = (struct tensor){ .type = value->type };
        else
            ok = static_tensor(rewrite, value, &bulk, &tensors[i]);
        in[i] = &tensors[i];
    }
    ok = ok && qnn_recurrent_of(made, in, &bulk, &integers, &why);
    bulk_release(&bulk);
    return ok;
}

/* The node of quantised values in front of that of floats; NULL where there is none. */
static struct node *integer_node(struct rewrite *rewrite, struct recurrent *of)
{
    struct node *node = of->node, *made;
    const char *names[3];
    int n = QNN_RNN_INPUTS;

    while (!of->inputs[n - 1])
        n--;
    for (int i = 0; i < node->n_outputs; i++)
        names[i] = arena_printf(&rewrite->ctx->scratch, "%s.codes", node->outputs[i]->name);
    rule_covers(rewrite, of->x);
    rule_covers(rewrite, node);
    made = node_new(rewrite->fn, &(struct node_args){ .op = integer_op(node->op),
                                                      .n_inputs = n,
                                                      .inputs = of->inputs,
                                                      .n_outputs = node->n_outputs,
                                                      .names = names,
                                                      .attrs = &node->attrs,
                                                      .origin = rewrite->origin,
                                                      .before = node });
    if (made && !is_fine(rewrite, made)) {
        node_remove(made);
        return NULL;
    }
    return made;
}

/* Whether the quantised values, absent or not, are what the rule makes of the state. */
static bool is_state(const struct value *state, const struct node *made, int input)
{
    const struct value *quantized = input < made->n_inputs ? made->inputs[input] : NULL;
    struct affine affine = { .dtype = DTYPE_I16 };
    bool same = true;

    if (!quantized || !state || is_number(state, 0))
        return !quantized && (!state || is_number(state, 0));
    if (state->kind != VALUE_CONSTANT)
        return state->def && quantized == state->def->inputs[0];
    if (quantized->kind != VALUE_CONSTANT || quantized->type.dtype != DTYPE_I16)
        return false;
    affine.scale = dtype_load(DTYPE_F32, made->inputs[input + 1]->data, 0);
    for (int64_t i = 0; same && i < type_elements(&state->type); i++)
        same = stored_number(&affine, dtype_load(DTYPE_F32, state->data, i)) ==
               dtype_load(DTYPE_I16, quantized->data, i);
    return same;
}

static const char *attrs_of(struct rewrite *rewrite, const struct node *node)
{
    struct str text = { .arena = &rewrite->ctx->scratch };

    attrs_print(&text, op_row(node->op)->attrs, &node->attrs);
    return str_text(&text);
}

/* What another quantize of the same node has made already. */
static struct node *found_before(struct rewrite *rewrite, const struct node *node)
{
    static const struct {
        int of_floats, of_quantized;
        bool decoded;
    } rows[] = { { X, QNN_RNN_X, true },
                 { W, QNN_RNN_W, true },
                 { R, QNN_RNN_R, true },
                 { B, QNN_RNN_B, false },
                 { LENGTHS, QNN_RNN_LENGTHS, false },
                 { P, QNN_RNN_P, false } };
    struct node *before = node->prev;
    bool same = before && before->op == integer_op(node->op) &&
                strcmp(attrs_of(rewrite, before), attrs_of(rewrite, node)) == 0;

    for (size_t i = 0; same && i < sizeof rows / sizeof *rows; i++) {
        const struct value *floats = input(node, rows[i].of_floats);

        if (rows[i].decoded)
            floats = floats->def ? floats->def->inputs[0] : NULL;
        same = floats == input(before, rows[i].of_quantized);
    }
    return same && is_state(input(node, H), before, QNN_RNN_H) &&
                   is_state(input(node, C), before, QNN_RNN_C)
               ? before
               : NULL;
}

/* Whether result i of the quantised values is what `root` makes of that of floats. */
static bool gives(struct rewrite *rewrite, const struct recurrent *of, const struct node *made,
                  int i, const struct node *root)
{
    static const int scales[] = { QNN_RNN_Y_SCALE, QNN_RNN_LAST_H_SCALE, QNN_RNN_LAST_C_SCALE };
    const struct value *scale = input(made, scales[i]), *zero = input(made, scales[i] + 1);
    struct affine wanted;
    double number, code = 0; /* narrow floats have no zero point */

    return scale && encoder(rewrite, of->exact, root, &wanted) && value_uniform(scale, &number) &&
           (of->exact || value_uniform(zero, &code)) && zero->type.dtype == wanted.dtype &&
           number == wanted.scale && code == (double)wanted.zero;
}

/* The quantised values of output `floats` of a recurrent layer, for `root`. */
static struct value *quantized_of_result(struct rewrite *rewrite, bool exact,
                                         const struct value *floats, const struct node *root)
{
    struct recurrent of = { .exact = exact, .node = floats->def };
    struct node *made;

    if (!of.node || integer_op(of.node->op) == OP_COUNT)
        return NULL;
    made = found_before(rewrite, of.node);
    if (made && !gives(rewrite, &of, made, floats->index, root))
        made = NULL;
    if (!made && find_recurrent(rewrite, &of))
        made = integer_node(rewrite, &of);
    return made ? made->outputs[floats->index] : NULL;
}

/* quantize(rnn, gru or lstm of dequantize(x), dequantize(w), dequantize(r) ...) -> qnn.rnn ..., all
 * of whose results that anybody reads are quantized */
struct value *recurrent_to_integer(struct rewrite *rewrite, struct node *root)
{
    struct value *quantized = quantized_of_result(rewrite, false, root->inputs[0], root);

    if (quantized && !quantized->uses)
        value_take_name(quantized, root->outputs[0]);
    return quantized;
}

/* encode(rnn, gru or lstm of decode(x), decode(w), decode(r) ...) -> qnn.rnn ..., likewise */
struct value *exact_recurrent(struct rewrite *rewrite, struct node *root)
{
    struct exact_behind behind;
    struct value *quantized;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    quantized = quantized_of_result(rewrite, true, behind.value, root);
    if (quantized && !quantized->uses && behind.n_bounds == 0)
        value_take_name(quantized, root->outputs[0]);
    return exact_bounded(rewrite, &behind, root, quantized);
}
