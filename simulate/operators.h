/* operators.h - bit-exact evaluation of f32 operators, one function per family; outputs are
 * allocated. Each documents its order of sums. False: the form has no kernel, or its kernels give
 * the bits of relay_ir's evaluator. */
#ifndef SIMULATE_OPERATORS_H
#define SIMULATE_OPERATORS_H

#include "relay_ir/ir.h"
#include "simulate/simulate.h"

/* The simulated CPU. */
struct simulation {
    const struct machine *machine;
    bool fused; /* some kernels contract products and sums to FMA */
};

typedef bool simulated(const struct simulation *sim, const struct node *node,
                       const struct tensor *const *in, struct tensor *out);

simulated simulate_batch_norm, simulate_conv, simulate_conv_transpose, simulate_coupling,
    simulate_cumulative, simulate_dense, simulate_gelu, simulate_global_average,
    simulate_grid_sample, simulate_group_norm, simulate_layer_norm, simulate_log_softmax,
    simulate_lp_normalize, simulate_lrn, simulate_matmul, simulate_pool, simulate_recurrent,
    simulate_reduce, simulate_resize, simulate_roi_align, simulate_scalar, simulate_softmax,
    simulate_tree_ensemble;

/* The order of the kernel that is the default for the node. */
enum sum_order sums_of(const struct simulation *sim, const struct node *node);

/* True if its products are not rounded before they are added. */
bool fuses_products(const struct simulation *sim, const struct node *node);

/* sum + a * b, rounded twice, or once if fused. */
float add_product(float sum, float a, float b, bool fused);

/* Constant weights with block scales, as in gemv_blocks: per block, the sum over (q - zero), times
 * the scale. */
struct block_sums {
    const float *quantized, *scale; /* [rows, len], [rows, blocks of a row] */
    int64_t len, block;
    bool fused; /* FMA within a block */
};

/* False if another kernel is used. */
bool sums_by_blocks(const struct simulation *sim, const struct node *node,
                    const struct tensor *weight, struct bulk *bulk, struct block_sums *sums);

/* Product of a row with contiguous x. */
float block_sum(const struct block_sums *sums, int64_t row, const float *x);

/* True if sums are those of rows (SUMS_ROWS), and runs of `len` elements of input 0 are read so. */
bool adds_by_rows(const struct simulation *sim, const struct node *node, int64_t len);

/* An operand converted to f32 (exact for narrower formats). In bulk. */
float *floats_of(struct bulk *bulk, const struct tensor *tensor);

#endif
