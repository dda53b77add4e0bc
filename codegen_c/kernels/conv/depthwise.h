/* depthwise.h - what the kernels of depthwise convolutions take. */
#ifndef CODEGEN_C_KERNELS_CONV_DEPTHWISE_H
#define CODEGEN_C_KERNELS_CONV_DEPTHWISE_H

#include "codegen_c/core/kernel.h"

/* Channels last, as many groups as channels. */
bool accepts_depthwise(const struct region *region, const char **why);

#endif
