/* check.h - checks of inputs and attributes for type inference. A failed check reports against the
 * node and returns false. */
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
    KINDS_PLAIN = KINDS_NUMBER | KINDS_BOOL, /* all types with arithmetic */
    KINDS_ANY = KINDS_PLAIN | 1 << KIND_MINIFLOAT | 1 << KIND_NIBBLE,
    KINDS_STORED = KINDS_ANY | 1 << KIND_EXPONENT /* all that moves */
};

/* Type of an input that is present. */
const struct type *input_type(const struct node *node, int input);

/* Sets dtype and shape of an output. Its calibration stays if the dtype does. AFP gets the codec of
 * the first AFP input. Scales and zero points: ops/scales.h. */
void set_output(struct node *node, int output, enum dtype dtype, const struct type *shape);

bool check_kinds(struct ctx *ctx, const struct node *node, int input, unsigned kinds);
bool check_index_type(struct ctx *ctx, const struct node *node, int input);    /* i32 or i64 */
bool check_same_dtype(struct ctx *ctx, const struct node *node, int a, int b); /* AFP: codec too */

/* Element types of inputs 0 and 1 of a convolution or matrix product. Allowed: one type of these
 * kinds for both; FP8 and other narrow floats, of one or two formats; f32 data with weights stored
 * as a narrow float, f16, bf16, i8 or i4. The latter two need an out_dtype. *y is the result's
 * type; an out_dtype equal to the default is cleared. */
bool check_product_types(struct ctx *ctx, const struct node *node, unsigned kinds,
                         enum dtype *out_dtype, enum dtype *y);

/* Rank of the input in least .. most. */
bool check_rank(struct ctx *ctx, const struct node *node, int input, int least, int most);

/* Rank of a result: at most MAX_RANK. */
bool check_result_rank(struct ctx *ctx, const struct node *node, int64_t rank);

/* Makes an axis of `type` non-negative in place; an error if it is out of range. */
bool check_axis(struct ctx *ctx, const struct node *node, const struct type *type, int64_t *axis);

/* check_axis for a list of axes of a shape of this rank; duplicates are an error. */
bool check_axes(struct ctx *ctx, const struct node *node, int rank, struct ints *axes);

/* Checks that the attribute has one entry per dimension of the input. */
bool check_per_dim(struct ctx *ctx, const struct node *node, const struct type *type,
                   const char *what, const struct ints *ints);

/* Checks that the attribute is one of `allowed`; "" becomes the first. */
bool check_word(struct ctx *ctx, const struct node *node, const char *what, const char **word,
                const char *const *allowed, int n_allowed);

#endif
