/* qnn.h - what the kernels of quantised convolutions share. */
#ifndef CODEGEN_C_KERNELS_INT8_QNN_H
#define CODEGEN_C_KERNELS_INT8_QNN_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* Binds everything in qnn_conv.c.tmpl that tells where things lie, and gives the place in the
 * epilogue. */
void bind_qnn_places(struct bind *bind, const struct window *window, struct position *position);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_qnn_conv(const struct region *region, const char **why);
bool accepts_qnn_matmul(const struct region *region, const char **why);

#endif
