/* rnn_cell.c - the equations of ONNX's RNN, GRU and LSTM; (.) is the product of elements.
 *
 * rnn   h' = f(W x + Wb + R h + Rb)
 * gru   z = f(Wz x + Wbz + Rz h + Rbz), r = f(Wr x + Wbr + Rr h + Rbr)
 *       n = g(Wh x + Wbh + Rh (r (.) h) + Rbh), or with linear_before_reset
 *       n = g(Wh x + Wbh + r (.) (Rh h + Rbh))
 *       h' = (1 - z) (.) n + z (.) h
 * lstm  i = f(Wi x + Wbi + Ri h + Rbi + Pi (.) c), f = f(...f + Pf (.) c), or with input_forget 1 -
 *       i c' = f (.) c + i (.) g(...c), o = f(...o + Po (.) c'), h' = o (.) h(c') */
#include "relay_ir/ops/rnn_cell.h"

#include <math.h>
#include <string.h>

const struct rnn_kind *rnn_kind(enum op op)
{
    static const struct rnn_kind kinds[] = {
        { OP_RNN, 1, 1, "Tanh" },
        { OP_GRU, 3, 2, "Sigmoid,Tanh" },
        { OP_LSTM, 4, 3, "Sigmoid,Tanh,Tanh" },
    };

    switch (op) {
    case OP_RNN:
    case OP_QNN_RNN: return &kinds[0];
    case OP_GRU:
    case OP_QNN_GRU: return &kinds[1];
    default: return &kinds[2];
    }
}

static double affine(double x, double a, double b)
{
    return a * x + b;
}
static double elu(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * expm1(x) : x;
}
static double hard_sigmoid(double x, double a, double b)
{
    return fmin(fmax(a * x + b, 0), 1);
}
static double leaky_relu(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * x : x;
}
static double relu(double x, double a, double b)
{
    (void)a, (void)b;
    return x > 0 ? x : 0;
}
static double scaled_tanh(double x, double a, double b)
{
    return a * tanh(b * x);
}
static double sigmoid(double x, double a, double b)
{
    (void)a, (void)b;
    return 1 / (1 + exp(-x));
}
static double softsign(double x, double a, double b)
{
    (void)a, (void)b;
    return x / (1 + fabs(x));
}
static double tanh_of(double x, double a, double b)
{
    (void)a, (void)b;
    return tanh(x);
}
static double threshold(double x, double a, double b)
{
    (void)b;
    return x >= a ? x : 0;
}

static double softplus(double x, double a, double b)
{
    (void)a, (void)b;
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static const struct {
    const char *name;
    double (*function)(double x, double alpha, double beta);
} functions[RNN_FUNCTION_COUNT] = {
    [RNN_AFFINE] = { "Affine", affine },
    [RNN_ELU] = { "Elu", elu },
    [RNN_HARD_SIGMOID] = { "HardSigmoid", hard_sigmoid },
    [RNN_LEAKY_RELU] = { "LeakyRelu", leaky_relu },
    [RNN_RELU] = { "Relu", relu },
    [RNN_SCALED_TANH] = { "ScaledTanh", scaled_tanh },
    [RNN_SIGMOID] = { "Sigmoid", sigmoid },
    [RNN_SOFTPLUS] = { "Softplus", softplus },
    [RNN_SOFTSIGN] = { "Softsign", softsign },
    [RNN_TANH] = { "Tanh", tanh_of },
    [RNN_THRESHOLDED_RELU] = { "ThresholdedRelu", threshold },
};

enum rnn_function rnn_function_of(const char *name, size_t n)
{
    enum rnn_function f = 0;

    while (f < RNN_FUNCTION_COUNT &&
           (strlen(functions[f].name) != n || memcmp(functions[f].name, name, n) != 0))
        f++;
    return f;
}

double rnn_activate(const struct rnn_activation *activation, double x)
{
    return functions[activation->function].function(x, activation->alpha, activation->beta);
}

static double activate(const struct rnn_cell *cell, int i, double x)
{
    const double clip = cell->attrs->clip;

    if (clip > 0)
        x = fmin(fmax(x, -clip), clip);
    return rnn_activate(&cell->activation[i], x);
}

/* y = m v + b for rows from .. to - 1; b may be NULL. */
static void affine_rows(const double *m, const double *v, const double *b, int64_t from, int64_t to,
                        int64_t columns, double *y)
{
    for (int64_t i = from; i < to; i++) {
        double sum = b ? b[i] : 0;

        for (int64_t k = 0; k < columns; k++)
            sum += m[i * columns + k] * v[k];
        y[i] = sum;
    }
}

static void step_rnn(struct rnn_cell *cell, const double *from_x, const double *from_h)
{
    for (int64_t i = 0; i < cell->hidden; i++)
        cell->h[i] = activate(cell, 0, from_x[i] + from_h[i]);
}

static void step_gru(struct rnn_cell *cell, double *from_x, double *from_h)
{
    const int64_t n = cell->hidden;
    const double *b = cell->b ? cell->b + 3 * n : NULL;
    double *z = from_x, *reset = from_x + n;

    for (int64_t i = 0; i < 2 * n; i++)
        from_x[i] = activate(cell, 0, from_x[i] + from_h[i]);
    if (cell->attrs->linear_before_reset) {
        for (int64_t i = 0; i < n; i++)
            from_h[2 * n + i] *= reset[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            from_h[i] = reset[i] * cell->h[i]; /* the sums for z are used up */
        affine_rows(cell->r, from_h, b, 2 * n, 3 * n, n, from_h);
    }
    for (int64_t i = 0; i < n; i++) {
        const double next = activate(cell, 1, from_x[2 * n + i] + from_h[2 * n + i]);

        cell->h[i] = (1 - z[i]) * next + z[i] * cell->h[i];
    }
}

static void step_lstm(struct rnn_cell *cell, const double *from_x, const double *from_h)
{
    const int64_t n = cell->hidden;
    const double *p = cell->peephole;

    for (int64_t i = 0; i < n; i++) {
        const double old = cell->c[i];
        const double in = activate(cell, 0, from_x[i] + from_h[i] + (p ? p[i] * old : 0));
        const double forget =
            cell->attrs->input_forget
                ? 1 - in
                : activate(cell, 0,
                           from_x[2 * n + i] + from_h[2 * n + i] + (p ? p[2 * n + i] * old : 0));
        const double now =
            forget * old + in * activate(cell, 1, from_x[3 * n + i] + from_h[3 * n + i]);
        const double out =
            activate(cell, 0, from_x[n + i] + from_h[n + i] + (p ? p[n + i] * now : 0));

        cell->c[i] = now;
        cell->h[i] = out * activate(cell, 2, now);
    }
}

void rnn_cell_step(struct rnn_cell *cell, const double *x)
{
    const int64_t rows = cell->kind->gates * cell->hidden;
    double *from_x = cell->gates, *from_h = cell->gates + rows;

    affine_rows(cell->w, x, cell->b, 0, rows, cell->input, from_x);
    affine_rows(cell->r, cell->h, cell->b ? cell->b + rows : NULL, 0, rows, cell->hidden, from_h);
    if (cell->kind->op == OP_RNN)
        step_rnn(cell, from_x, from_h);
    else if (cell->kind->op == OP_GRU)
        step_gru(cell, from_x, from_h);
    else
        step_lstm(cell, from_x, from_h);
}
