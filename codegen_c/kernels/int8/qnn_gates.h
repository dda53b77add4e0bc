/* qnn_gates.h - recurrent layers in integers: tables, and the activation functions that read them. */
#ifndef CODEGEN_C_KERNELS_INT8_QNN_GATES_H
#define CODEGEN_C_KERNELS_INT8_QNN_GATES_H

#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/qnn_recurrent.h"

/* The C name of these numbers as a constant array, "output_suffix". */
const char *bind_qnn_numbers(struct bind *bind, const char *suffix, const int32_t *numbers,
                             int64_t n);

/* Sets `key` to the array if it is there and not all 0. */
bool bind_qnn_optional(struct bind *bind, const char *key, const int32_t *numbers, int64_t n);

/* Sets `tables` to the declarations of the activation functions' tables. */
void bind_qnn_tables(struct bind *bind, const struct qnn_recurrent *of);

/* Sets `key` to the call of activation function i with the 64-bit sum `v`, clipped before. */
void bind_qnn_gate(struct bind *bind, const char *key, const struct qnn_recurrent *of, int i,
                   const char *v);

#endif
