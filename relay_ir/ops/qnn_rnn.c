/* qnn_rnn.c - qnn.rnn, qnn.gru and qnn.lstm: the equations of rnn_cell.c in integers. Every machine
 * gives the same bits.
 *
 * sums      W x and R h of a row exactly, in 32 bits; each times its factor, to nearest multiple of
 *           2^-20, ties up, and added to the bias (and p (.) c); saturated to 32 bits, clipped.
 *           Of narrow floats in 64 bits; to nearest, ties to even, each saturated to 32 bits as well
 * gates     qnn_gate.c: in 2^-15
 * cell      32 bits in 2^-20: (f * c + i * g) to nearest, ties up, saturated
 * hidden    16 bits in 2^-h_bits: the products of gates to nearest, ties up, saturated
 * results   quantised values of the hidden state, of the last hidden state and of the last cells: times one
 *           factor, rounded once, to nearest, ties up; narrow floats ties to even (exact_scale)
 *
 * So a state has about 16 bits, whatever y has, and what is rounded on the way is no more than a
 * few units of them: a result is half a step off, and less than a hundredth of a step of 8 bits
 * more. */
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn_recurrent.h"
#include "relay_ir/ops/scales.h"

/* --- type inference --------------------------------------------------------------------------- */

static bool has(const struct node *node, int input)
{
    return input < node->n_inputs && node->inputs[input];
}

static bool check_type(struct ctx *ctx, const struct node *node, int input, enum dtype wanted)
{
    const enum dtype found = input_type(node, input)->dtype;

    return found == wanted ||
           diag_error(ctx, DIAG_TYPE, node_origin(node), "input %d of %s is %s, expected %s", input,
                      op_name(node->op), dtype_name(found), dtype_name(wanted));
}

/* Integers, or narrow floats. */
static bool check_quantized(struct ctx *ctx, const struct node *node, int input)
{
    return type_minifloat(input_type(node, input)) ? exact_check_quantized(ctx, node, input)
                                                   : qnn_check_quantized(ctx, node, input);
}

static bool check_zero(struct ctx *ctx, const struct node *node, int input, enum dtype dtype)
{
    return type_minifloat(input_type(node, input)) && input_type(node, input)->dtype == dtype
               ? exact_check_zero(ctx, node, input, 1)
               : qnn_check_zero(ctx, node, input, dtype, 1);
}

/* Quantised values, with a scale and a zero point behind them, or nothing at all. */
static bool check_state(struct ctx *ctx, const struct node *node, int quantized, const char *name,
                        const struct rnn_sizes *s)
{
    struct type wanted;

    if (!has(node, quantized))
        return true;
    if (!has(node, quantized + 1) || !has(node, quantized + 2))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the scale or zero point of %s is missing", op_name(node->op), name);
    wanted = rnn_state_type(s, input_type(node, quantized)->dtype);
    return check_quantized(ctx, node, quantized) &&
           rnn_check_input(ctx, node, quantized, name, &wanted) &&
           qnn_check_scale(ctx, node, quantized + 1, 1) &&
           check_zero(ctx, node, quantized + 2, wanted.dtype);
}

/* The scale and zero point of a last state; the latter gives its type. */
static bool check_result(struct ctx *ctx, const struct node *node, int scale)
{
    if (has(node, scale) != has(node, scale + 1))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: one of inputs %d and %d is missing", op_name(node->op), scale,
                          scale + 1);
    return !has(node, scale) ||
           (qnn_check_scale(ctx, node, scale, 1) && check_quantized(ctx, node, scale + 1) &&
            check_zero(ctx, node, scale + 1, input_type(node, scale + 1)->dtype));
}

/* i8, or narrow floats where x is one. */
static bool check_weights(struct ctx *ctx, const struct node *node, int input)
{
    return type_minifloat(input_type(node, QNN_RNN_X)) ? exact_check_quantized(ctx, node, input)
                                                       : check_type(ctx, node, input, DTYPE_I8);
}

