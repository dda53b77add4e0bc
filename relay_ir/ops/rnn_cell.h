/* rnn_cell.h - one time step of nn.rnn, nn.gru and nn.lstm, in doubles, for one direction and one
 * sequence of the batch. */
#ifndef RELAY_IR_OPS_RNN_CELL_H
#define RELAY_IR_OPS_RNN_CELL_H

#include "relay_ir/ir.h"

enum { MAX_GATES = 4, MAX_ACTIVATIONS = 3 };

/* Differences between the three operators. */
struct rnn_kind {
    enum op op;              /* float operator */
    int gates;               /* rnn: h; gru: z, r, h; lstm: i, o, f, c */
    int n_activations;       /* per direction */
    const char *activations; /* default */
};

/* For float and quantised operators. */
const struct rnn_kind *rnn_kind(enum op op);

enum rnn_function {
    RNN_AFFINE,
    RNN_ELU,
    RNN_HARD_SIGMOID,
    RNN_LEAKY_RELU,
    RNN_RELU,
    RNN_SCALED_TANH,
    RNN_SIGMOID,
    RNN_SOFTPLUS,
    RNN_SOFTSIGN,
    RNN_TANH,
    RNN_THRESHOLDED_RELU,
    RNN_FUNCTION_COUNT
};

struct rnn_activation {
    enum rnn_function function;
    double alpha, beta;
};

/* Function by name, `n` bytes long; RNN_FUNCTION_COUNT if unknown. */
enum rnn_function rnn_function_of(const char *name, size_t n);

double rnn_activate(const struct rnn_activation *activation, double x);

struct rnn_cell {
    const struct rnn_kind *kind;
    const struct rnn_attrs *attrs;
    int64_t input, hidden;
    const double *w;        /* [gates * hidden, input] */
    const double *r;        /* [gates * hidden, hidden] */
    const double *b;        /* [2 * gates * hidden], of w and of r, or NULL */
    const double *peephole; /* [3 * hidden]: i, o, f; lstm only, or NULL */
    struct rnn_activation activation[MAX_ACTIVATIONS];
    double *gates; /* [2 * gates * hidden], scratch */
    double *h, *c; /* [hidden], the state; c of lstm only */
};

/* Advances the state by one step with x [input]. */
void rnn_cell_step(struct rnn_cell *cell, const double *x);

#endif
