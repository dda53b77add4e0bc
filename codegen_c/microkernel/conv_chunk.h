/* conv_chunk.h - the output channels that convolutions go through before they move on, so that
 * their weights stay in a cache, and what of the next ones is fetched meanwhile. Figures:
 * docs/lab/kernels.md, "Packed weights and cache blocks". */
#ifndef CODEGEN_C_MICROKERNEL_CONV_CHUNK_H
#define CODEGEN_C_MICROKERNEL_CONV_CHUNK_H

#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/tile.h"

/* Half of the second cache, or what is taken for it where the machine does not tell. */
int64_t conv_near_bytes(const struct machine *machine);

/* As many output channels as have their weights in so many bytes, in whole panels, at least one. */
int64_t conv_channels_within(int64_t bytes, const struct panels *panels);

/* All output channels if their weights fit into half of the second cache, else as many as have
 * theirs in a part of that half (1: all of it, 4: a quarter). */
int64_t conv_cached_chunk(const struct machine *machine, const struct panels *panels, int part);

/* As many as `conv` takes at a time. Weights of other layers than this lie in the second cache
 * before it, so that even what would fit comes from the third. Where that is far, a tile waits for
 * it much longer than it computes: only those of the first chunk do, if chunks are small, but each
 * reads all of x, which has to stay, or gathers it anew (`gathers`). */
int64_t conv_usual_chunk(const struct machine *machine, const struct window *window,
                         const struct panels *panels, bool gathers);

/* So many output channels at a time, usually (KNOB_CHUNK): sets chunked, chunk_c, first_block and
 * last_block. Returns the channels of a chunk: out_c if there is no loop over them. */
int64_t bind_conv_chunk(struct bind *bind, const struct window *window, const struct panels *panels,
                        int64_t usual);

/* Whether the weights of the next chunk are fetched while one is in use. */
bool conv_fetches_weights(const struct machine *machine, const struct panels *panels,
                          int64_t chunk);

/* Numbers of the next chunk of so many channels that are fetched for each input and tap of a tile,
 * so that all are there when all of so many positions have gone through this one, and none sooner:
 * what waits for memory holds up loads of what lies in the second cache. */
int64_t conv_fetch(const struct panels *panels, int64_t chunk, const struct tile *tile,
                   int64_t positions);

#endif
