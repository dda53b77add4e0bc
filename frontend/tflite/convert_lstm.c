/* convert_lstm.c - UNIDIRECTIONAL_SEQUENCE_LSTM, whose states are variable tensors: qnn.lstm_tables of quantised
 * values, lstm of floats. */
#include <math.h>
#include <string.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/convert_recurrent.h"
#include "relay_ir/walk.h"

enum { GATES = 4, X = 0, W = 1, R = 5, PEEPHOLE = 9, BIAS = 12, PROJECTION = 16, H = 18, C = 19 };
enum { LSTM_ACTIVATION, CELL_CLIP, PROJECTION_CLIP, TIME_MAJOR };
enum {
    TANH = 4,        /* of the fused activations */
    MOST_STEPS = 256 /* written one by one */
};

struct lstm {
    bool time_major;
    int64_t batch, steps, input, hidden;
};

/* Four gates, without peepholes, projections and normalisation: what TensorFlow Lite Micro computes. */
static bool check_lstm(struct tfl_node *node, struct lstm *lstm)
{
    static const int wanted[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 18, 19 };
    const struct type *x;

    if (!tfl_check(node, 1, 24, 1) || !tfl_check_rank(node, node->inputs[X], 3, 3))
        return false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i] >= node->n_inputs || !node->inputs[wanted[i]])
            return tfl_unsupported(node, "input %d is absent", wanted[i]);
    for (int i = PEEPHOLE; i < node->n_inputs; i++)
        if (node->inputs[i] && i != H && i != C && (i < BIAS || i >= BIAS + GATES))
            return tfl_unsupported(node, "peepholes, a projection, or normalised gates (input %d)",
                                   i);
    if (tfl_word(node, LSTM_ACTIVATION) != TANH)
        return tfl_unsupported(node, "activation %lld, expected TANH",
                               (long long)tfl_word(node, LSTM_ACTIVATION));
    x = &node->inputs[X]->type;
    lstm->time_major = tfl_flag(node, TIME_MAJOR);
    lstm->batch = x->dim[lstm->time_major];
    lstm->steps = x->dim[!lstm->time_major];
    lstm->input = x->dim[2];
    lstm->hidden = node->inputs[R]->type.rank == 2 ? node->inputs[R]->type.dim[1] : 0;
    if (lstm->batch < 1 || lstm->steps < 1 || lstm->input < 1 || lstm->hidden < 1)
        return tfl_unsupported(node, "no steps, or no units");
    for (int g = 0; g < GATES; g++)
        if (!tfl_check_shape(node, W + g, 2, lstm->hidden, lstm->input) ||
            !tfl_check_shape(node, R + g, 2, lstm->hidden, lstm->hidden) ||
            !tfl_check_shape(node, BIAS + g, 1, lstm->hidden, 0))
            return false;
    return tfl_check_shape(node, H, 2, lstm->batch, lstm->hidden) &&
           tfl_check_shape(node, C, 2, lstm->batch, lstm->hidden);
}

/* The payloads of four inputs one behind the other, those of gate order[g] at g. */
static void *joined(struct tfl_node *node, int first, const int *order, const struct type *type)
{
    const size_t bytes = type_bytes(type) / GATES;
    unsigned char *all = tfl_payload(node, type);

    for (int g = 0; all && g < GATES; g++) {
        struct tensor gate;

        if (!tfl_check_type(node, node->inputs[first + order[g]], type->dtype) ||
            !tfl_constant(node, first + order[g], &gate))
            return NULL;
        memcpy(all + (size_t)g * bytes, gate.data, bytes);
    }
    return all;
}

static const int file_order[GATES] = { 0, 1, 2, 3 };

/* Biases from which the zero point's share of the sums is taken. */
static struct value *bias_of(struct tfl_node *node, const struct lstm *lstm, const int8_t *weights,
                             int64_t columns, int64_t zero, const int32_t *bias, const char *suffix)
{
    const int64_t rows = GATES * lstm->hidden;
    const struct type type = type_make(DTYPE_I32, 1, &rows);
    int32_t *sums = weights ? tfl_payload(node, &type) : NULL;

    for (int64_t i = 0; sums && i < rows; i++) {
        uint32_t sum = bias ? (uint32_t)bias[i] : 0; /* wraps, as sums of 32 bits do */

        for (int64_t k = 0; k < columns; k++)
            sum -= (uint32_t)(zero * weights[i * columns + k]);
        sums[i] = (int32_t)sum;
    }
    return tfl_made(node, &type, sums, suffix);
}

