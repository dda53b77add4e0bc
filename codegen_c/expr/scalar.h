/* scalar.h - element-wise operators as C text: scalar_ops.def, and the few whose text depends on
 * their attributes. */
#ifndef CODEGEN_C_EXPR_SCALAR_H
#define CODEGEN_C_EXPR_SCALAR_H

#include "codegen_c/core/kernel.h"

/* The text for a node, with the placeholders of scalar_ops.def; NULL if there is none for its
 * element type. *needs: its headers and helpers. */
const char *scalar_text(struct arena *arena, const struct node *node, const char **needs);

/* Small floats to and from f32: the call of a helper of codec.h, whose name is *needs. NULL when
 * there is none. */
const char *scalar_decoded(struct arena *arena, const struct type *from, const char *operand,
                           const char **needs);
const char *scalar_encoded(struct arena *arena, const struct type *to, const char *operand,
                           bool saturate, const char **needs);

/* $a to $c, and behind them $A and $B: what a node's tables give (scalar_qnn.h). */
enum { SCALAR_OPERANDS = 5 };

/* How often a placeholder is in a text. */
int scalar_count(const char *text, char letter);

/* Asks for them. */
void scalar_needs(struct bind *bind, const struct node *node, const char *needs);

/* *needs without one of them. */
const char *scalar_needs_without(struct arena *arena, const char *needs, const char *name);

/* Fills in the placeholders; operands as C expressions that need no parentheses. */
const char *scalar_expand(struct bind *bind, const struct node *node, const char *text,
                          const char *const *operands);

/* Whether every element-wise node of a region can be written, and every value stored. Otherwise
 * *why says what cannot. */
bool scalar_accepts(struct arena *arena, const struct region *region, const char **why);

#endif
