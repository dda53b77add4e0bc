/* f32_sums.h - sums in f32, in the order in which generated C adds (templates/kernels): the same
 * numbers to the last bit wherever a product and a sum are rounded one by one. */
#ifndef RELAY_IR_OPS_F32_SUMS_H
#define RELAY_IR_OPS_F32_SUMS_H

#include "relay_ir/ir.h"

/* Evaluates convolutions, dense, matmul and average pools whose result is f32. False when the
 * node is something else: then its own evaluator is right, or there is no such order. */
bool evaluate_f32_sums(const struct node *node, const struct tensor *const *inputs,
                       struct tensor *outputs);

#endif