/* Of sums with x, then with h, to units of 2^-12; products of scales in f32. */
static struct value *factors_of(struct tfl_node *node)
{
    const struct type type = type_make(DTYPE_F32, 1, (const int64_t[]){ 2 * GATES });
    float *factors = tfl_payload(node, &type);

    for (int i = 0; factors && i < 2 * GATES; i++) {
        const struct tfl_tensor *w = node->inputs[W + i], *x = node->inputs[i < GATES ? X : H];

        if (!tfl_check_scale(node, w))
            return NULL;
        if (tfl_zero(w) != 0) {
            tfl_unsupported(node, "weights with the zero point %lld", (long long)tfl_zero(w));
            return NULL;
        }
        factors[i] = (float)(tfl_scale(x, 0) * tfl_scale(w, 0)) * 4096.0f;
    }
    return tfl_made(node, &type, factors, "factors");
}

static bool lstm_attrs_of(struct tfl_node *node, const struct lstm *lstm,
                          struct lstm_tables_attrs *attrs)
{
    const struct tfl_tensor *h = node->inputs[H], *c = node->inputs[C];
    const double clip = tfl_real(node, CELL_CLIP, 0);
    int exponent;

    if (!tfl_check_type(node, h, node->inputs[X]->type.dtype) ||
        !tfl_check_type(node, c, DTYPE_I16) || !tfl_check_scale(node, h) ||
        !tfl_check_scale(node, c))
        return false;
    if (frexp(tfl_scale(c, 0), &exponent) != 0.5 || exponent - 1 < -15 || exponent - 1 > 0 ||
        tfl_zero(c) != 0)
        return tfl_unsupported(node,
                               "a cell state of scale %g and zero point %lld, expected a "
                               "power of 2 from 2^-15 to 1, and 0",
                               tfl_scale(c, 0), (long long)tfl_zero(c));
    *attrs = (struct lstm_tables_attrs){ .time_major = lstm->time_major,
                                         .h_scale = tfl_scale(h, 0),
                                         .h_zero = tfl_zero(h),
                                         .c_power = exponent - 1 };
    if (clip > 0) {
        attrs->c_most = (int64_t)fmin(clip / tfl_scale(c, 0), 32767.0);
        if (attrs->c_most == 0)
            return tfl_unsupported(node, "cell_clip %g is less than a step", clip);
    }
    return true;
}

/* What 64 bits hold: quantised values without zero points, biases of 48 bits, factors below 2^7. */
static bool is_wide_form(struct tfl_node *node, const int64_t *bias, int64_t n)
{
    if (tfl_zero(node->inputs[X]) != 0 || tfl_zero(node->inputs[H]) != 0)
        return tfl_unsupported(node, "INT16 with a zero point, expected 0");
    for (int64_t i = 0; i < n; i++)
        if (bias[i] >= (int64_t)1 << 46 || bias[i] < -((int64_t)1 << 46))
            return tfl_unsupported(node, "a bias of %lld, expected less than 2^46",
                                   (long long)bias[i]);
    for (int i = 0; i < 2 * GATES; i++) {
        const struct tfl_tensor *w = node->inputs[W + i], *x = node->inputs[i < GATES ? X : H];
        const double factor = tfl_scale(x, 0) * tfl_scale(w, 0) * 4096;

        if (!(factor < 64) || !(factor > 0x1p-30))
            return tfl_unsupported(
                node, "the factor %g of the sums of a gate, expected 2^-30 to 64", factor);
    }
    return true;
}

