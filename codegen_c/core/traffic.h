/* traffic.h - bytes that a region moves between memory and the processor, by which pools are
 * filled.
 *
 * A convolution or matrix product computes tiles of `columns` pixels (rows) by some channels: it
 * loads each input element once for each tile of channels, and each weight once for each tile of
 * pixels. All other regions load what they read once. What a tile is, is the machine's
 * (machines.def; 4 x 4 for machines without one). This is a model of loads, not of caches. */
#ifndef CODEGEN_C_CORE_TRAFFIC_H
#define CODEGEN_C_CORE_TRAFFIC_H

#include "codegen_c/core/kernel.h"

/* Bytes that the region loads of its parameter i. */
uint64_t traffic_of_param(const struct region *region, int i);

/* Bytes that it loads of a constant array of this type and size. */
uint64_t traffic_of_constant(const struct region *region, const struct type *type, size_t bytes);

#endif
