/* blocks.h - weights whose blocks share a scale, and perhaps a zero point (QTYPE_BLOCKS): number =
 * scale * (code - zero).
 *
 * Scales that are all powers of two are stored as E8M0, a byte n for 2^(n - 127), else as f32; zero
 * points as int8_t. All of bind_blocks_ set
 *   scales, scale_type   the array, and the type of its elements
 *   scale_note           ": 2^(n - 127)" for its comment, or nothing
 *   zeros, zero          whether there are zero points, and their array, in the same order
 *   block_len            elements that share a scale
 * and, but for taps and outputs, n_scales: so many for a row of the constant. What decodes has in
 * its text a call of scale_fn, or between scale_get and scale_got an element of the array. */
#ifndef CODEGEN_C_EXPR_BLOCKS_H
#define CODEGEN_C_EXPR_BLOCKS_H

#include "codegen_c/core/kernel.h"

struct panels;

/* Whether kernels can read weights of this type, which has blocks. As the takes_ of anchor.h. */
bool blocks_take(const struct type *type, const char **why);

/* How many positions of a panel are decoded at a time: at most 64, in one block. Also of types
 * without blocks. */
int64_t blocks_chunk(const struct type *type, const struct panels *panels);

/* For tiles of four rows: scales of four rows side by side where blocks lie along the panels, else
 * row by row, as the constant's do. Sets `along` and `across`; scale_blocks and centre_blocks. */
void bind_blocks_of_panels(struct bind *bind, const struct value *value,
                           const struct panels *panels);

/* [groups, blocks of a row, width], of panels as wide as they have rows. Sets scale_get. */
void bind_blocks_of_taps(struct bind *bind, const struct value *value, const struct panels *panels);

/* Of a matrix [n_rows, len]: [blocks of a row, n_rows]. */
void bind_blocks_of_outputs(struct bind *bind, const struct value *value, int64_t n_rows);

/* The same of the rows of a kernel, and their number, scaled_rows; scale_fn. */
void bind_blocks_of_tiles(struct bind *bind, const struct value *value);

/* The function of templates/helpers/STEM.c.tmpl, which reads scales, and if centred zero
 * points, of neighbouring rows by vectors. */
const char *blocks_function(struct bind *bind, const struct value *value, const char *stem,
                            bool centred);

/* Row by row, as the constant's do: for runs of elements (scale_row and centre_row). */
void bind_blocks_of_rows(struct bind *bind, const struct value *value);

#endif