/* y, and the cell state behind it. */
static struct node *quantized_lstm(struct tfl_node *node, const struct lstm *lstm)
{
    const int64_t rows = GATES * lstm->hidden;
    const struct type w = type_make(DTYPE_I8, 2, (const int64_t[]){ rows, lstm->input });
    const struct type r = type_make(DTYPE_I8, 2, (const int64_t[]){ rows, lstm->hidden });
    const struct type b = type_make(DTYPE_I32, 1, &rows);
    const bool is_wide = node->inputs[X]->type.dtype == DTYPE_I16;
    const struct type wide_bias = type_make(DTYPE_I64, 1, &rows);
    struct value *inputs[8] = { NULL };
    union attrs attrs;
    int8_t *weights, *recurrent;
    void *bias;

    if (!tfl_check_scale(node, node->inputs[X]) || !lstm_attrs_of(node, lstm, &attrs.lstm_tables))
        return NULL;
    weights = joined(node, W, file_order, &w);
    recurrent = joined(node, R, file_order, &r);
    bias = joined(node, BIAS, file_order, is_wide ? &wide_bias : &b);
    if (!weights || !recurrent || !bias || (is_wide && !is_wide_form(node, bias, rows)))
        return NULL;
    inputs[0] = tfl_value(node, X);
    inputs[1] = tfl_made(node, &w, weights, "weights");
    inputs[2] = tfl_made(node, &r, recurrent, "recurrent");
    inputs[3] = is_wide ? tfl_made(node, &wide_bias, bias, "x_bias")
                        : bias_of(node, lstm, weights, lstm->input, tfl_zero(node->inputs[X]), bias,
                                  "x_bias");
    inputs[4] = factors_of(node);
    inputs[5] = tfl_state(node, H);
    inputs[6] = tfl_state(node, C);
    if (!is_wide)
        inputs[7] =
            bias_of(node, lstm, recurrent, lstm->hidden, tfl_zero(node->inputs[H]), NULL, "h_bias");
    for (int i = 0; i < 8 - is_wide; i++)
        if (!inputs[i])
            return NULL;
    return node_new(node->fn, &(struct node_args){ .op = OP_QNN_LSTM_TABLES,
                                                   .n_inputs = 8 - is_wide,
                                                   .inputs = inputs,
                                                   .attrs = &attrs,
                                                   .origin = node->origin });
}

/* Weights of four gates as numbers: those of 8 bits as what they stand for, a scale for each gate. */
static struct value *real_weights(struct tfl_node *node, int first, const int *order,
                                  const struct type *type, const char *suffix)
{
    const union attrs attrs = { .axis = { .axis = 1 } };
    const struct type rows = type_make(DTYPE_F32, 1, &type->dim[1]);
    const int64_t rows_of_gate = type->dim[1] / GATES;
    struct type quantized = *type;
    float *scales;

    if (node->inputs[first]->type.dtype == DTYPE_F32)
        return tfl_made(node, type, joined(node, first, order, type), suffix);
    quantized.dtype = DTYPE_I8;
    scales = tfl_payload(node, &rows);
    for (int64_t i = 0; scales && i < type->dim[1]; i++) {
        const struct tfl_tensor *w = node->inputs[first + order[i / rows_of_gate]];

        if (i % rows_of_gate == 0 && !tfl_check_scale(node, w))
            return NULL;
        if (tfl_zero(w) != 0) {
            tfl_unsupported(node, "weights with the zero point %lld", (long long)tfl_zero(w));
            return NULL;
        }
        scales[i] = (float)tfl_scale(w, 0);
    }
    return tfl_build(
        node, OP_QNN_DEQUANTIZE, &attrs, suffix, 3,
        (struct value *const[]){
            tfl_made(node, &quantized, joined(node, first, order, &quantized), "codes"),
            tfl_made(node, &rows, scales, "scales"), tfl_number(node, DTYPE_I8, 0, "w_zero") });
}