static bool check_shapes(struct ctx *ctx, const struct node *node, const struct rnn_sizes *s)
{
    const enum dtype w = input_type(node, QNN_RNN_W)->dtype, r = input_type(node, QNN_RNN_R)->dtype;
    const struct {
        int input;
        const char *name;
        struct type wanted;
    } inputs[] = {
        { QNN_RNN_W, "w", type_make(w, 3, (int64_t[]){ s->directions, s->rows, s->input }) },
        { QNN_RNN_R, "r", type_make(r, 3, (int64_t[]){ s->directions, s->rows, s->hidden }) },
        { QNN_RNN_B, "b", type_make(DTYPE_F32, 2, (int64_t[]){ s->directions, 2 * s->rows }) },
        { QNN_RNN_LENGTHS, "sequence_lens", type_make(DTYPE_I32, 1, (int64_t[]){ s->batch }) },
        { QNN_RNN_P, "p", type_make(DTYPE_F32, 2, (int64_t[]){ s->directions, 3 * s->hidden }) },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        ok = rnn_check_input(ctx, node, inputs[i].input, inputs[i].name, &inputs[i].wanted) && ok;
    return ok;
}

static void set_state(struct node *node, int output, int scale, const struct type *type)
{
    const bool own = has(node, scale);

    if (own || output == 1)
        set_scaled_output_at(node, output, type->dtype, type, own ? scale : QNN_RNN_Y_SCALE,
                             own ? scale + 1 : QNN_RNN_Y_ZERO, -1);
    else
        set_output(node, output, type->dtype, type);
}

bool infer_qnn_rnn(struct ctx *ctx, struct node *node)
{
    struct rnn_sizes s;
    struct type y, h, c;

    if (!qnn_check_scales(ctx, node) || !rnn_check_attrs(ctx, node))
        return false;
    s = rnn_sizes_of(node);
    if (!check_shapes(ctx, node, &s) || !check_weights(ctx, node, QNN_RNN_W) ||
        !check_weights(ctx, node, QNN_RNN_R) ||
        !qnn_check_scale(ctx, node, QNN_RNN_W_SCALE, s.rows) ||
        !qnn_check_scale(ctx, node, QNN_RNN_R_SCALE, s.rows) ||
        !check_state(ctx, node, QNN_RNN_H, "initial_h", &s) ||
        !check_state(ctx, node, QNN_RNN_C, "initial_c", &s) ||
        !check_result(ctx, node, QNN_RNN_LAST_H_SCALE) ||
        !check_result(ctx, node, QNN_RNN_LAST_C_SCALE))
        return false;
    y = rnn_result_type(&s, input_type(node, QNN_RNN_Y_ZERO)->dtype);
    h = rnn_state_type(&s, has(node, QNN_RNN_LAST_H_ZERO)
                               ? input_type(node, QNN_RNN_LAST_H_ZERO)->dtype
                               : y.dtype);
    c = rnn_state_type(&s, has(node, QNN_RNN_LAST_C_ZERO)
                               ? input_type(node, QNN_RNN_LAST_C_ZERO)->dtype
                               : DTYPE_I8);
    set_scaled_output(node, y.dtype, &y, QNN_RNN_Y_SCALE, QNN_RNN_Y_ZERO, -1);
    set_state(node, 1, QNN_RNN_LAST_H_SCALE, &h);
    if (node->n_outputs > 2)
        set_state(node, 2, QNN_RNN_LAST_C_SCALE, &c);
    return true;
}

/* --- a step ----------------------------------------------------------------------------------- */

struct cell {
    const struct qnn_recurrent *of;
    const struct rnn_attrs *attrs;
    int64_t direction;
    const struct qnn_gate *gate;
    const struct tensor *x, *w, *r; /* narrow floats as steps */
    int64_t x_at;                   /* element of x that this step begins with */
    int64_t *sum_x;                 /* [rows], biases included, in 2^-20 */
    int64_t *sum_h;                 /* [rows], likewise */
    int64_t *h, *c;                 /* [hidden], the states */
    int64_t *reset_h;               /* [hidden] */
};

static int64_t limited(int64_t x, int64_t most)
{
    return x < -most - 1 ? -most - 1 : x > most ? most : x;
}

/* The hidden state of what is in 2^-bits. */
static int64_t hidden_of(const struct qnn_recurrent *of, int64_t x, int bits)
{
    return limited(shifted_to_nearest(x, bits - of->h_bits), of->h_most);
}

static int32_t activate(const struct cell *cell, int i, int64_t sum)
{
    const int64_t clip = cell->of->clip;

    if (clip > 0)
        sum = sum < -clip ? -clip : sum > clip ? clip : sum;
    return qnn_gate_apply(&cell->gate[i], (int32_t)limited(sum, INT32_MAX));
}

static int64_t row_of(const struct cell *cell, int64_t row)
{
    return cell->direction * cell->of->sizes.rows + row;
}

static int64_t weigh_x(const struct cell *cell, int64_t row)
{
    const struct qnn_recurrent *of = cell->of;
    const int64_t at = row_of(cell, row);
    int64_t sum = of->x_start[at];

    for (int64_t i = 0; i < of->sizes.input; i++)
        sum += tensor_int_at(cell->w, at * of->sizes.input + i) *
               tensor_int_at(cell->x, cell->x_at + i);
    return qnn_recurrent_scaled(of, sum, of->x_factor[row], of->x_shift) + of->bias[at];
}

static int64_t weigh_h(const struct cell *cell, int64_t row, const int64_t *h)
{
    const struct qnn_recurrent *of = cell->of;
    const int64_t n = of->sizes.hidden, first = of->sizes.rows - n;
    const bool apart = of->kind->op == OP_GRU && row >= first;
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += tensor_int_at(cell->r, row_of(cell, row) * n + i) * h[i];
    sum = qnn_recurrent_scaled(of, sum, of->h_factor[row], of->h_shift);
    return apart ? sum + of->h_bias[cell->direction * n + row - first] : sum;
}

static void step_rnn(struct cell *cell)
{
    for (int64_t i = 0; i < cell->of->sizes.hidden; i++)
        cell->h[i] =
            hidden_of(cell->of, activate(cell, 0, cell->sum_x[i] + cell->sum_h[i]), QNN_GATE_BITS);
}

static void step_gru(struct cell *cell)
{
    const struct qnn_recurrent *of = cell->of;
    const int64_t n = of->sizes.hidden, one = 1 << QNN_GATE_BITS;
    const int64_t h_unit = (int64_t)1 << (QNN_GATE_BITS - of->h_bits);

    for (int64_t i = 0; i < n; i++) {
        const int64_t reset = activate(cell, 0, cell->sum_x[n + i] + cell->sum_h[n + i]);

        cell->reset_h[i] = hidden_of(of, reset * cell->h[i], QNN_GATE_BITS + of->h_bits);
        cell->sum_h[2 * n + i] =
            shifted_to_nearest(reset * limited(cell->sum_h[2 * n + i], INT32_MAX), QNN_GATE_BITS);
    }
    for (int64_t i = 0; i < n && !cell->attrs->linear_before_reset; i++)
        cell->sum_h[2 * n + i] = weigh_h(cell, 2 * n + i, cell->reset_h);
    for (int64_t i = 0; i < n; i++) {
        const int64_t update = activate(cell, 0, cell->sum_x[i] + cell->sum_h[i]);
        const int64_t next = activate(cell, 1, cell->sum_x[2 * n + i] + cell->sum_h[2 * n + i]);

        cell->h[i] =
            hidden_of(of, (one - update) * next + update * cell->h[i] * h_unit, 2 * QNN_GATE_BITS);
    }
}

/* The share of a peephole: which of i, o, f. */
static int64_t look(const struct cell *cell, int which, int64_t i, int64_t c)
{
    const struct qnn_recurrent *of = cell->of;
    const int64_t n = of->sizes.hidden;

    return of->peephole ? shifted_to_nearest(
                              c * of->peephole[(cell->direction * 3 + which) * n + i], of->p_shift)
                        : 0;
}

static void step_lstm(struct cell *cell)
{
    const int64_t n = cell->of->sizes.hidden, one = 1 << QNN_GATE_BITS;
    const int64_t to_cell = (int64_t)1 << (QNN_SUM_BITS - QNN_GATE_BITS);

    for (int64_t i = 0; i < n; i++) {
        const int64_t *const x = cell->sum_x + i, *const h = cell->sum_h + i, old = cell->c[i];
        const int64_t in = activate(cell, 0, x[0] + h[0] + look(cell, 0, i, old));
        const int64_t forget = cell->attrs->input_forget
                                   ? one - in
                                   : activate(cell, 0, x[2 * n] + h[2 * n] + look(cell, 2, i, old));
        const int64_t change = activate(cell, 1, x[3 * n] + h[3 * n]);
        const int64_t now = limited(
            shifted_to_nearest(forget * old + in * change * to_cell, QNN_GATE_BITS), INT32_MAX);
        const int64_t out = activate(cell, 0, x[n] + h[n] + look(cell, 1, i, now));

        cell->c[i] = now;
        cell->h[i] = hidden_of(cell->of, out * activate(cell, 2, now), 2 * QNN_GATE_BITS);
    }
}

static void step(struct cell *cell)
{
    for (int64_t row = 0; row < cell->of->sizes.rows; row++) {
        cell->sum_x[row] = weigh_x(cell, row);
        cell->sum_h[row] = weigh_h(cell, row, cell->h);
    }
    switch (cell->of->kind->op) {
    case OP_RNN: step_rnn(cell); break;
    case OP_GRU: step_gru(cell); break;
    default: step_lstm(cell); break;
    }
}

/* --- sequences -------------------------------------------------------------------------------- */

/* What element i of the quantised values stands for, in units of a state; not limited yet. */
static int64_t loaded(const struct qnn_state *state, const struct tensor *quantized, int64_t i)
{
    if (state->format)
        return exact_scale_whole(exact_steps(state->format, ((const uint8_t *)quantized->data)[i]),
                                 state->exact);
    return fixed_point_apply(state->factor, tensor_int_at(quantized, i) - state->zero,
                             ROUND_SINGLE);
}

static void load(const struct qnn_state *state, const struct tensor *quantized, int64_t first,
                 int64_t n, int64_t most, int64_t *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = quantized ? limited(loaded(state, quantized, first + i), most) : 0;
}

static void store(const struct qnn_state *state, struct tensor *out, int64_t first, int64_t n,
                  const int64_t *from)
{
    for (int64_t i = 0; i < n; i++)
        if (state->format)
            ((uint8_t *)out->data)[first + i] =
                (uint8_t)exact_scale(state->format, from[i], state->exact);
        else
            qnn_put_saturated(out, first + i,
                              fixed_point_apply(state->factor, from[i], ROUND_SINGLE) +
                                  state->zero);
}

static const struct tensor *input(const struct node *node, const struct tensor *const *in, int i)
{
    return i < node->n_inputs ? in[i] : NULL;
}

/* One sequence in one direction. */
static void run_sequence(struct cell *cell, const struct node *node, const struct tensor *const *in,
                         int64_t batch, struct tensor *out)
{
    const struct qnn_recurrent *of = cell->of;
    const struct rnn_sizes *s = &of->sizes;
    const struct tensor *lengths = input(node, in, QNN_RNN_LENGTHS);
    const int64_t n = s->hidden, state = rnn_state_row(s, cell->direction, batch) * n;
    const int64_t length = lengths ? tensor_int_at(lengths, batch) : s->steps;

    load(&of->initial_h, input(node, in, QNN_RNN_H), state, n, of->h_most, cell->h);
    load(&of->initial_c, input(node, in, QNN_RNN_C), state, n, INT32_MAX, cell->c);
    for (int64_t i = 0; i < length; i++) {
        const int64_t at = rnn_is_reverse(node, cell->direction) ? length - 1 - i : i;

        cell->x_at = rnn_x_row(s, batch, at) * s->input;
        step(cell);
        store(&of->y, &out[0], rnn_y_row(s, cell->direction, batch, at) * n, n, cell->h);
    }
    store(&of->last_h, &out[1], state, n, cell->h);
    if (of->kind->op == OP_LSTM)
        store(&of->last_c, &out[2], state, n, cell->c);
    memset(cell->h, 0, (size_t)n * sizeof *cell->h);
    for (int64_t i = length; i < s->steps; i++)
        store(&of->y, &out[0], rnn_y_row(s, cell->direction, batch, i) * n, n, cell->h);
}

bool eval_qnn_rnn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    struct bulk bulk = { NULL, 0 };
    struct qnn_recurrent of;
    struct tensor steps[3]; /* of x, w, r; of integers themselves */
    struct cell cell = {
        .of = &of, .attrs = &node->attrs.rnn, .x = &steps[0], .w = &steps[1], .r = &steps[2]
    };
    const char *why;
    bool ok = rnn_check_lengths(ctx, node, input(node, in, QNN_RNN_LENGTHS));

    if (ok && !qnn_recurrent_of(node, in, &bulk, &of, &why))
        ok = diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node), "%s: %s", op_name(node->op),
                        why);
    if (ok) {
        const size_t hidden = (size_t)of.sizes.hidden * sizeof(int64_t);
        const struct tensor *const factors[] = { in[QNN_RNN_X], in[QNN_RNN_W], in[QNN_RNN_R] };

        for (int i = 0; i < 3; i++)
            steps[i] = of.exact ? exact_steps_of(&bulk, factors[i]) : *factors[i];
        cell.sum_x = bulk_alloc(&bulk, (size_t)of.sizes.rows * sizeof(int64_t));
        cell.sum_h = bulk_alloc(&bulk, (size_t)of.sizes.rows * sizeof(int64_t));
        cell.h = bulk_alloc(&bulk, hidden);
        cell.c = bulk_alloc(&bulk, hidden);
        cell.reset_h = bulk_alloc(&bulk, hidden);
    }
    for (int64_t d = 0; ok && d < of.sizes.directions; d++)
        for (int64_t b = 0; b < of.sizes.batch; b++) {
            cell.direction = d;
            cell.gate = of.gate[d];
            run_sequence(&cell, node, in, b, out);
        }
    bulk_release(&bulk);
    return ok;
}
