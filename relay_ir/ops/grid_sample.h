/* grid_sample.h - image.grid_sample of floats and of quantised values: shared by evaluators,
 * rewrite rule and codegen_c. */
#ifndef RELAY_IR_OPS_GRID_SAMPLE_H
#define RELAY_IR_OPS_GRID_SAMPLE_H

#include "relay_ir/ir.h"

/* Type inference: checks words and shapes; the output has the type of x. */
bool grid_sample_shape(struct ctx *ctx, struct node *node);

/* --- quantised values (qnn_grid_sample.c) ----------------------------------------------------- */

/* Coordinates are fixed point: 16 fractional bits, magnitude up to 2^13. */
enum { QNN_COORDINATE_BITS = 16, QNN_COORDINATE_MOST = 1 << 13 };

/* A quantisation step of the grid, in units of 2^-32 elements of a dimension of this extent. */
int64_t qnn_coordinate_factor(bool align_corners, int64_t extent, double grid_scale);

/* True if all coordinates of such a grid fit into 13 bits and the method has integer weights (no
 * cubic in three dimensions). node may be the float or the quantised operator. */
bool qnn_grid_sample_takes(const struct node *node, enum dtype grid, double grid_scale);

/* Fractional bits of the product of all dimensions' weights, which sum to 2^bits; and true if sums
 * need 64 bits. */
int qnn_grid_sample_bits(const struct node *node);
bool qnn_grid_sample_is_wide(const struct node *node);

#endif
