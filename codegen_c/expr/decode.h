/* decode.h - dequantising helpers for values stored in fewer bits than f32.
 *
 * Each minifloat format (AFP included) has a function NAME_to_f32. On CPUs with vectors it moves
 * bits. On others, and always for formats of less than 8 bits, it reads a table of all values: a
 * third of the instructions on a Cortex-M4. f16 is converted by moving bits or by the CPU (weights:
 * halves.h); bf16 and integers are cast. */
#ifndef CODEGEN_C_EXPR_DECODE_H
#define CODEGEN_C_EXPR_DECODE_H

#include "codegen_c/core/kernel.h"

/* The format's name in C identifiers: "f8e4m3", "afp_4_3_m2", "bf16". */
const char *decode_name(struct bind *bind, const struct type *type);

/* The codec of a float narrower than f32, f16 included; NULL for bf16 and integers. */
const struct minifloat *decode_format(const struct type *type);

/* Whether the type is narrower than f32 and there is a dequantising helper: f16, bf16, i8, i4,
 * minifloats with a known codec. */
bool decode_takes(const struct type *type);

/* Element i of an array of such a type (one value per element; u8 for formats of less than 8 bits),
 * or of f32, as f32. */
float decode_number(const struct type *type, const void *data, int64_t i);

/* Whether all values of such a constant are finite. */
bool decode_are_finite(const struct value *constant);

/* Requests the function from one minifloat, f16, bf16 or i4 value to f32; returns its name. */
const char *decode_function(struct bind *bind, const struct type *type);

/* The text before and behind a value in memory: "f8e4m3_to_f32(" and ")"; "" for types that need
 * none. */
void decode_element(struct bind *bind, const struct type *type, const char **get, const char **got);

/* The function unpack_NAME(codes, first, n, numbers) that dequantises n values of an array made by
 * bind_quantized. decode_unpack_weight: for a constant's array, which may be raised (halves.h). */
const char *decode_unpack(struct bind *bind, const struct type *type);
const char *decode_unpack_weight(struct bind *bind, const struct value *weight);

/* Whether that function dequantises a vector at a time: 8-bit floats on a PC. */
bool decode_has_vectors(const struct bind *bind, const struct type *type);

/* If so: the expression of one vector, f8e4m3_of_bytes(load_bytes(&code)), load_bytes requested as
 * well; and the function alone, for lanes from elsewhere. */
const char *decode_of_loaded(struct bind *bind, const struct type *type);
const char *decode_of_bytes(struct bind *bind, const struct type *type);

/* The function unpack_panel_NAME(codes, first, len, width, scale, numbers) that dequantises packed
 * weights for a microkernel and divides by their channels' scales. */
const char *decode_unpack_panel(struct bind *bind, const struct value *weight);

/* Requests load_bytes or store_bytes (bytes from and to the lanes of a vector_u32), or vector_u32
 * alone. */
void bind_bytes_helper(struct bind *bind, const char *name);

#endif
