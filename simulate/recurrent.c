/* recurrent.c - nn.rnn, nn.gru and nn.lstm, as relay_ir/ops/rnn.h describes them: a row of weights
 * times a vector is one sum, one product after the other. */
#include <math.h>

#include "relay_ir/ops/rnn.h"
#include "runtime/embed/affine_f32.h"
#include "runtime/embed/clamp_f32.h"
#include "runtime/embed/elu_f32.h"
#include "runtime/embed/hard_sigmoid_f32.h"
#include "runtime/embed/leaky_relu_f32.h"
#include "runtime/embed/relu_f32.h"
#include "runtime/embed/scaled_tanh_f32.h"
#include "runtime/embed/sigmoid_f32.h"
#include "runtime/embed/softplus_f32.h"
#include "runtime/embed/softsign_f32.h"
#include "runtime/embed/tanh_f32.h"
#include "runtime/embed/thresholded_relu_f32.h"
#include "simulate/operators.h"

enum { X, W, R, B, LENGTHS, H, C, P };

/* One direction of a layer. */
struct cell {
    const struct rnn_attrs *attrs;
    struct rnn_sizes size;
    bool fused;
    const float *w, *r;    /* [gates * hidden, input], [gates * hidden, hidden] */
    const float *b;        /* [2, gates * hidden]; NULL = none */
    const float *peephole; /* [3, hidden]; NULL = none */
    struct rnn_activation activation[MAX_ACTIVATIONS];
    float *from_x, *from_h; /* [gates, hidden] */
    float *reset_h;         /* [hidden] */
    float *h, *c;           /* the state, [hidden] each */
};

static float activated(const struct rnn_activation *activation, float v)
{
    const float alpha = (float)activation->alpha, beta = (float)activation->beta;

    switch (activation->function) {
    case RNN_AFFINE: return affine_f32(v, alpha, beta);
    case RNN_ELU: return elu_f32(v, alpha);
    case RNN_HARD_SIGMOID: return hard_sigmoid_f32(v, alpha, beta);
    case RNN_LEAKY_RELU: return leaky_relu_f32(v, alpha);
    case RNN_RELU: return relu_f32(v);
    case RNN_SCALED_TANH: return scaled_tanh_f32(v, alpha, beta);
    case RNN_SIGMOID: return sigmoid_f32(v);
    case RNN_SOFTPLUS: return softplus_f32(v);
    case RNN_SOFTSIGN: return softsign_f32(v);
    case RNN_TANH: return tanh_f32(v);
    default: return thresholded_relu_f32(v, alpha);
    }
}

static float activate(const struct cell *cell, int i, float v)
{
    const float clip = (float)cell->attrs->clip;

    return activated(&cell->activation[i], clip > 0 ? clamp_f32(v, -clip, clip) : v);
}

/* y = m x, for n rows of `columns`. */
static void times(const float *m, const float *x, int64_t n, int64_t columns, float *y, bool fused)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t k = 0; k < columns; k++) {
            y[i] = add_product(y[i], x[k], m[i * columns + k], fused);
        }
    }
}

static void step_rnn(struct cell *cell)
{
    const float *b = cell->b;
    const int64_t n = cell->size.hidden;

    for (int64_t k = 0; k < n; k++) {
        const float sum = cell->from_x[k] + cell->from_h[k];

        cell->h[k] = activate(cell, 0, b ? sum + b[k] + b[n + k] : sum);
    }
}

static void step_gru(struct cell *cell)
{
    const int64_t n = cell->size.hidden, rows = 3 * n;
    float *const from_x = cell->from_x, *const from_h = cell->from_h;
    const float *b = cell->b;

    for (int64_t r = 0; r < rows && b; r++)
        from_x[r] += b[r];
    for (int64_t r = 0; r < rows && b; r++)
        from_h[r] += b[rows + r];
    if (cell->attrs->linear_before_reset) {
        for (int64_t k = 0; k < n; k++)
            from_x[2 * n + k] +=
                activate(cell, 0, from_x[n + k] + from_h[n + k]) * from_h[2 * n + k];
    } else {
        for (int64_t k = 0; k < n; k++)
            cell->reset_h[k] = activate(cell, 0, from_x[n + k] + from_h[n + k]) * cell->h[k];
        times(cell->r + 2 * n * n, cell->reset_h, n, n, from_h + 2 * n, cell->fused);
        for (int64_t k = 2 * n; k < rows; k++)
            from_x[k] += b ? from_h[k] + b[rows + k] : from_h[k];
    }
    for (int64_t k = 0; k < n; k++) {
        const float update = activate(cell, 0, from_x[k] + from_h[k]);

        cell->h[k] = (1 - update) * activate(cell, 1, from_x[2 * n + k]) + update * cell->h[k];
    }
}