/* y, h and c, with a dimension of directions before the units. */
static struct node *floats_lstm(struct tfl_node *node, const struct lstm *lstm)
{
    static const int order[GATES] = { 0, 3, 1, 2 }; /* input, output, forget, cell */
    const int64_t rows = GATES * lstm->hidden;
    const struct type w = type_make(DTYPE_F32, 3, (const int64_t[]){ 1, rows, lstm->input });
    const struct type r = type_make(DTYPE_F32, 3, (const int64_t[]){ 1, rows, lstm->hidden });
    const struct type b = type_make(DTYPE_F32, 2, (const int64_t[]){ 1, 2 * rows });
    const struct type half = type_make(DTYPE_F32, 2, (const int64_t[]){ 1, rows });
    const int64_t state[] = { lstm->time_major ? 1 : lstm->batch,
                              lstm->time_major ? lstm->batch : 1, lstm->hidden };
    const union attrs attrs = { .rnn = { .hidden_size = lstm->hidden,
                                         .direction = "forward",
                                         .activations = "",
                                         .batch_major = !lstm->time_major } };
    struct value *inputs[7] = { NULL };
    void *gates, *bias;

    gates = joined(node, BIAS, order, &half);
    bias = tfl_payload(node, &b);
    if (!gates || !bias)
        return NULL;
    memcpy(bias, gates, type_bytes(&half));
    inputs[0] = tfl_value(node, X);
    inputs[1] = real_weights(node, W, order, &w, "weights");
    inputs[2] = real_weights(node, R, order, &r, "recurrent");
    inputs[3] = tfl_made(node, &b, bias, "bias");
    inputs[5] = tfl_shaped(node, tfl_state(node, H), 3, state, "h_before");
    inputs[6] = tfl_shaped(node, tfl_state(node, C), 3, state, "c_before");
    for (int i = 0; i < 7; i++)
        if (!inputs[i] && i != 4) /* lengths */
            return NULL;
    return node_new(node->fn, &(struct node_args){ .op = OP_LSTM,
                                                   .n_inputs = 7,
                                                   .inputs = inputs,
                                                   .attrs = &attrs,
                                                   .origin = node->origin });
}

static struct value *one(struct tfl_node *node, enum op op, const char *suffix, struct value *x)
{
    return x ? tfl_build1(node, op, NULL, suffix, x) : NULL;
}

/* What a gate makes of its share of the sums. */
static struct value *gate(struct tfl_node *node, const struct lstm *lstm, int i, enum op op,
                          struct value *sums)
{
    return one(node, op, "gate", tfl_along(node, sums, 1, i * lstm->hidden, lstm->hidden, "sums"));
}

/* h and c behind a step whose x has given these sums. */
static bool step(struct tfl_node *node, const struct lstm *lstm, struct value *sums,
                 struct value *recurrent, struct value **h, struct value **c)
{
    enum { INPUT, FORGET, CELL, OUTPUT };
    const double clip = tfl_real(node, CELL_CLIP, 0);
    const union attrs bounds = { .clip = { -clip, clip } };
    struct value *all =
        tfl_two(node, OP_ADD, "sums", sums, tfl_two(node, OP_DENSE, "h_sums", *h, recurrent));
    struct value *kept =
        tfl_two(node, OP_MULTIPLY, "kept", *c, gate(node, lstm, FORGET, OP_SIGMOID, all));
    struct value *added =
        tfl_two(node, OP_MULTIPLY, "added", gate(node, lstm, INPUT, OP_SIGMOID, all),
                gate(node, lstm, CELL, OP_TANH, all));

    *c = tfl_two(node, OP_ADD, "cell", kept, added);
    *c = *c ? tfl_build1(node, OP_CLIP, &bounds, "clipped", *c) : NULL;
    *h = tfl_two(node, OP_MULTIPLY, "h", gate(node, lstm, OUTPUT, OP_SIGMOID, all),
                 one(node, OP_TANH, "tanh", *c));
    return *h != NULL;
}

