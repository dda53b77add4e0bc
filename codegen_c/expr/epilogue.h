/* epilogue.h - shared by the files epilogue*.c. Kernels see bind_epilogue, bind_row_epilogue and
 * epilogue_lanes (kernel.h). */
#ifndef CODEGEN_C_EXPR_EPILOGUE_H
#define CODEGEN_C_EXPR_EPILOGUE_H

#include "base/map.h"
#include "base/str.h"
#include "codegen_c/core/kernel.h"
#include "codegen_c/core/operand.h"
#include "codegen_c/expr/scalar.h"
#include "codegen_c/expr/scalar_qnn.h"

enum { EPILOGUE_LEAST_LANES = 8 }; /* fewest lanes worth a vector text of integers */

/* The epilogue's statements under construction. */
struct epilogue {
    struct bind *bind;
    const struct position *position;
    const struct epilogue_row *row; /* NULL: elements are read and written one by one */
    struct str of_channels;         /* declarations for a loop over positions */
    struct str text, before;        /* the statements; those before the loop over a row */
    const struct node *last; /* the node of the result, which may be quantised after the loop, … */
    const char *needs;       /* … and its helpers */
    int n_variables;
    struct map expressions; /* name of a computed value -> its C expression */
};

struct epilogue epilogue_begin(struct bind *bind, const struct position *position);

/* Whether the node is part of the epilogue: neither the anchor nor before it. */
bool epilogue_has(const struct region *region, const struct node *node);

/* Writes all nodes; `acc` is the anchor's result. False after an error. */
bool epilogue_add_nodes(struct epilogue *e, const char *acc);

/* The C expression of the region's result, after epilogue_add_nodes. */
const char *epilogue_result(struct epilogue *e);

/* Sets `epilogue` and `result`. */
void bind_epilogue_text(struct epilogue *e, const char *result);

/* --- epilogue_operand.c ----------------------------------------------------------------------- */

/* The axis of an operand that has one element for each channel, else -1. */
int epilogue_axis(const struct node *node, int input);

/* The index of an operand's element that meets the result at this position (operand_index). axis >=
 * 0: the operand is a vector along this axis. */
const char *epilogue_index(struct epilogue *e, const struct value *value, int axis,
                           const struct position *at);

/* The scale or zero point of a quantize or dequantize as a number of the training; other operands
 * as the literal. */
const char *qnn_number(struct bind *bind, const struct node *node, int input, const char *literal);

/* The literal of a constant whose elements are all equal; else NULL. */
const char *epilogue_literal(struct bind *bind, const struct value *value);

/* The C expression of a node's input: a value computed before, a literal, or an array element. */
const char *epilogue_operand(struct epilogue *e, const struct node *node, int input);

/* $A and $B of a node's text (scalar_qnn.h): multipliers and shifts of this channel, or the tables
 * of other operators. */
void epilogue_tables(struct epilogue *e, const struct node *node, const char *operands[QNN_TABLES]);

/* --- epilogue_rows.c -------------------------------------------------------------------------- */

/* For a node that dequantises an operand lying in rows as the result does: its text without the
 * dequantising call (left out of *needs) and with the float as *operand; the row is dequantised
 * before the loop. Returns other texts unchanged. */
const char *epilogue_decode_row(struct epilogue *e, const struct node *node, const char *text,
                                const char **operand, const char **needs);

#endif
