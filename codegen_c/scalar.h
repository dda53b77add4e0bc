/* scalar.h - element-wise operators as C text: scalar_ops.def, and the few whose text depends on
 * their attributes. */
#ifndef CODEGEN_C_SCALAR_H
#define CODEGEN_C_SCALAR_H

#include "codegen_c/kernel.h"

/* The text for a node, with the placeholders of scalar_ops.def; NULL if there is none for its
 * element type. *needs: its headers and helpers. */
const char *scalar_text(struct arena *arena, const struct node *node, const char **needs);

/* FP8 numbers from and to f32: calls of the helpers f8_to_f32 and f32_to_f8. */
const char *scalar_from_f8(struct arena *arena, enum dtype from, const char *operand);
const char *scalar_to_f8(struct arena *arena, enum dtype to, const char *operand, bool saturate);

/* $a to $c, and behind them $A and $B: what a node's tables give (scalar_qnn.h). */
enum { SCALAR_OPERANDS = 5 };

/* Fills in the placeholders; operands as C expressions that need no parentheses. */
const char *scalar_expand(struct bind *bind, const struct node *node, const char *text,
                          const char *const *operands);

/* Whether every element-wise node of a region can be written, and every value stored. Otherwise
 * *why says what cannot. */
bool scalar_accepts(struct arena *arena, const struct region *region, const char **why);

#endif
