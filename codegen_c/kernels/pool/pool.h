/* pool.h - what the kernels of pools share. */
#ifndef CODEGEN_C_KERNELS_POOL_POOL_H
#define CODEGEN_C_KERNELS_POOL_POOL_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"

/* The keys of a pool whose loops run over planes, images times channels. */
struct window bind_pool_window(struct bind *bind);

/* Behind each result `acc`, a variable; the loops run over `plane`, and positions `oh`, `ow`. */
bool bind_pool_epilogue(struct bind *bind, const struct window *w, const char *acc);

/* Asks for the function (in, n, step) that gives the greatest of n vectors `step` floats apart,
 * lane by lane, NaN before all numbers; its name is returned. */
const char *bind_greatest_rows(struct bind *bind, const struct row_vector *vector);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_max_pool(const struct region *region, const char **why);

#endif
