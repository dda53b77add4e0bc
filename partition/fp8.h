/* fp8.h - what the files of annotate_fp8 and legalize share. */
#ifndef PARTITION_FP8_H
#define PARTITION_FP8_H

#include "partition/annotate_fp8.h"

/* Convolutions, dense and matmul: the operators that have an out_dtype. */
bool fp8_is_product(enum op op);
enum dtype *fp8_out_dtype(struct node *node); /* of such a node */

/* Whether a row's sums are at least as precise as the operator's meaning, f32. Sums in fewer bits
 * would give other numbers than the graph says. */
bool fp8_sums_are_wide(const struct fp8_row *row);

/* Whether the row takes data (and, unless it is DTYPE_NONE, constant weights) of these formats,
 * sums widely and gives f32. */
bool fp8_row_takes(const struct fp8_row *row, enum op op, enum dtype data, enum dtype weights);

/* --- fp8_weights.c -----------------------------------------------------------------------------
 */

/* A constant and what it became. */
struct fp8_weights {
    struct value *like; /* f32 */
    int axis;           /* of the output channels; -1 = one scale for all */
    int scales_rank;
    bool scaled;
    struct value *codes;
    struct value *scales; /* broadcasts over the result; NULL = all are 1 */
    struct fp8_weights *next;
};

/* Which axis of a product's constant second input counts the output channels (-1: none), and of how
 * many dims scales must be to multiply the result along its channels. */
int fp8_weight_axis(const struct node *node, int *scales_rank);

/* Whether every number is finite; else where the first that is not stands. */
bool fp8_weights_are_finite(const struct value *weight, int64_t *at);

/* The constant in this format, made once for all readers that want it alike. all: name of the
 * constant -> the first of what was made of it. */
struct fp8_weights *fp8_weights_get(struct map *all, struct arena *arena, struct value *weight,
                                    enum dtype format, bool scaled, int axis, int scales_rank);

/* --- fp8_cast.c --------------------------------------------------------------------------------
 */

/* The value in this format: its one cast, which stands directly behind what computes it. NULL after
 * an error. */
struct value *fp8_cast(struct value *value, enum dtype format, const struct origin *reader);

/* Moves casts to the wanted format in front of operators that only move elements or compare them,
 * where nobody reads the result otherwise. moved[node->id] becomes true for those that a cast went
 * past. False after an error. */
bool fp8_move_casts(struct partition *partition, bool *moved);

#endif
