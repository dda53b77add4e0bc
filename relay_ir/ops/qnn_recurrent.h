/* qnn_recurrent.h - qnn.rnn, qnn.gru and qnn.lstm: inputs and integers; qnn_rnn.c has the
 * equations.
 *
 * The shapes are those of nn.rnn (rnn.h). x is i8, u8, i16 or u16, weights are i8 around 0, with
 * one scale or one for each row of gates, which both directions share; biases and peepholes are f32
 * in the graph, and integers in compiled code. What is absent: b and p are 0, the last states have
 * the scale of y (h), or 1/16 and i8 (c), initial states are 0.
 *
 * Small floats (exact.h): then x, w and r are of formats with exact arithmetic, and all scales
 * count in numbers of these. Sums of their steps are exact, in 64 bits; what is behind the sums is
 * the same. States and y may be either. */
#ifndef RELAY_IR_OPS_QNN_RECURRENT_H
#define RELAY_IR_OPS_QNN_RECURRENT_H

#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/qnn_gate.h"
#include "relay_ir/ops/rnn.h"

/* Inputs; the last six of lstm only. */
enum {
    QNN_RNN_X,
    QNN_RNN_X_SCALE,
    QNN_RNN_X_ZERO,
    QNN_RNN_Y_SCALE,
    QNN_RNN_Y_ZERO, /* gives the type of y */
    QNN_RNN_W,
    QNN_RNN_W_SCALE,
    QNN_RNN_R,
    QNN_RNN_R_SCALE,
    QNN_RNN_B,
    QNN_RNN_LENGTHS,
    QNN_RNN_LAST_H_SCALE,
    QNN_RNN_LAST_H_ZERO,
    QNN_RNN_H, /* initial */
    QNN_RNN_H_SCALE,
    QNN_RNN_H_ZERO,
    QNN_RNN_LAST_C_SCALE,
    QNN_RNN_LAST_C_ZERO,
    QNN_RNN_C,
    QNN_RNN_C_SCALE,
    QNN_RNN_C_ZERO,
    QNN_RNN_P,
    QNN_RNN_INPUTS
};

/* Codes of a state, or of y. */
struct qnn_state {
    enum dtype dtype;
    double scale;
    int64_t zero;
    struct fixed_point factor; /* from codes to the state; of results from the state to codes */
    const struct minifloat *format; /* NULL = integers; else this, the least steps being codes: */
    struct exact_factor exact;
};

/* Sums times factors are in 2^-QNN_SUM_BITS: sum * factor / 2^shift, to nearest, halves up; of
 * small floats (qnn_recurrent_scaled) to nearest, ties to even, saturated to 32 bits. */
struct qnn_recurrent {
    const struct rnn_kind *kind;
    struct rnn_sizes sizes;
    bool exact;                    /* x, w and r are small floats */
    int h_bits;                    /* the hidden state is h / 2^h_bits, -h_most - 1 .. h_most */
    int32_t h_most;                /* 127 .. 32767 */
    int x_shift, h_shift, p_shift; /* 1 .. 62; of small floats 127 at most, the first two */
    int32_t *x_factor, *h_factor;  /* [rows], at most 2^30 */
    int32_t *x_start;              /* [directions, rows]: what sums of x begin with */
    int32_t *bias;                 /* [directions, rows], in 2^-QNN_SUM_BITS */
    int32_t *h_bias;               /* [directions, hidden]: of gru with
                                      linear_before_reset what belongs to R h alone */
    int32_t *peephole;             /* [directions, 3, hidden]; NULL = none */
    int32_t clip;                  /* in 2^-QNN_SUM_BITS; 0 = none */
    struct qnn_gate gate[2][MAX_ACTIVATIONS]; /* of each direction */
    struct qnn_state initial_h, initial_c;    /* scale 0: none */
    struct qnn_state y, last_h, last_c;
};

/* The integers of a node with these inputs (NULL = absent), in bulk memory. False where they do
 * not fit: *why says what (a text in English without a full stop). */
bool qnn_recurrent_of(const struct node *node, const struct tensor *const *in, struct bulk *bulk,
                      struct qnn_recurrent *of, const char **why);

/* A sum of products in 2^-QNN_SUM_BITS. */
int64_t qnn_recurrent_scaled(const struct qnn_recurrent *of, int64_t sum, int32_t factor,
                             int shift);

#endif
