/* nc_block.h - NC blocks: the output channels that a convolution computes before it moves on, so
 * that their weights stay in a cache; and the prefetch of the next block. Figures:
 * docs/lab/kernels.md, "Packed weights and cache blocks". */
#ifndef CODEGEN_C_MICROKERNEL_NC_BLOCK_H
#define CODEGEN_C_MICROKERNEL_NC_BLOCK_H

#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/tile.h"

/* Bytes of weights that stay near: half of the L2, or a default if the CPU row has none. */
int64_t conv_near_bytes(const struct machine *machine);

/* Output channels, in whole panels, whose weights fit in `bytes`; at least one panel. */
int64_t conv_channels_within(int64_t bytes, const struct panels *panels);

/* All output channels if their weights fit in half of the L2, otherwise those that fit in 1 / part
 * of that half. */
int64_t conv_cached_nc(const struct machine *machine, const struct panels *panels, int part);

/* The NC block of the kernel `conv`. Other layers' weights are in the L2 before this one's, so that
 * even weights that would fit come from the L3. If that is slow, tiles wait for weights much longer
 * than they compute. With small blocks only the tiles of the first block wait; but every block
 * reads all of x, which has to stay cached, or gathers it again (`gathers`). */
int64_t conv_usual_nc(const struct machine *machine, const struct window *window,
                      const struct panels *panels, bool gathers);

/* Chooses the NC block (KNOB_NC; default `usual`) and sets `nc_blocks`, `nc`, `first_block`
 * and `last_block`. Returns the channels of a block: out_c if there is no loop over blocks. */
int64_t bind_nc_block(struct bind *bind, const struct window *window, const struct panels *panels,
                      int64_t usual);

/* Whether the next NC block is prefetched while one is in use. */
bool conv_fetches_weights(const struct machine *machine, const struct panels *panels, int64_t nc);

/* Floats of the next NC block to prefetch per tile, tap and input, so that it is in the cache just
 * when `positions` pixels are done. Earlier would hold up loads from the L2. */
int64_t conv_fetch(const struct panels *panels, int64_t nc, const struct tile *tile,
                   int64_t positions);

#endif
