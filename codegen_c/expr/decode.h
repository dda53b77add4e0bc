/* decode.h - numbers that are stored as something smaller than f32: the helpers that decode them.
 *
 * Minifloats (AFP included) have a function NAME_to_f32: bits are moved on processors with vectors,
 * a table of all codes is read on others (a third of the instructions on a Cortex-M4), and always
 * for formats of less than 8 bits. f16 is decoded by bits or by the processor (weights: halves.h),
 * bf16 and integers are converted. */
#ifndef CODEGEN_C_EXPR_DECODE_H
#define CODEGEN_C_EXPR_DECODE_H

#include "codegen_c/core/kernel.h"

/* The name of the format, as a part of C names: "f8e4m3", "afp_4_3_m2", "bf16". */
const char *decode_name(struct bind *bind, const struct type *type);

/* The row of the codec of a float that is smaller than f32, f16 included; NULL for bf16 and
 * integers. */
const struct minifloat *decode_format(const struct type *type);

/* Whether numbers of this type are smaller than f32 and can be decoded: f16, bf16, i8, i4,
 * minifloats whose codec is known. */
bool decode_takes(const struct type *type);

/* Element i of an array of such a type, one code in each element (u8 for codes of less than 8
 * bits), or of f32. */
float decode_number(const struct type *type, const void *data, int64_t i);

/* Whether all numbers of a constant of such a type are finite. */
bool decode_are_finite(const struct value *constant);

/* The name of the function from a code of a minifloat (f16, bf16, i4) to its number, for which it
 * asks. */
const char *decode_function(struct bind *bind, const struct type *type);

/* Sets two keys to the text before and behind a code in memory, one per element: "f8e4m3_to_f32("
 * and ")"; to nothing for other types. */
void decode_element(struct bind *bind, const struct type *type, const char *get, const char *got);

/* The function that decodes many codes of an array that bind_codes made:
 * unpack_NAME(codes, first, n, numbers); and that of an array of a constant's codes, which may be
 * raised (halves.h). */
const char *decode_unpack(struct bind *bind, const struct type *type);
const char *decode_unpack_weight(struct bind *bind, const struct value *weight);

/* Whether that function decodes a vector at a time: of floats of a byte, on a PC. */
bool decode_has_vectors(const struct bind *bind, const struct type *type);

/* Then, of a vector: f8e4m3_of_bytes(load_bytes(&code)), where load_bytes is asked for as well; and
 * the same function for lanes that come otherwise. */
const char *decode_of_loaded(struct bind *bind, const struct type *type);
const char *decode_of_bytes(struct bind *bind, const struct type *type);

/* The function that decodes panels of weights for tiles, and divides them by the scales of their
 * channels: unpack_panel_NAME(codes, first, len, width, scale, numbers). */
const char *decode_unpack_panel(struct bind *bind, const struct value *weight);

/* Asks for load_bytes or store_bytes: bytes in the lanes of a vector_u32; or for vector_u32 alone.
 */
void bind_bytes_helper(struct bind *bind, const char *name);

#endif
