/* norm.h - what the kernels of norms of floats and of codes share. */
#ifndef CODEGEN_C_KERNELS_NORM_NORM_H
#define CODEGEN_C_KERNELS_NORM_NORM_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/qnn.h"

/* Binds x, its batch, channels and plane (with the channels last: positions, channels, 1), and the
 * size of the window of channels, of nn.lrn and qnn.lrn. */
void bind_lrn_places(struct bind *bind);

/* Binds what makes powers of sums of squares, and their tables. */
void bind_lrn_powers(struct bind *bind, const struct qnn_lrn_powers *lrn);

/* Of qnn.group_norm and qnn.instance_norm of any codes: binds batch, groups, group_c, plane, group,
 * and what is behind the number `v` of channel c. */
bool bind_norm_groups(struct bind *bind);

#endif
