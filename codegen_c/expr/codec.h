/* codec.h - small floats in generated C: for each format that a file uses one function that decodes
 * (codegen_c/expr/decode.h) and one that encodes, by names that the texts of element-wise operators have
 * in them. */
#ifndef CODEGEN_C_EXPR_CODEC_H
#define CODEGEN_C_EXPR_CODEC_H

#include "codegen_c/core/kernel.h"

/* "f8e4m3_to_f32": takes a code, of 8 bits or less in a uint8_t; "f16_to_f32": in a uint16_t. */
const char *codec_decoder(struct arena *arena, const struct minifloat *format);

/* "f32_to_f8e4m3": takes a float. Where it does not saturate: "f32_to_f8e4m3_unsaturated";
 * "f32_to_f16" never does. NULL when the format's numbers are beyond normal f32 (afp of a great
 * bias). */
const char *codec_encoder(struct arena *arena, const struct minifloat *format, bool saturate);

/* Statements that encode `n` numbers (of C: an array and where codes go) as that encoder
 * ("f32_to_f8e4m3") does, by vectors; inline where n is a multiple of `multiple`, and that of the
 * vectors. NULL where there are none: on other machines than PCs, of codes that are no bytes. */
const char *codec_pack(struct bind *bind, const char *encoder, const char *numbers, const char *n,
                       const char *codes, int64_t multiple);

/* The function from a vector of numbers to one of their codes, saturated: f8e4m3_codes(numbers), of
 * which store_bytes, asked for as well, makes bytes. NULL likewise. */
const char *codec_codes(struct bind *bind, const struct minifloat *format);

/* As codec_pack of n codes that become numbers, if they are floats of a byte. */
const char *codec_unpack(struct bind *bind, const struct type *type, const char *codes,
                         const char *first, const char *n, const char *numbers, int64_t multiple);

/* Asks for the function of that name; false when it is none of these. */
bool codec_bind(struct bind *bind, const char *name);

#endif
