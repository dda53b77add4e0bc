/* operands.h - the operands of convolutions and matrix products: data and weights that are the
 * numbers computed with, or stored as something smaller and decoded on the way. */
#ifndef CODEGEN_C_EXPR_OPERANDS_H
#define CODEGEN_C_EXPR_OPERANDS_H

#include "codegen_c/core/kernel.h"

/* Whether the product is computed in f32 or f64 and both operands are, or can be decoded. As the
 * takes_ of anchor.h. */
bool takes_operands(const struct region *region, const char **why);

/* Whether the data, or the weights, are smaller than what is computed with. */
bool data_is_small(const struct region *region);
bool weight_is_small(const struct region *region);

/* Sets
 *   tx, suffix      the type that is computed in ("float", "f32")
 *   tin             the type that the data (input 0) is stored in ("uint8_t")
 *   get, got        the text before and behind an element of the data, empty where it is a number
 *   coded           it is not */
void bind_data(struct bind *bind);

/* Asks for the helper `stem`_`suffix`. */
void bind_number_helper(struct bind *bind, const char *stem);

/* Scratch for n numbers. */
void bind_scratch_numbers(struct bind *bind, int64_t n);

/* How codes of this type are stored by bind_codes: "uint8_t". */
const char *stored_c_type(const struct type *type);

/* The type of an array of a constant's codes, in another shape: without scales. */
struct type codes_type(struct bind *bind, const struct type *from, int rank, const int64_t *dims);

struct panels;

/* Puts a constant's codes into the weights file in that order, raised where halves.h says so:
 * returns the array's expression. */
const char *panels_of_codes(struct bind *bind, const struct value *weight,
                            const struct panels *panels, const char *layout);

/* Input 1, known before the model runs, in the order in which tiles read it: see panels.h. Sets
 *   weight          the array
 *   tw              its type
 *   small           it has to be decoded, CHUNK positions of four rows at a time:
 *   unpack, chunk   by this function; so many
 *   blocks          blocks of it share a scale: see blocks.h */
void bind_weight_panels(struct bind *bind, const struct panels *panels, const char *layout);

/* Input 1, known before the model runs, as [groups, len, width] of panels as wide as they have rows
 * (of a depthwise convolution: taps of neighbouring channels side by side). Sets
 *   weight, tw, small, unpack   as above
 *   blocks                      as above */
void bind_weight_taps(struct bind *bind, const struct panels *panels, const char *layout);

/* Input 1 in panels for register tiles (tile.h), whatever it is stored as. Sets weight, tw, small,
 * unpack and blocks as above. */
void bind_weight_tiles(struct bind *bind, const struct panels *panels, const char *layout);

/* Input 1 in its own order, for kernels that decode a few elements at a time. Sets weight, tw,
 * small, unpack and blocks as above. */
void bind_weight_rows(struct bind *bind);

/* Input 1 read element by element, one code per element: sets tw, get_weight and got_weight as tin,
 * get and got. */
void bind_weight_elements(struct bind *bind);

#endif
