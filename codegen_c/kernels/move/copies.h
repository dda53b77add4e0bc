/* copies.h - copies with regular strides, of which transpose, slice, concatenate and their kin
 * consist: y[y_at + i . y_step] = x[x_at + i . x_step] for all i of a box. Strides are in
 * elements. */
#ifndef CODEGEN_C_KERNELS_MOVE_COPIES_H
#define CODEGEN_C_KERNELS_MOVE_COPIES_H

#include "codegen_c/core/kernel.h"

enum { COPY_RANK = 2 * MAX_RANK };

struct copy {
    const char *x, *y;     /* C names */
    const char *get, *got; /* text around an element of x, see bind_reads; NULL = none */
    int n;                 /* dims, outermost loop first */
    int64_t extent[COPY_RANK], x_step[COPY_RANK], y_step[COPY_RANK];
    int64_t x_at, y_at;
};

void copy_add_dim(struct copy *copy, int64_t extent, int64_t x_step, int64_t y_step);

/* Sets the copy's x, get and got for input i of the anchor. */
void copy_from(struct bind *bind, struct copy *copy, int i);

/* Sets `copies`, the text of n copies, and `unused` for parameters that none of them reads or
 * writes (empty copies). */
void bind_copies(struct bind *bind, struct copy *copies, int n);

/* Row-major strides of a shape, in elements. */
void row_major_steps(const struct type *type, int64_t *steps);

#endif
