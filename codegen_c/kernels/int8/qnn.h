/* qnn.h - shared by the kernels of quantised convolutions. */
#ifndef CODEGEN_C_KERNELS_INT8_QNN_H
#define CODEGEN_C_KERNELS_INT8_QNN_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* Binds all indices of qnn_conv.c.tmpl and sets the position of the epilogue. */
void bind_qnn_places(struct bind *bind, const struct window *window, struct position *position);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_qnn_conv(const struct region *region, const char **why);
bool accepts_qnn_matmul(const struct region *region, const char **why);

#endif
