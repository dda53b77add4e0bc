/* lead.h - results that lie over what is read.
 *
 * A kernel that computes its result in the order in which it lies in memory is done with the
 * beginning of its input before it reads the end. So the result may lie over the input, if it
 * begins far enough in front of it: `lead` bytes. Then nothing is written over that is still to be
 * read:
 *
 *     y ----------------
 *     |lead| x --------------------
 *
 * A kernel that can do so has kernel.leads: the function says of a region how many
 * bytes that takes (struct lead). The order of its loops is the proof, and belongs into its
 * comment; tests/test_leads runs every such kernel with no byte more. */
#ifndef CODEGEN_C_CORE_LEAD_H
#define CODEGEN_C_CORE_LEAD_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* As a group: the positions of a row of the result. */
enum { GROUP_OF_ROW = 0 };

/* The lead of kernels that compute positions (all channels of them; channels last, one image) in
 * row-major order, at most `group` of them at a time: while they do, they read what lies under the
 * windows of these positions and of later ones. */
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
