/* weight_words.h - arrays as 64-bit words, of which a C compiler takes many more a second than of numbers. */
#ifndef CODEGEN_C_EMIT_WEIGHT_WORDS_H
#define CODEGEN_C_EMIT_WEIGHT_WORDS_H

#include "base/file.h"
#include "codegen_c/core/weights.h"

int64_t n_words(const struct weight *weight);

/* "{ { 0x0123456789abcdefu, ... } }", the first element in the low bits. */
void write_words(struct writer *out, const struct weight *weight);

#endif
