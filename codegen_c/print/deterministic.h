/* deterministic.h - --deterministic: one NAME.c, the same bits everywhere
 * (docs/guide/deterministic.md).
 *
 * What the text of kernels and helpers keeps anyway: sums in an order that stands in the text,
 * whatever the vectors; functions of f32 of our own (docs/design/math.md). What is added: nothing
 * is contracted to FMA, and what cannot be promised is refused. */
#ifndef CODEGEN_C_PRINT_DETERMINISTIC_H
#define CODEGEN_C_PRINT_DETERMINISTIC_H

#include "base/str.h"

struct codegen;

/* After print_regions. Sets codegen->strict where floats are computed at all: integers are the same
 * everywhere. False after NOT_DETERMINISTIC errors that name every node whose function of <math.h>
 * differs between libraries, and every region of another target. */
bool deterministic_check(struct codegen *codegen);

/* Whether products must be rounded before sums read them although bits are not promised: the
 * network is rounded as ONNX has it (docs/guide/qdq.md). */
bool rounds_products(const struct codegen *codegen);

/* The section of a C file before all functions that says so to compilers. */
void add_rounded_products(struct codegen *codegen, struct str *out);

/* That of --deterministic; with `check` the function arithmetic_is_strict(), which the entry calls. */
void add_strict_arithmetic(struct codegen *codegen, const char *file, bool check, struct str *out);

#endif
