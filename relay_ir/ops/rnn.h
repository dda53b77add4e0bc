/* rnn.h - what recurrent layers of floats (rnn.c) and of codes (qnn_rnn.c) share: shapes,
 * attributes, and where a step stands.
 *
 * x (steps, batch, input), w (directions, gates * hidden, input), r (directions, gates * hidden,
 * hidden), y (steps, directions, batch, hidden), states (directions, batch, hidden); batch_major:
 * x (batch, steps, input), y (batch, steps, directions, hidden), states (batch, directions,
 * hidden). Behind the end of a sequence y is 0; the last states are those at its end, or the
 * initial ones of an empty sequence. The reverse direction begins at the end of each sequence. */
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

/* For type inference: attributes and the rank of x, written out where they are defaults; an input
 * that may be absent; and for evaluation: lengths, which may be NULL. */
bool rnn_check_attrs(struct ctx *ctx, struct node *node);
bool rnn_check_input(struct ctx *ctx, const struct node *node, int input, const char *name,
                     const struct type *wanted);
bool rnn_check_lengths(struct ctx *ctx, const struct node *node, const struct tensor *lengths);

/* The activation functions of a direction, of which there are rnn_kind(op)->n_activations. */
void rnn_activations_of(const struct node *node, int64_t direction, struct rnn_activation *of);

/* Whether a direction goes from the end to the beginning. */
bool rnn_is_reverse(const struct node *node, int64_t direction);

/* The row of x that step i of a sequence reads, that of y, and that of the states; a row has
 * input, or hidden elements. */
int64_t rnn_x_row(const struct rnn_sizes *sizes, int64_t batch, int64_t step);
int64_t rnn_y_row(const struct rnn_sizes *sizes, int64_t direction, int64_t batch, int64_t step);
int64_t rnn_state_row(const struct rnn_sizes *sizes, int64_t direction, int64_t batch);

#endif
