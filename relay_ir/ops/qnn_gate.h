/* qnn_gate.h - the activation functions of recurrent layers in integers of 32 bits.
 *
 * A sum x, in 2^-QNN_SUM_BITS, becomes a gate in 2^-QNN_GATE_BITS, at most 2^10 in magnitude.
 * tanh and the powers come from tables of what they are at multiples of 2^-QNN_STEP_BITS, linear
 * between two of them: off by less than QNN_GATE_ERROR, at any x. Numbers alpha and beta are
 * rounded to 2^-QNN_NUMBER_BITS. */
#ifndef RELAY_IR_OPS_QNN_GATE_H
#define RELAY_IR_OPS_QNN_GATE_H

#include "relay_ir/ops/rnn_cell.h"

enum {
    QNN_SUM_BITS = 20,  /* +-2048 in 32 bits */
    QNN_GATE_BITS = 15, /* 1 is 32768 */
    QNN_NUMBER_BITS = 16,
    QNN_STEP_BITS = 6,
    QNN_GATE_MOST = 1 << 25
};

/* tanh: half a unit of its table, and (2^-6)^2 / 8 times the greatest |tanh''|, 0.77. Times alpha,
 * where the function has one. Measured: see tests/unit/relay_ir/ops/test_ops_qnn_rnn.c. */
#define QNN_GATE_ERROR 5e-5

/* The tables, in 2^-QNN_GATE_BITS, of |x|: beyond its end a function is what it is there. All rise.
 */
enum qnn_table {
    QNN_TABLE_TANH,     /* up to 8: 2^-15 off */
    QNN_TABLE_EXP,      /* 1 - exp(-x), up to 12 */
    QNN_TABLE_SOFTPLUS, /* log(2) - log(1 + exp(-x)), up to 12 */
    QNN_TABLE_NONE
};

enum { QNN_TABLE_MOST = (12 << QNN_STEP_BITS) + 1 };

int qnn_table_size(enum qnn_table table);
uint16_t qnn_table_entry(enum qnn_table table, int i);

struct qnn_gate {
    enum rnn_function function;
    int32_t alpha, beta; /* in 2^-QNN_NUMBER_BITS; of ThresholdedRelu alpha in 2^-QNN_SUM_BITS */
};

/* False where alpha or beta are beyond 2^10 in magnitude, or not finite. */
bool qnn_gate_of(const struct rnn_activation *activation, struct qnn_gate *gate);

/* The table that the function reads. */
enum qnn_table qnn_gate_table(enum rnn_function function);

int32_t qnn_gate_apply(const struct qnn_gate *gate, int32_t x);

/* What |gate| never exceeds, as a real number; INFINITY where it depends on x. */
double qnn_gate_bound(const struct rnn_activation *activation);

/* Whether it is never below 0, nor above 1: an interpolation between two numbers stays there. */
bool qnn_gate_is_share(enum rnn_function function);

#endif
