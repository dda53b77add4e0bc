/* gather.h - index tensors of gather and scatter operators. */
#ifndef RELAY_IR_OPS_GATHER_H
#define RELAY_IR_OPS_GATHER_H

#include "relay_ir/ir.h"

/* Element `at` of the indices, made non-negative, in *index. An error outside -extent .. extent -
 * 1. */
bool index_at(struct ctx *ctx, const struct node *node, const struct tensor *indices, int64_t at,
              int64_t extent, int64_t *index);

/* Element offset in x of index tuple `tuple` (last dim of indices), whose first entry indexes dim
 * first_axis. An error if an index is out of range. */
bool tuple_offset(struct ctx *ctx, const struct node *node, const struct tensor *indices,
                  int64_t tuple, const struct type *x, int first_axis, const int64_t *x_step,
                  int64_t *offset);

#endif