/* Step by step: lstm has no bound for its cell. The products with x are one, of all steps. */
static bool clipped_lstm(struct tfl_node *node, const struct lstm *lstm)
{
    const int64_t rows = GATES * lstm->hidden, along = lstm->time_major ? 0 : 1;
    const struct type w = type_make(DTYPE_F32, 3, (const int64_t[]){ 1, rows, lstm->input });
    const struct type r = type_make(DTYPE_F32, 3, (const int64_t[]){ 1, rows, lstm->hidden });
    const struct type b = type_make(DTYPE_F32, 2, (const int64_t[]){ 1, rows });
    const int64_t in[] = { lstm->steps * lstm->batch, lstm->input };
    const int64_t all[] = { lstm->time_major ? lstm->steps : lstm->batch,
                            lstm->time_major ? lstm->batch : lstm->steps, rows };
    const int64_t at_once[] = { lstm->batch, rows };
    const int64_t out[] = { along ? lstm->batch : 1, along ? 1 : lstm->batch, lstm->hidden };
    const union attrs attrs = { .axis = { .axis = (int)along } };
    struct value *h = tfl_state(node, H), *c = tfl_state(node, C), *x, *sums, *recurrent, **steps;

    if (lstm->steps > MOST_STEPS)
        return tfl_unsupported(node, "cell_clip of floats in %lld steps, expected at most %d",
                               (long long)lstm->steps, MOST_STEPS);
    x = tfl_shaped(node, tfl_value(node, X), 2, in, "rows");
    sums = tfl_two(
        node, OP_DENSE, "x_sums", x,
        tfl_shaped(node, real_weights(node, W, file_order, &w, "weights"), 2, &w.dim[1], "w"));
    sums = tfl_two(node, OP_ADD, "biased", sums,
                   tfl_made(node, &b, joined(node, BIAS, file_order, &b), "bias"));
    sums = tfl_shaped(node, sums, 3, all, "of_steps");
    recurrent =
        tfl_shaped(node, real_weights(node, R, file_order, &r, "recurrent"), 2, &r.dim[1], "r");
    steps = arena_array(&node->ctx->scratch, struct value *, (size_t)lstm->steps);
    for (int64_t t = 0; t < lstm->steps; t++) {
        struct value *of_step = tfl_along(node, sums, (int)along, t, 1, "of_step");

        if (!h || !c ||
            !step(node, lstm, tfl_shaped(node, of_step, 2, at_once, "x_sums"), recurrent, &h, &c))
            return false;
        steps[t] = tfl_shaped(node, h, 3, out, "y");
        if (!steps[t])
            return false;
    }
    x = lstm->steps == 1 ? steps[0]
                         : tfl_build(node, OP_CONCATENATE, &attrs, "y", (int)lstm->steps, steps);
    return x && tfl_state_set(node, H, h) && tfl_state_set(node, C, c) &&
           tfl_output(node, 0, tfl_reshape(node, x, &node->outputs[0]->type, "shaped"));
}

bool convert_tfl_lstm(struct tfl_node *node)
{
    struct lstm lstm;
    struct node *made;
    struct value *y, *h;

    if (!check_lstm(node, &lstm))
        return false;
    const int64_t state[] = { lstm.batch, lstm.hidden };

    if (node->inputs[X]->type.dtype == DTYPE_F32) {
        if (!tfl_check_type(node, node->inputs[H], DTYPE_F32) ||
            !tfl_check_type(node, node->inputs[C], DTYPE_F32))
            return false;
        if (tfl_real(node, CELL_CLIP, 0) > 0)
            return clipped_lstm(node, &lstm);
        made = floats_lstm(node, &lstm);
        if (!made)
            return false;
        y = tfl_reshape(node, made->outputs[0], &node->outputs[0]->type, "y");
        h = tfl_shaped(node, made->outputs[1], 2, state, "h_behind");
        return tfl_state_set(node, H, h) &&
               tfl_state_set(node, C, tfl_shaped(node, made->outputs[2], 2, state, "c_behind")) &&
               tfl_output(node, 0, y);
    }
    if (node->inputs[X]->type.dtype != DTYPE_I16 &&
        !tfl_check_type(node, node->inputs[X], DTYPE_I8))
        return false;
    made = quantized_lstm(node, &lstm);
    if (!made)
        return false;
    h = tfl_along(node, made->outputs[0], lstm.time_major ? 0 : 1, lstm.steps - 1, 1, "last");
    return tfl_state_set(node, H, tfl_shaped(node, h, 2, state, "h_behind")) &&
           tfl_state_set(node, C, made->outputs[1]) && tfl_output(node, 0, made->outputs[0]);
}
