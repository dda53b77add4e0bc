/* walk.h - iterates over all elements of a shape in row-major order and tracks the offsets of
 * operands with other strides (broadcast, transposed, sliced); 128-bit integers. */
#ifndef RELAY_IR_WALK_H
#define RELAY_IR_WALK_H

#include "relay_ir/ir.h"

/* NumPy broadcast of two shapes, with a's element type; out may alias a or b. False, without a
 * diagnostic, if they do not broadcast. */
bool shape_broadcast(const struct type *a, const struct type *b, struct type *out);

/* Row-major strides in elements. */
void shape_strides(const struct type *type, int64_t *strides);

/* Row-major strides of an operand that is broadcast to a shape of rank `rank`, by the dims of that
 * shape: 0 where the operand's dim is 1 or missing. */
void shape_broadcast_strides(const struct type *type, int rank, int64_t *strides);

enum { WALK_OPERANDS = 3 };

/* for (int64_t i = 0; i < n; i++, walk_next(&walk)) use(x, walk.offset[0]); */
struct walk {
    int rank, n_operands;
    int64_t dim[MAX_RANK];
    int64_t at[MAX_RANK];                  /* current coordinates */
    int64_t step[WALK_OPERANDS][MAX_RANK]; /* element steps of each operand */
    int64_t offset[WALK_OPERANDS];         /* element offset of each operand */
};

struct walk walk_begin(int rank, const int64_t *dim);
void walk_add(struct walk *walk, const int64_t *step); /* the next operand */
void walk_add_broadcast(struct walk *walk, const struct type *operand);
void walk_carry(struct walk *walk); /* carries into the next row */

/* Wraps around after the last element. */
static inline void walk_next(struct walk *walk)
{
    const int last = walk->rank - 1;

    if (last < 0 || walk->at[last] + 1 >= walk->dim[last]) {
        walk_carry(walk);
        return;
    }
    walk->at[last]++;
    for (int k = 0; k < walk->n_operands; k++)
        walk->offset[k] += walk->step[k][last];
}

/* Two walks through x: over the kept dims and, for each position, over the reduced ones. */
struct reduction {
    struct walk kept, reduced;
    int64_t n; /* elements per result */
};

struct reduction reduction_begin(const struct type *x, const struct ints *axes);

/* Strided copy of elements of `bytes` bytes: to[c . to_step] = from[c . from_step] for all
 * coordinates c. For every element type. */
void copy_steps(int rank, const int64_t *dim, size_t bytes, void *to, const int64_t *to_step,
                const void *from, const int64_t *from_step);

/* The address of an element. */
void *element_at(const struct tensor *tensor, int64_t index);

/* Holds every sum, difference, product and comparison of two elements of any integer type, u64
 * included; results wrap to the type's width only when stored. */
__extension__ typedef __int128 wide;

wide tensor_wide_at(const struct tensor *tensor, int64_t index);
void tensor_put_wide(struct tensor *tensor, int64_t index, wide value);
void tensor_put_any(struct tensor *tensor, int64_t index, double value);
static inline void tensor_put(struct tensor *tensor, int64_t index, double value)
{
    if (tensor->type.dtype == DTYPE_F32)
        ((float *)tensor->data)[index] = (float)value;
    else
        tensor_put_any(tensor, index, value);
}

/* Range of an integer type or bool. */
wide dtype_least(enum dtype dtype);
wide dtype_greatest(enum dtype dtype);

#endif
