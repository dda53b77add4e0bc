/* emit_weights.h - the definitions of constant arrays, inline or in NAME_weights.c. */
#ifndef CODEGEN_C_EMIT_EMIT_WEIGHTS_H
#define CODEGEN_C_EMIT_EMIT_WEIGHTS_H

#include "base/file.h"
#include "codegen_c/codegen.h"

struct codegen;

/* NAME_weights.h, NAME_weights.c ...; none if inline. */
void emit_weights(struct codegen *codegen);

/* Decides where the arrays stand: codegen->inline_weights, weight->file, codegen->n_weight_files.
 */
void place_weights(struct codegen *codegen);

/* "kws_weights_2.c" of file 1. */
const char *weights_file(struct codegen *codegen, int file);

/* Where arrays stand inline: definitions of those that the file `reader` is the first to read, and
 * declarations of others that it reads. */
void write_inline_weights(struct codegen *codegen, struct writer *out, int reader);

/* Of a pool that takes constants: "KWS_IN_DTCM ", the attribute of their section; "" = none. */
const char *section_macro(struct codegen *codegen, const struct codegen_pool *pool);

#endif
