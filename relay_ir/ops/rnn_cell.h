/* rnn_cell.h - one time step of nn.rnn, nn.gru and nn.lstm, in doubles, for one direction and one
 * sequence of the batch. */
#ifndef RELAY_IR_OPS_RNN_CELL_H
#define RELAY_IR_OPS_RNN_CELL_H

#include "relay_ir/ir.h"

enum { MAX_GATES = 4, MAX_ACTIVATIONS = 3 };

/* What the three operators differ in. */
struct rnn_kind {
    enum op op;
    int gates;               /* rnn: h; gru: z, r, h; lstm: i, o, f, c */
    int n_activations;       /* per direction */
    const char *activations; /* when nothing is said */
};

const struct rnn_kind *rnn_kind(enum op op);

struct rnn_activation {
    double (*function)(double x, double alpha, double beta);
    double alpha, beta;
};

/* The function of a name, which is `n` bytes long; NULL if there is none. */
double (*rnn_activation(const char *name, size_t n))(double x, double alpha, double beta);

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

/* From x [input] and the state to the next state. */
void rnn_cell_step(struct rnn_cell *cell, const double *x);

#endif
