/* qnn_gate.h - activation functions of quantised recurrent layers, in 32-bit integers.
 *
 * A sum x, in units of 2^-QNN_SUM_BITS, becomes a gate in units of 2^-QNN_GATE_BITS, at most 2^10
 * in magnitude. tanh and exponentials come from tables at multiples of 2^-QNN_STEP_BITS with linear
 * interpolation, error below QNN_GATE_ERROR for any x. alpha and beta are rounded to
 * 2^-QNN_NUMBER_BITS. */
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

/* tanh: half a unit of its table plus (2^-6)^2 / 8 * max |tanh''| (0.77); times alpha for functions
 * that have one. Checked by tests/unit/relay_ir/ops/test_ops_qnn_rnn.c. */
#define QNN_GATE_ERROR 5e-5

/* Tables over |x|, in units of 2^-QNN_GATE_BITS, increasing; the last entry holds beyond the
 * end. */
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

/* False if alpha or beta is not finite or exceeds 2^10 in magnitude. */
bool qnn_gate_of(const struct rnn_activation *activation, struct qnn_gate *gate);

/* Table of the function. */
enum qnn_table qnn_gate_table(enum rnn_function function);

int32_t qnn_gate_apply(const struct qnn_gate *gate, int32_t x);

/* Upper bound of |gate| as a real number; INFINITY if it depends on x. */
double qnn_gate_bound(const struct rnn_activation *activation);

/* True if the gate is always in 0 .. 1, so that an interpolation by it stays between its
 * operands. */
bool qnn_gate_is_share(enum rnn_function function);

#endif
