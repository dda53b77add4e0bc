/* codec.h - small floats in generated C: for each format that a file uses one function that decodes
 * (kernels/decode.h) and one that encodes, by names that the texts of element-wise operators have
 * in them. */
#ifndef CODEGEN_C_CODEC_H
#define CODEGEN_C_CODEC_H

#include "codegen_c/kernel.h"

/* "f8e4m3_to_f32": takes a code, of 8 bits or less in a uint8_t; "f16_to_f32": in a uint16_t. */
const char *codec_decoder(struct arena *arena, const struct minifloat *format);

/* "f32_to_f8e4m3": takes a float. Where it does not saturate: "f32_to_f8e4m3_unsaturated";
 * "f32_to_f16" never does. NULL when the format's numbers are beyond normal f32 (afp of a great
 * bias). */
const char *codec_encoder(struct arena *arena, const struct minifloat *format, bool saturate);

/* Asks for the function of that name; false when it is none of these. */
bool codec_bind(struct bind *bind, const char *name);

#endif