static void step_lstm(struct cell *cell)
{
    const int64_t n = cell->size.hidden, rows = 4 * n;
    const float *b = cell->b, *p = cell->peephole;
    float *const gate = cell->from_x, *const c = cell->c;

    for (int64_t r = 0; r < rows; r++)
        gate[r] += b ? cell->from_h[r] + b[r] + b[rows + r] : cell->from_h[r];
    for (int64_t k = 0; k < n; k++) {
        const float in = activate(cell, 0, p ? gate[k] + p[k] * c[k] : gate[k]);
        const float to_forget = p ? gate[2 * n + k] + p[2 * n + k] * c[k] : gate[2 * n + k];
        const float forget = cell->attrs->input_forget ? 1 - in : activate(cell, 0, to_forget);
        const float now = forget * c[k] + in * activate(cell, 1, gate[3 * n + k]);
        const float to_output = p ? gate[n + k] + p[n + k] * now : gate[n + k];

        c[k] = now;
        cell->h[k] = activate(cell, 0, to_output) * activate(cell, 2, now);
    }
}

static void step(struct cell *cell, enum op op, const float *x)
{
    times(cell->w, x, cell->size.rows, cell->size.input, cell->from_x, cell->fused);
    times(cell->r, cell->h, cell->size.rows, cell->size.hidden, cell->from_h, cell->fused);
    if (op == OP_RNN)
        step_rnn(cell);
    else if (op == OP_GRU)
        step_gru(cell);
    else
        step_lstm(cell);
}

static const float *operand(const struct node *node, const struct tensor *const *in, int i)
{
    return i < node->n_inputs && in[i] ? in[i]->data : NULL;
}

static const float *part(const float *whole, int64_t offset)
{
    return whole ? whole + offset : NULL;
}

static struct cell cell_of(const struct node *node, const struct tensor *const *in,
                           struct bulk *bulk, int64_t direction)
{
    const struct rnn_sizes s = rnn_sizes_of(node);
    const size_t rows = (size_t)s.rows * sizeof(float), hidden = (size_t)s.hidden * sizeof(float);
    struct cell cell = { .attrs = &node->attrs.rnn,
                         .size = s,
                         .w = part(operand(node, in, W), direction * s.rows * s.input),
                         .r = part(operand(node, in, R), direction * s.rows * s.hidden),
                         .b = part(operand(node, in, B), direction * 2 * s.rows),
                         .peephole = part(operand(node, in, P), direction * 3 * s.hidden),
                         .from_x = bulk_alloc(bulk, rows),
                         .from_h = bulk_alloc(bulk, rows),
                         .reset_h = bulk_alloc(bulk, hidden),
                         .h = bulk_alloc(bulk, hidden),
                         .c = bulk_alloc(bulk, hidden) };

    rnn_activations_of(node, direction, cell.activation);
    return cell;
}

/* One sequence in one direction. */
static void run_sequence(const struct node *node, const struct tensor *const *in, struct cell *cell,
                         int64_t direction, int64_t batch, int64_t length, struct tensor *out)
{
    const struct rnn_sizes *s = &cell->size;
    const int64_t n = s->hidden, state = n * rnn_state_row(s, direction, batch);
    const float *h = operand(node, in, H), *c = operand(node, in, C);

    for (int64_t i = 0; i < n; i++) {
        cell->h[i] = h ? h[state + i] : 0;
        cell->c[i] = c ? c[state + i] : 0;
    }
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = rnn_is_reverse(node, direction) ? length - 1 - i : i;
        float *y = (float *)out[0].data + rnn_y_row(s, direction, batch, t) * n;

        step(cell, node->op, (const float *)in[X]->data + rnn_x_row(s, batch, t) * s->input);
        for (int64_t k = 0; k < n; k++)
            y[k] = cell->h[k];
    }
    for (int64_t i = 0; i < n; i++) {
        ((float *)out[1].data)[state + i] = cell->h[i];
        if (node->op == OP_LSTM)
            ((float *)out[2].data)[state + i] = cell->c[i];
    }
}

bool simulate_recurrent(const struct simulation *sim, const struct node *node,
                        const struct tensor *const *in, struct tensor *out)
{
    const struct rnn_sizes s = rnn_sizes_of(node);
    const struct tensor *lengths = node->n_inputs > LENGTHS ? in[LENGTHS] : NULL;

    for (int64_t b = 0; b < s.batch && lengths; b++)
        if (tensor_int_at(lengths, b) < 0 || tensor_int_at(lengths, b) > s.steps)
            return false; /* an error of relay_ir's evaluator */
    for (int64_t d = 0; d < s.directions; d++) {
        struct bulk bulk = { NULL, 0 };
        struct cell cell = cell_of(node, in, &bulk, d);

        cell.fused = fuses_products(sim, node);
        for (int64_t b = 0; b < s.batch; b++)
            run_sequence(node, in, &cell, d, b, lengths ? tensor_int_at(lengths, b) : s.steps, out);
        bulk_release(&bulk);
    }
    return true;
}
