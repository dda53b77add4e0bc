/* pool.h - shared by the kernels of pools. */
#ifndef CODEGEN_C_KERNELS_POOL_POOL_H
#define CODEGEN_C_KERNELS_POOL_POOL_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"

/* Binds the keys of a pool whose loops run over planes, images times channels. */
struct window bind_pool_window(struct bind *bind);

/* Binds the epilogue of each result `acc`, a variable, at plane `plane` and position (`oh`,
 * `ow`). */
bool bind_pool_epilogue(struct bind *bind, const struct window *w, const char *acc);

/* Requests the function (in, n, step) that returns the lane-wise maximum of n vectors `step` floats
 * apart, NaN if any is NaN; returns its name. */
const char *bind_greatest_rows(struct bind *bind, const struct row_vector *vector);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_max_pool(const struct region *region, const char **why);

#endif
