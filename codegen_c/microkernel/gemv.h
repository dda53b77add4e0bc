/* gemv.h - constant matrix times vector: dense layers of one row, gates of recurrent networks.
 *
 * Such products are bound by memory. So weights are packed in ragged panels of outputs (panels.h),
 * in the order in which they are read, and a panel's outputs are summed side by side. Each output
 * has one sum over the inputs in order: the same bits for every vector length. */
#ifndef CODEGEN_C_MICROKERNEL_GEMV_H
#define CODEGEN_C_MICROKERNEL_GEMV_H

#include "codegen_c/expr/panels.h"

/* Panel width in outputs: eight vectors, so that a panel's weights are one sequential stream; 32 if
 * that is less or the vector length is unknown. */
int gemv_panel(const struct machine *machine);

/* Requests templates/helpers/gemv_f32.c.tmpl, unrolled by `unroll` inputs; returns its function's
 * name. */
const char *gemv_function(struct bind *bind, int64_t unroll);

/* The same for sparse inputs: its function reads only the inputs listed in an array of n uint16_t
 * indices. gemv_places_function returns the function that lists the non-zero inputs
 * (templates/helpers/nonzero_f32.c.tmpl). */
const char *gemv_nonzero_function(struct bind *bind, int64_t unroll);
const char *gemv_places_function(struct bind *bind);

/* The unroll factor: a knob of the region. */
int64_t gemv_unroll(struct bind *bind);

/* The function for f16 weights, stored as halves.h says, in panels like those of f32. */
const char *gemv_halves_function(struct bind *bind, const struct value *weight);

/* The function y = matrix * x for the whole of y: templates/helpers/matvec_f32.c.tmpl. `turns`:
 * alternating direction; an argument says whether to begin with the last rows. */
const char *gemv_matvec(struct bind *bind, bool turns);

/* Shared by all of the above. gemv_panel_helper requests templates/helpers/gemv.c.tmpl.
 * gemv_set_panel sets the keys of a panel; `units`: array elements per weight. gemv_set_sum sets
 * the pieces of "s += x * w": add, s, times, x, by, w, added. */
void gemv_panel_helper(struct bind *bind);
void gemv_set_panel(struct bind *bind, struct keys *keys, int units);
void gemv_set_sum(struct bind *bind, struct keys *keys);

/* Panels of `width` outputs for `groups` matrices [n_rows, len] of a constant. */
struct panels gemv_panels(int64_t groups, int64_t n_rows, int64_t len, int width);

/* --- quantised weights (gemv_quantized.c) --------------------------------------------------------- */

/* Whether a constant's quantised values can be packed in 32-bit words from which shifts and masks
 * make floats: 4, 8 or 16 bits each (not f16), all of them finite. */
bool gemv_takes_words(const struct value *weight);

/* Packs the constant so, in panels, and requests the function that reads them. Sets the keys
 * `weight`, `tw` and `gemv`. */
void gemv_bind_words(struct bind *bind, const struct value *weight, const struct panels *panels);

#endif
