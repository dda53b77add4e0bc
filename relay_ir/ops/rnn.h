/* rnn.h - shapes, attributes and row numbers of recurrent layers, for floats (rnn.c) and quantised
 * values (qnn_rnn.c).
 *
 * x (steps, batch, input), w (directions, gates * hidden, input), r (directions, gates * hidden,
 * hidden), y (steps, directions, batch, hidden), states (directions, batch, hidden); batch_major: x
 * (batch, steps, input), y (batch, steps, directions, hidden), states (batch, directions, hidden).
 * y is 0 past the end of a sequence; the last states are those at its end, or the initial ones if
 * it is empty. The reverse direction starts at the end of each sequence. */
#ifndef RELAY_IR_OPS_RNN_H
#define RELAY_IR_OPS_RNN_H

#include "relay_ir/ops/rnn_cell.h"

struct rnn_sizes {
    int64_t steps, batch, input, hidden, directions;
    int64_t rows; /* gates * hidden */
    bool batch_major;
};

struct rnn_sizes rnn_sizes_of(const struct node *node);

struct type rnn_state_type(const struct rnn_sizes *sizes, enum dtype dtype);
struct type rnn_result_type(const struct rnn_sizes *sizes, enum dtype dtype);

/* Type inference: rnn_check_attrs checks attributes (defaults are stored explicitly) and the rank
 * of x; rnn_check_input an optional input. Evaluation: rnn_check_lengths checks the lengths, which
 * may be NULL. */
bool rnn_check_attrs(struct ctx *ctx, struct node *node);
bool rnn_check_input(struct ctx *ctx, const struct node *node, int input, const char *name,
                     const struct type *wanted);
bool rnn_check_lengths(struct ctx *ctx, const struct node *node, const struct tensor *lengths);

/* The rnn_kind(op)->n_activations activation functions of a direction. */
void rnn_activations_of(const struct node *node, int64_t direction, struct rnn_activation *of);

/* True if the direction runs backwards in time. */
bool rnn_is_reverse(const struct node *node, int64_t direction);

/* Row numbers in x, y and the states at step `step` of a sequence; a row has `input` or `hidden`
 * elements. */
int64_t rnn_x_row(const struct rnn_sizes *sizes, int64_t batch, int64_t step);
int64_t rnn_y_row(const struct rnn_sizes *sizes, int64_t direction, int64_t batch, int64_t step);
int64_t rnn_state_row(const struct rnn_sizes *sizes, int64_t direction, int64_t batch);

#endif
