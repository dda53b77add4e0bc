/* onnx_row.h - a model of one ONNX node, written as a row: what it is given, what it must give or
 * how it is refused. The results are the interpreter's. */
#ifndef TESTS_SUPPORT_ONNX_ROW_H
#define TESTS_SUPPORT_ONNX_ROW_H

#include "frontend/onnx/import.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/op_case.h"

enum { ONNX_ROW_OPERANDS = 12 };

/* One node. Inputs are written as in op_case.h, "_" for none; a '=' in front makes an initialiser
 * of one. With an error, `want` is a part of the message. */
struct onnx_row {
    int opset;
    const char *op, *attrs, *inputs, *want;
    enum diag_code error;
};

struct onnx_row_case {
    struct ctx *ctx;
    struct bulk bulk;
    struct onnx_builder *builder;            /* what may be added to before the import */
    struct tensor inputs[ONNX_ROW_OPERANDS]; /* those that are no initialisers */
    int n_inputs;
    struct tensor wanted[ONNX_ROW_OPERANDS];
    int n_wanted;
};

/* The model, ready to be imported; to be freed with onnx_row_free, with its module or NULL. */
struct onnx_row_case onnx_row_new(const struct onnx_row *row);
void onnx_row_free(struct onnx_row_case *f, struct module *module);

/* NULL where it is refused. */
struct module *onnx_row_import(struct onnx_row_case *f);

/* Runs the module and compares with what the row wants. */
void onnx_row_check(const struct onnx_row *row, struct onnx_row_case *f, struct module *module);

/* All of it: the node is converted and gives what is wanted, or is refused as the row says. */
void onnx_row_test(const struct onnx_row *row);

#endif
