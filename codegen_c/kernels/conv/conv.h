/* conv.h - which convolutions the scalar kernels take, for others that take some of these. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_H
#define CODEGEN_C_KERNELS_CONV_CONV_H

#include "codegen_c/core/kernel.h"

/* Channels first, weights of any kind. */
bool takes_conv(const struct region *region, const char **why);
bool accepts_conv_transpose(const struct region *region, const char **why);

#endif
