/* epilogue.h - what the files epilogue*.c have in common; kernels see bind_epilogue,
 * bind_row_epilogue and epilogue_lanes (kernel.h). */
#ifndef CODEGEN_C_EXPR_EPILOGUE_H
#define CODEGEN_C_EXPR_EPILOGUE_H

#include "base/map.h"
#include "base/str.h"
#include "codegen_c/core/kernel.h"
#include "codegen_c/core/operand.h"
#include "codegen_c/expr/scalar.h"
#include "codegen_c/expr/scalar_qnn.h"

enum { EPILOGUE_LEAST_LANES = 8 }; /* of integers, on x86 */

/* The statements while they are written. */
struct epilogue {
    struct bind *bind;
    const struct position *position;
    const struct epilogue_row *row; /* NULL: elements are read, and written, one by one */
    struct str of_channels;         /* what stands before a loop over positions */
    struct str text, before;        /* … what stands before the loop over a row, … */
    const struct node *last; /* … the node of the result, which may be encoded behind it, … */
    const char *needs;       /* … and its helpers */
    int n_variables;
    struct map expressions; /* name of a value computed so far -> its C expression */
};

struct epilogue epilogue_begin(struct bind *bind, const struct position *position);

/* Whether the node is one of those that are written: neither the anchor nor before it. */
bool epilogue_has(const struct region *region, const struct node *node);

/* Writes all of them; `acc` is the anchor's result. False after an error. */
bool epilogue_add_nodes(struct epilogue *e, const char *acc);

/* The expression of the region's result, once they are written. */
const char *epilogue_result(struct epilogue *e);

/* --- epilogue_operand.c ------------------------------------------------------------------------
 */

/* The vector axis of an operand that has one for each channel, else -1. */
int epilogue_axis(const struct node *node, int input);

/* The index of an operand's element beside the result at this position (operand_index). `axis` >=
 * 0: the operand is a vector along this axis. */
const char *epilogue_index(struct epilogue *e, const struct value *value, int axis,
                           const struct position *at);

/* The number that a constant is everywhere, as a literal; else NULL. */
const char *epilogue_literal(struct bind *bind, const struct value *value);

/* What a node reads: a value computed before, a number, or an element. */
const char *epilogue_operand(struct epilogue *e, const struct node *node, int input);

/* $A and $B of its text (scalar_qnn.h): multipliers and shifts of this channel; the tables of
 * others.
 */
void epilogue_tables(struct epilogue *e, const struct node *node, const char *operands[QNN_TABLES]);

/* --- epilogue_rows.c ---------------------------------------------------------------------------
 */

/* The text of a node that decodes an operand which lies in rows, as the result does: without its
 * decoder, which is left out of *needs, and with the number as *operand; the row is decoded before
 * the loop. Other texts are returned as they are. */
const char *epilogue_decode_row(struct epilogue *e, const struct node *node, const char *text,
                                const char **operand, const char **needs);

#endif
