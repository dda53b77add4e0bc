/* codec.h - narrow float formats in generated C. For each format that a file uses there is one
 * function that dequantises (codegen_c/expr/decode.h) and one that quantises; the texts of
 * element-wise operators call them by name. */
#ifndef CODEGEN_C_EXPR_CODEC_H
#define CODEGEN_C_EXPR_CODEC_H

#include "codegen_c/core/kernel.h"

/* The dequantising function: "f8e4m3_to_f32" takes 8 bits or fewer in a uint8_t, "f16_to_f32" a
 * uint16_t. */
const char *codec_decoder(struct arena *arena, const struct minifloat *format);

/* The quantising function, of a float: "f32_to_f8e4m3", or "f32_to_f8e4m3_unsaturated";
 * "f32_to_f16" never saturates. NULL if the format's values exceed normal f32 (AFP with a large
 * bias). */
const char *codec_encoder(struct arena *arena, const struct minifloat *format, bool saturate);

/* Statements that quantise `n` floats by vectors, as `encoder` ("f32_to_f8e4m3") does; `numbers`
 * and `codes` are C arrays. Inline if n is a multiple of `multiple` and of a vector. NULL unless
 * the format has a byte per value and the CPU is a PC's. */
const char *codec_pack(struct bind *bind, const char *encoder, const char *numbers, const char *n,
                       const char *quantized, int64_t multiple);

/* The function from a vector of floats to their quantised, saturated values: f8e4m3_quantized(numbers).
 * Requests store_bytes as well, which stores them as bytes. NULL as above. */
const char *codec_encode(struct bind *bind, const struct minifloat *format);

/* The counterpart of codec_pack: dequantises n values of an 8-bit float format. */
const char *codec_unpack(struct bind *bind, const struct type *type, const char *quantized,
                         const char *first, const char *n, const char *numbers, int64_t multiple);

/* Requests the function of that name; false if there is no such function. */
bool codec_bind(struct bind *bind, const char *name);

#endif
