/* gemv.h - a matrix of known weights times a vector: dense layers of one row, and the gates of
 * recurrent networks.
 *
 * Such products wait for memory, so the weights stand in panels of outputs (panels.h, ragged) in
 * the order in which they are read, and eight vectors of outputs are summed up side by side. There
 * is one sum per output, over the inputs in order: the same bits whatever the vectors' length. */
#ifndef CODEGEN_C_MICROKERNEL_GEMV_H
#define CODEGEN_C_MICROKERNEL_GEMV_H

#include "codegen_c/expr/panels.h"

/* Outputs of a panel: those that are summed up side by side, so that the weights of all are read in
 * one go; 32 where that is less or the vectors' length is not known. */
int gemv_panel(const struct machine *machine);

/* Asks for the helper of templates/helpers/gemv_f32.c.tmpl, whose loop takes so many inputs in a
 * round: the name of its function. */
const char *gemv_function(struct bind *bind, int64_t unroll);

/* The same template's function of some of the inputs only: of those whose places, of which there
 * are n, stand in an array of uint16_t; and the function that writes such an array, of inputs that
 * are not 0: templates/helpers/nonzero_f32.c.tmpl. */
const char *gemv_nonzero_function(struct bind *bind, int64_t unroll);
const char *gemv_places_function(struct bind *bind);

/* How many that are to be: a knob of the region. */
int64_t gemv_unroll(struct bind *bind);

/* The function that reads weights of f16, as halves.h stores them, in panels of codes as those of
 * numbers are. */
const char *gemv_halves_function(struct bind *bind, const struct value *weight);

/* The function y = matrix * x, for all of y: templates/helpers/matvec_f32.c.tmpl. One that takes
 * turns is told whether to begin with the last rows. */
const char *gemv_matvec(struct bind *bind, bool turns);

/* What all stand on: templates/helpers/gemv.c.tmpl; the keys of its panels, for weights that
 * take so many elements of their array each; and "s += x * w" in parts: add, s, times, x, by, w,
 * added. */
void gemv_panel_helper(struct bind *bind);
void gemv_set_panel(struct bind *bind, struct keys *keys, int units);
void gemv_set_sum(struct bind *bind, struct keys *keys);

/* `groups` matrices [n_rows, len] of a constant in panels of `width`. */
struct panels gemv_panels(int64_t groups, int64_t n_rows, int64_t len, int width);

/* --- weights that are codes (gemv_codes.c) ------------------------------------------------------
 */

/* Whether the codes of a constant can lie in words, from which shifts make floats: 4, 8 or 16 bits
 * each (not f16), numbers all of them. */
bool gemv_takes_words(const struct value *weight);

/* The constant as such words in panels, and the function that reads them: sets the keys `weight`,
 * tw and gemv. */
void gemv_bind_words(struct bind *bind, const struct value *weight, const struct panels *panels);

#endif
