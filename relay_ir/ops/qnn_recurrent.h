/* qnn_recurrent.h - qnn.rnn, qnn.gru and qnn.lstm: inputs and integer parameters; equations in
 * qnn_rnn.c.
 *
 * Shapes as of nn.rnn (rnn.h). x is i8, u8, i16 or u16, weights are i8 with zero point 0 and one
 * scale, or one per gate row, for both directions; biases and peepholes are f32 in the graph, and
 * integers in generated code. Defaults of absent inputs: b, p and initial states 0; last h the
 * scale of y, last c 1/16 and i8.
 *
 * Narrow floats (exact.h): x, w and r have formats with exact arithmetic, and scales are relative
 * to these formats' values. Sums of steps are exact, in 64 bits; all after the sums is as for
 * integers. States and y may be narrow floats or integers. */
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

/* Quantisation of a state or of y. */
struct qnn_state {
    enum dtype dtype;
    double scale;
    int64_t zero;
    struct fixed_point factor;      /* from stored values to the state; for results the other way */
    const struct minifloat *format; /* NULL = integers; else a narrow float, with values in steps,
                                       and: */
    struct exact_factor exact;
};

/* Sums are scaled to units of 2^-QNN_SUM_BITS: sum * factor / 2^shift, to nearest, ties up; for
 * narrow floats (qnn_recurrent_scaled) ties to even, saturated to 32 bits. */
struct qnn_recurrent {
    const struct rnn_kind *kind;
    struct rnn_sizes sizes;
    bool exact;                    /* x, w and r are narrow floats */
    int h_bits;                    /* hidden state = h / 2^h_bits, h in -h_most - 1 .. h_most */
    int32_t h_most;                /* 127 .. 32767 */
    int x_shift, h_shift, p_shift; /* 1 .. 62; x_shift and h_shift of narrow floats up to 127 */
    int32_t *x_factor, *h_factor;  /* [rows], at most 2^30 */
    int32_t *x_start;              /* [directions, rows]: initial value of sums of x */
    int32_t *bias;                 /* [directions, rows], in 2^-QNN_SUM_BITS */
    int32_t *h_bias;               /* [directions, hidden]: gru with linear_before_reset, bias of R
                                      h alone */
    int32_t *peephole;             /* [directions, 3, hidden]; NULL = none */
    int32_t clip;                  /* in 2^-QNN_SUM_BITS; 0 = none */
    struct qnn_gate gate[2][MAX_ACTIVATIONS]; /* of each direction */
    struct qnn_state initial_h, initial_c;    /* scale 0: none */
    struct qnn_state y, last_h, last_c;
};

/* Integer parameters of a node with these inputs (NULL = absent), in bulk memory. False if they do
 * not fit; *why is an English phrase without a full stop. */
bool qnn_recurrent_of(const struct node *node, const struct tensor *const *in, struct bulk *bulk,
                      struct qnn_recurrent *of, const char **why);

/* A sum of products in units of 2^-QNN_SUM_BITS. */
int64_t qnn_recurrent_scaled(const struct qnn_recurrent *of, int64_t sum, int32_t factor,
                             int shift);

#endif
