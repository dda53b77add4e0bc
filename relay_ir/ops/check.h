/* check.h - what type inference asks of inputs and attributes again and again. Every check reports
 * against the node and returns false when it fails. */
#ifndef RELAY_IR_OPS_CHECK_H
#define RELAY_IR_OPS_CHECK_H

#include "relay_ir/ir.h"

/* Sets of element type kinds. */
enum {
    KINDS_FLOAT = 1 << KIND_FLOAT,
    KINDS_INT = 1 << KIND_INT, /* signed */
    KINDS_INTEGER = 1 << KIND_INT | 1 << KIND_UINT,
    KINDS_BOOL = 1 << KIND_BOOL,
    KINDS_SIGNED = KINDS_FLOAT | KINDS_INT,
    KINDS_NUMBER = KINDS_FLOAT | KINDS_INTEGER,
    KINDS_PLAIN = KINDS_NUMBER | KINDS_BOOL, /* everything that can be calculated with */
    KINDS_ANY = KINDS_PLAIN | 1 << KIND_MINIFLOAT | 1 << KIND_NIBBLE
};

/* The type of an input that is there. */
const struct type *input_type(const struct node *node, int input);

/* What was measured of the output stays, while its element type does. AFP has the codec of the
 * first input that is AFP. What codes mean: ops/scales.h. */
void set_output(struct node *node, int output, enum dtype dtype, const struct type *shape);

bool check_kinds(struct ctx *ctx, const struct node *node, int input, unsigned kinds);
bool check_index_type(struct ctx *ctx, const struct node *node, int input);    /* i32 or i64 */
bool check_same_dtype(struct ctx *ctx, const struct node *node, int a, int b); /* AFP: codec too */

/* Of inputs 0 and 1 of a convolution or matrix product: one type of these kinds for both; or FP8
 * and other small floats (of one format or two); or f32, and weights that are stored as something
 * smaller: small floats, f16, bf16, i8, i4. The latter two need an out_dtype. *y is the type of the
 * result; an out_dtype that says nothing new becomes absent. */
bool check_product_types(struct ctx *ctx, const struct node *node, unsigned kinds,
                         enum dtype *out_dtype, enum dtype *y);

/* Rank in least..most. */
bool check_rank(struct ctx *ctx, const struct node *node, int input, int least, int most);

/* The rank of a result, which is MAX_RANK at most. */
bool check_result_rank(struct ctx *ctx, const struct node *node, int64_t rank);

/* Makes an axis of the input non-negative in place, or reports that it is out of range. */
bool check_axis(struct ctx *ctx, const struct node *node, const struct type *type, int64_t *axis);

/* The same for a list of axes of a shape of rank `rank`, and none may come twice. */
bool check_axes(struct ctx *ctx, const struct node *node, int rank, struct ints *axes);

/* An attribute with one entry per dimension of the input. */
bool check_per_dim(struct ctx *ctx, const struct node *node, const struct type *type,
                   const char *what, const struct ints *ints);

/* An attribute that is one of a few words; "" stands for the first. */
bool check_word(struct ctx *ctx, const struct node *node, const char *what, const char **word,
                const char *const *allowed, int n_allowed);

#endif
