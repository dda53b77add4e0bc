/* source.h - position of a piece of text in a target file, so that messages have line and column.
 *
 * A pattern or an expression is a JSON string of a target file, or a string of a C table; both are
 * one line. Its errors are reported as DIAG_TARGET_FILE prefixed by "FILE:LINE:COLUMN: ". */
#ifndef BASE_JSON_SOURCE_H
#define BASE_JSON_SOURCE_H

#include "base/ctx.h"

struct source {
    const char *file; /* "targets/mynpu/target.json"; for a C table, its path within the project */
    int line, column; /* of the first character, from 1; line 0 = a C table */
    const char *raw;  /* the JSON string as spelled in the file, if it contains escapes; NULL = as
                         parsed */
};

/* Records the error at byte `offset` of the text and returns false: "FILE:LINE:COLUMN: message", or
 * "FILE: message" for a C table. Columns count bytes. */
bool source_error(struct ctx *ctx, const struct source *source, size_t offset, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

#endif
