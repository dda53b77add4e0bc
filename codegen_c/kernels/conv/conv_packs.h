/* conv_packs.h - convolutions whose weights are computed at run time and packed into scratch
 * first. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_PACKS_H
#define CODEGEN_C_KERNELS_CONV_CONV_PACKS_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"

/* Sets the keys under `packs`, and `weight_shape`. The panels lie behind the region's other
 * scratch. */
void bind_conv_packing(struct bind *bind, const struct window *window, const struct panels *panels);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_conv_packed(const struct region *region, const char **why);

#endif
