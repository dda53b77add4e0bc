/* diag.h - diagnostics: errors and warnings for the user.
 *
 * A message says what was found and what was wanted, in lower case without a full stop; the origin
 * names the node of the model; a note gives the reason, a help line the way out. Example:
 *
 *   error[R0301]: weight expects 16 input channels, x has 8
 *    --> resnet8.onnx: node #17 "layer1.conv2" (Conv)
 *   help: ...
 *
 * Bugs in relayc are assert()s, never diagnostics. Diagnostics are collected and printed by cli. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/map.h"

struct ctx;

enum diag_code {
#define DIAG(symbol, number, title, explanation) DIAG_##symbol = (number),
#include "base/diag.def"
#undef DIAG
};

/* Where a graph node comes from in the user's model. A fused node has a list. */
struct origin {
    const char *name;    /* ONNX node name, "" if it has none; raw text of the model: print it with
                            str_safe only */
    const char *op_type; /* "Conv"; also raw text */
    const char *output;  /* name of its first output, raw; NULL = unknown */
    long index;          /* position in the ONNX file, from 0; -1 = not from a node */
    const struct origin *next;
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

struct diag {
    enum diag_severity severity;
    enum diag_code code;
    const struct origin *origin;       /* NULL = the file as a whole */
    const char *file;                  /* input file, NULL = none */
    const char *message, *note, *help; /* note and help may be NULL; several lines allowed */
    struct diag *next;
};

struct diags {
    const char *input_name; /* names the file in new diagnostics; borrowed */
    struct diag *first, *last;
    struct diag *latest; /* target of diag_note and diag_help; NULL after a duplicate */
    int n_errors, n_warnings;
    struct map seen; /* code, node and message of all */
};

/* Records an error and returns false, so that a check is one line: return diag_error(...). A
 * duplicate (code, node and message) is dropped with its notes. */
bool diag_error(struct ctx *ctx, enum diag_code code, const struct origin *origin,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_warn(struct ctx *ctx, enum diag_code code, const struct origin *origin,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Add a line to the last diagnostic. */
void diag_note(struct ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_help(struct ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Take away all diagnostics, and put them back (tests; tentative work such as "can this be
 * folded?"). */
struct diags diag_save(struct ctx *ctx);
void diag_restore(struct ctx *ctx, struct diags saved);

/* Prints all, in order; errors that differ only in their node are grouped under one message, at
 * most `limit` nodes of each (0 = all). colour: whether to use ANSI colours. */
void diag_print(struct ctx *ctx, FILE *out, bool colour, int limit);

const char *diag_title(enum diag_code code);       /* NULL for an unknown number */
const char *diag_explanation(enum diag_code code); /* likewise */

/* Exit code for the diagnostics: 0 none, 1 the model or a check failed, 2 usage, 3 input or output,
 * 70 our bug. The worst wins (70, 3, 2, 1). */
int diag_exit_code(const struct ctx *ctx);

#endif
