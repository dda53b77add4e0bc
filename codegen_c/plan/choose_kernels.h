/* choose_kernels.h - which kernel each region gets. */
#ifndef CODEGEN_C_PLAN_CHOOSE_KERNELS_H
#define CODEGEN_C_PLAN_CHOOSE_KERNELS_H

#include <stdbool.h>

struct codegen;

/* The kernel of each region, and what depends on it alone; false after errors. */
bool choose_kernels(struct codegen *codegen);

#endif
