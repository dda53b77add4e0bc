/* scalar.h - element-wise operators as C text: scalar_ops.def, and the few operators whose text
 * depends on their attributes. */
#ifndef CODEGEN_C_EXPR_SCALAR_H
#define CODEGEN_C_EXPR_SCALAR_H

#include "codegen_c/core/kernel.h"

/* A node's text, with the placeholders of scalar_ops.def; NULL if there is none for its element
 * type. *needs: the headers and helpers that it uses. */
const char *scalar_text(struct arena *arena, const struct node *node, const char **needs);

/* Minifloats to and from f32: a call of a helper of codec.h, whose name becomes *needs. NULL if
 * there is none. */
const char *scalar_decoded(struct arena *arena, const struct type *from, const char *operand,
                           const char **needs);
const char *scalar_encoded(struct arena *arena, const struct type *to, const char *operand,
                           bool saturate, const char **needs);

/* $a to $c, then $A and $B: a node's tables (scalar_qnn.h). */
enum { SCALAR_OPERANDS = 5 };

/* How often a placeholder occurs in a text. */
int scalar_count(const char *text, char letter);

/* Requests these headers and helpers. */
void scalar_needs(struct bind *bind, const struct node *node, const char *needs);

/* *needs without `name`. */
const char *scalar_needs_without(struct arena *arena, const char *needs, const char *name);

/* Fills in the placeholders. Operands are C expressions that need no parentheses. */
const char *scalar_expand(struct bind *bind, const struct node *node, const char *text,
                          const char *const *operands);

/* Whether every element-wise node of a region has a text and every value can be stored. If not,
 * *why says which. */
bool scalar_accepts(struct arena *arena, const struct region *region, const char **why);

#endif
