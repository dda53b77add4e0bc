/* blocks.h - weights with block scales, and perhaps zero points (QTYPE_BLOCKS): value = scale * (q
 * - zero).
 *
 * Scales that are all powers of two are stored as E8M0, a byte n for 2^(n - 127), otherwise as f32;
 * zero points as int8_t. All bind_blocks_ functions set
 *   scales, scale_type   the array of scales, and its element type
 *   scale_note           ": 2^(n - 127)" for its comment, or ""
 *   zeros, zero          whether there are zero points, and their array, in the order of the scales
 *   block_len            elements that share a scale
 *   n_scales             scales of a row of the constant (not of taps and outputs)
 * and how to read a scale: a function, scale_fn, or text around an array element, scale_get and
 * scale_got. */
#ifndef CODEGEN_C_EXPR_BLOCKS_H
#define CODEGEN_C_EXPR_BLOCKS_H

#include "codegen_c/core/kernel.h"

struct panels;

/* Whether kernels can read block-scaled weights of this type. As the takes_ of anchor.h. */
bool blocks_take(const struct type *type, const char **why);

/* Elements of a row that are dequantised at a time: at most 64, all within one block. Also for
 * types without block scales. */
int64_t blocks_kc(const struct type *type, const struct panels *panels);

/* For 4 x 4 tiles. If blocks lie along the panels' rows, scales are stored in fours, one for each
 * row of a panel; otherwise as in the constant. Sets `along` and `across`; requests scale_blocks
 * and centre_blocks. */
void bind_blocks_of_panels(struct bind *bind, const struct value *value,
                           const struct panels *panels);

/* For depthwise taps, in panels as wide as they have rows: scales [groups, blocks of a row, width].
 * Sets `scale_get`. */
void bind_blocks_of_taps(struct bind *bind, const struct value *value, const struct panels *panels);

/* For outputs of a matrix [n_rows, len]: scales [blocks of a row, n_rows]. */
void bind_blocks_of_outputs(struct bind *bind, const struct value *value, int64_t n_rows);

/* The same for the rows of a register tile kernel. Sets `scaled_rows`, their number, and
 * `scale_fn`. */
void bind_blocks_of_tiles(struct bind *bind, const struct value *value);

/* Requests templates/helpers/STEM.c.tmpl, which reads the scales (if `centred`, the zero points) of
 * neighbouring rows by vectors; returns its function. */
const char *blocks_function(struct bind *bind, const struct value *value, const char *stem,
                            bool centred);

/* For runs of elements in the constant's order. Requests scale_row and centre_row. */
void bind_blocks_of_rows(struct bind *bind, const struct value *value);

#endif
