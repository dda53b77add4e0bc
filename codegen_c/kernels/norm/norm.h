/* norm.h - shared by the normalisations of floats and of quantised values. */
#ifndef CODEGEN_C_KERNELS_NORM_NORM_H
#define CODEGEN_C_KERNELS_NORM_NORM_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/qnn.h"

/* A number of the template, in the element type of input 0. */
void bind_number(struct bind *bind, const char *key, double number);

/* Binds how mean and spread of runs of `len` elements are computed: `by_rows`. */
void bind_row_statistics(struct bind *bind, int64_t len);

/* For nn.lrn and qnn.lrn: binds x, its batch, channels and plane (channels last: pixels, channels,
 * 1) and the size of the window of channels. */
void bind_lrn_places(struct bind *bind);

/* Binds the powers of sums of squares, and their tables. */
void bind_lrn_powers(struct bind *bind, const struct qnn_lrn_powers *lrn);

/* For qnn.group_norm and qnn.instance_norm of any quantised type: binds batch, groups, group_c,
 * plane, group, and the epilogue of the value `v` of channel c. */
bool bind_norm_groups(struct bind *bind);

#endif
