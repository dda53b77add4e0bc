/* lead.h - overlap: results that overwrite input that has been read.
 *
 * A kernel that computes its result in memory order is done with the beginning of its input before
 * it reads the end. So y may lie over x if it begins `lead` bytes or more in front of it; no byte
 * is then written that is still to be read:
 *
 *     y ----------------
 *     |lead| x --------------------
 *
 * Such a kernel has the record field `leads`: a function that gives the distance for a region
 * (struct lead). The order of the kernel's loops is the proof and belongs in its comment.
 * tests/test_leads runs every such kernel with exactly this distance. */
#ifndef CODEGEN_C_CORE_LEAD_H
#define CODEGEN_C_CORE_LEAD_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* As a group: the pixels of one row of y. */
enum { GROUP_OF_ROW = 0 };

/* The overlap distance of kernels that compute pixels in row-major order, all channels, at most
 * `group` pixels at a time, reading only the windows of these pixels and later ones meanwhile.
 * Channels last, one image. */
size_t lead_of_windows(const struct region *region, const struct window *window, int64_t group);

/* Fields of records (codegen_c/core/kernel.h). */
bool leads_conv(const struct region *region, struct lead *lead);
bool leads_conv_amx(const struct region *region, struct lead *lead);
bool leads_conv_bf16(const struct region *region, struct lead *lead);
bool leads_conv_decoded(const struct region *region, struct lead *lead);
bool leads_conv_pairs(const struct region *region, struct lead *lead);
bool leads_conv_small(const struct region *region, struct lead *lead);
bool leads_conv_stationary(const struct region *region, struct lead *lead);
bool leads_copy(const struct region *region, struct lead *lead);
bool leads_depthwise(const struct region *region, struct lead *lead);
bool leads_depthwise_bf16(const struct region *region, struct lead *lead);
bool leads_depthwise_winograd(const struct region *region, struct lead *lead);
bool leads_exact_conv(const struct region *region, struct lead *lead);
bool leads_pool(const struct region *region, struct lead *lead);
bool leads_pool_tiles(const struct region *region, struct lead *lead);
bool leads_qnn_conv(const struct region *region, struct lead *lead);
bool leads_qnn_conv_tiles(const struct region *region, struct lead *lead);
bool leads_qnn_depthwise(const struct region *region, struct lead *lead);
bool leads_qnn_depthwise_rows(const struct region *region, struct lead *lead);

#endif
