/* pool.h - shared by the kernels of pools. */
#ifndef CODEGEN_C_KERNELS_POOL_POOL_H
#define CODEGEN_C_KERNELS_POOL_POOL_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/vector.h"

/* --- by planes, images times channels (pool_planes.c) --- */

/* Windows of floats, or of any numbers, channels first. */
bool accepts_pool(const struct region *region, const char **why);
bool accepts_max_pool(const struct region *region, const char **why);

/* Binds the keys of a pool whose loops run over planes. */
struct window bind_pool_window(struct bind *bind);

/* For templates of both layouts: indices of the elements under the window (id, ih, iw), and of the
 * result; `deep`: with depth. Channels last, the loop over planes is innermost. */
void bind_pool_places(struct bind *bind, const struct window *w, bool deep);

/* Binds the extents including padding. Whether some window reaches beyond the padding at the end
 * (ceil_mode): those taps never count. */
bool bind_padded_extents(struct bind *bind, const struct window *w);

/* Binds the epilogue of each result `acc`, a variable, at plane `plane` and position (`oh`,
 * `ow`). */
bool bind_pool_epilogue(struct bind *bind, const struct window *w, const char *acc);

/* --- channels last (pool_last.c) --- */

enum { POOL_BLOCK = 64 /* channels at a time; on the stack */ };

bool takes_channels_last(const char *layout, const char **why);

/* Windows of floats. */
bool accepts_pool_last(const struct region *region, const char **why);

/* Each binds how values are accumulated: `sum`, `start`, `step`, `finish`. A maximum starts below
 * every value, and keeps NaN; `at`: the index of a result. An average also binds the statement that
 * counts its divisor, `count`; others bind that there is none. */
void bind_pool_maximum(struct bind *bind, const char *at);
void bind_pool_sum(struct bind *bind, const char *step, const char *finish);
void bind_pool_average(struct bind *bind, const struct window *w, const char *at);
void bind_pool_no_count(struct bind *bind);

/* Binds x, the window, batch and channels. */
void bind_pool_frame(struct bind *bind, const struct window *w);

/* The row (n, PREFIXd, PREFIXh) in C, for the dims in use: "((n * IN_D + id) * IN_H + ih)" of the
 * extent "IN" and the prefix "i". */
const char *pool_row_text(struct bind *bind, const struct window *w, const char *extent,
                          const char *prefix);

/* Binds `at`, channel `c` of the pixel (n, od, oh, ow) of y; gives it as a position. */
void bind_pool_position(struct bind *bind, const struct window *w, struct position *position);

/* Pixel by pixel, volumes included: the record's `overlaps`. */
bool overlaps_pool(const struct region *region, struct overlap *overlap);

/* --- vectors (pool_tiles.c) --- */

/* Requests the function (in, n, step) that returns the lane-wise maximum of n vectors `step` floats
 * apart, NaN if any is NaN; returns its name. */
const char *bind_greatest_rows(struct bind *bind, const struct row_vector *vector);

#endif
