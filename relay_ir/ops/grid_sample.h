/* grid_sample.h - image.grid_sample of floats and of codes, for the evaluators, the rule and
 * generated C. */
#ifndef RELAY_IR_OPS_GRID_SAMPLE_H
#define RELAY_IR_OPS_GRID_SAMPLE_H

#include "relay_ir/ir.h"

/* For type inference: words, shapes; the output has the type of x. */
bool grid_sample_shape(struct ctx *ctx, struct node *node);

/* --- of codes (qnn_grid_sample.c) -------------------------------------------------------------
 */

/* Places have 16 bits behind the point, and 13 before it. */
enum { QNN_PLACE_BITS = 16, QNN_PLACE_MOST = 1 << 13 };

/* A step of the grid, in 2^-32 elements of a dimension of this extent. */
int64_t qnn_place_factor(bool align_corners, int64_t extent, double grid_scale);

/* Whether all places that such a grid can tell have 13 bits, and the method has weights here: no
 * cubic ones in three dimensions. node: of floats, or of codes. */
bool qnn_grid_sample_takes(const struct node *node, enum dtype grid, double grid_scale);

/* The bits of the weights of all dimensions together, whose sum is 2^that; whether sums need 64
 * bits. */
int qnn_grid_sample_bits(const struct node *node);
bool qnn_grid_sample_is_wide(const struct node *node);

#endif
