/* op_case.h - one application of an operator as a row of a table, for the tests of relay_ir/ops. */
#ifndef TESTS_SUPPORT_OP_CASE_H
#define TESTS_SUPPORT_OP_CASE_H

#include "relay_ir/ir.h"

enum { OP_CASE_TENSORS = 32 }; /* inputs of an operator, or outputs */

/* Tensors are written "f32[2,3] 1 2 3 4 5 6", "bool[] 1"; several are separated by ';', and "_" is
 * an absent input. Too few numbers start again from the first: "f32[4] 0" is four zeros. */
struct op_case {
    const char *op;    /* "nn.relu" */
    const char *attrs; /* as in IR text, "" = none */
    const char *inputs;
    const char *want;  /* the outputs; with an error: as many ';' as there are, or "" for one */
    const char *error; /* part of the message, or NULL */
};

/* Infers and evaluates, and compares by ck_assert: integers and special values exactly, f32 and
 * f64 up to a few units in the last place of the text's number, f16 and bf16 exactly. */
void op_case_check(const struct op_case *row);

/* For properties: the output of an operator, or all of them. It must work. In `bulk`. */
struct tensor op_apply(struct ctx *ctx, struct bulk *bulk, const char *op, const char *attrs,
                       int n_inputs, const struct tensor *inputs);
void op_apply_all(struct ctx *ctx, struct bulk *bulk, const char *op, const char *attrs,
                  int n_inputs, const struct tensor *inputs, int n_outputs, struct tensor *outputs);
struct tensor tensor_from_text(struct bulk *bulk, const char *text);

/* All of a text; absent ones get a NULL payload. How many there were. */
int tensors_from_text(struct bulk *bulk, const char *text, struct tensor *tensors);

/* How many rows a table has, for loop tests. */
#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

#endif
