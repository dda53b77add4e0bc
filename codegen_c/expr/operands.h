/* operands.h - data and weights of convolutions and matrix products: stored in the type computed
 * in, or narrower and dequantised in the loop. */
#ifndef CODEGEN_C_EXPR_OPERANDS_H
#define CODEGEN_C_EXPR_OPERANDS_H

#include "codegen_c/core/kernel.h"

/* Whether the product is computed in f32 or f64 and both operands are of that type or can be
 * dequantised. As the takes_ of anchor.h. */
bool takes_operands(const struct region *region, const char **why);

/* Whether the data, or the weights, are stored narrower than the type computed in. */
bool data_is_small(const struct region *region);
bool weight_is_small(const struct region *region);

/* Sets
 *   tx, suffix      the type computed in: "float", "f32"
 *   tin             the type that the data (input 0) is stored in: "uint8_t"
 *   get, got        the text before and behind an element of the data; "" if it is not dequantised
 *   coded           the data is dequantised */
void bind_data(struct bind *bind);

/* Requests the helper `stem`_`suffix`. */
void bind_number_helper(struct bind *bind, const char *stem);

/* Claims scratch for n elements of the type computed in. */
void bind_scratch_numbers(struct bind *bind, int64_t n);

/* The C type in which bind_quantized stores quantised values of this type: "uint8_t". */
const char *stored_c_type(const struct type *type);

/* The type of an array of a constant's quantised values, in another shape and without scales. */
struct type quantized_type(struct bind *bind, const struct type *from, int rank,
                           const int64_t *dims);

struct panels;

/* Packs a constant's quantised values (raised where halves.h says so) into the weights file;
 * returns the array's expression. */
const char *panels_of_quantized(struct bind *bind, const struct value *weight,
                                const struct panels *panels, const char *layout);

/* Packs input 1, a constant, into panels (panels.h). Sets
 *   weight          the array
 *   tw              its element type
 *   small           it has to be dequantised, KC elements of four rows at a time, by
 *   unpack, kc      this function; KC
 *   blocks          it has block scales: see blocks.h */
void bind_weight_panels(struct bind *bind, const struct panels *panels, const char *layout);

/* Packs input 1, a constant, as [groups, len, width] with panels as wide as they have rows
 * (depthwise: taps of neighbouring channels side by side). Sets weight, tw, small, unpack and
 * blocks as above. */
void bind_weight_taps(struct bind *bind, const struct panels *panels, const char *layout);

/* Packs input 1 for register tiles (tile.h), whatever type it is stored in. Sets weight, tw, small,
 * unpack and blocks as above. */
void bind_weight_tiles(struct bind *bind, const struct panels *panels, const char *layout);

/* Input 1 in its own order, for kernels that dequantise a few elements at a time. Sets weight, tw,
 * small, unpack and blocks as above. */
void bind_weight_rows(struct bind *bind);

/* Input 1 read element by element. Sets `tw`, `get_weight` and `got_weight`, as tin, get and got of
 * the data. */
void bind_weight_elements(struct bind *bind);

#endif
