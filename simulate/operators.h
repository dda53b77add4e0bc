/* operators.h - one function per family of operators: from inputs to outputs, which are allocated,
 * of f32. Each says in which order it adds. False: this form of the operator has no kernel, or none
 * whose bits are others than those of the evaluator in relay_ir. */
#ifndef SIMULATE_OPERATORS_H
#define SIMULATE_OPERATORS_H

#include "relay_ir/ir.h"
#include "simulate/simulate.h"

/* What is simulated. */
struct simulation {
    const struct machine *machine;
    bool fused; /* products and sums in the text of some kernels */
};

typedef bool simulated(const struct simulation *sim, const struct node *node,
                       const struct tensor *const *in, struct tensor *out);

simulated simulate_batch_norm, simulate_conv, simulate_conv_transpose, simulate_cumulative,
    simulate_dense, simulate_gelu, simulate_global_average, simulate_grid_sample,
    simulate_group_norm, simulate_layer_norm, simulate_log_softmax, simulate_lp_normalize,
    simulate_lrn, simulate_matmul, simulate_pool, simulate_recurrent, simulate_reduce,
    simulate_resize, simulate_roi_align, simulate_scalar, simulate_softmax;

/* Whether the C of a node is usually this kernel's (codegen_c/core/kernels.def): the order of some
 * operators' sums is their kernel's. */
bool has_kernel(const struct simulation *sim, const struct node *node, const char *kernel);

/* Whether its products are added without being rounded before. */
bool fuses_products(const struct simulation *sim, const struct node *node);

/* sum + a * b, rounded twice, or (fused) once. */
float add_product(float sum, float a, float b, bool fused);

/* A row of known weights whose blocks share scales, by gemv_blocks: a sum over each block of codes
 * less their zero points, times its scale. */
struct block_sums {
    const float *codes, *scale; /* [rows, len], [rows, blocks of a row] */
    int64_t len, block;
    bool fused; /* the sums over a block */
};

/* False where the kernel is another one. */
bool sums_by_blocks(const struct simulation *sim, const struct node *node,
                    const struct tensor *weight, struct bulk *bulk, struct block_sums *sums);

/* Of a row with x, that lies side by side. */
float block_sum(const struct block_sums *sums, int64_t row, const float *x);

/* Whether sums over runs of `len` elements of input 0 are those of runtime/embed/row_sum_f32.h. */
bool adds_by_rows(const struct simulation *sim, const struct node *node, int64_t len);

/* The numbers of an operand; those that are stored as less than f32 are f32 numbers all. In bulk.
 */
float *floats_of(struct bulk *bulk, const struct tensor *tensor);

#endif
