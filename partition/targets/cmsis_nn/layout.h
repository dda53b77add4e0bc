/* layout.h - regions of cmsis_nn in the library's layout. */
#ifndef PARTITION_TARGETS_CMSIS_NN_LAYOUT_H
#define PARTITION_TARGETS_CMSIS_NN_LAYOUT_H

#include "partition/target.h"

/* Rewrites a region so that its composites take and give NHWC: each gets a transpose in front of
 * every operand of rank 4 and one behind its result, inside, where the rows' patterns have them and
 * no code is made of them; between two composites nothing is moved. At the region's border,
 * composites to_nhwc and to_nchw move the elements, or a reshape where one extent of 1 makes that
 * enough. False after errors. */
bool cmsis_nn_to_nhwc(struct ctx *ctx, struct function *region);

#endif
