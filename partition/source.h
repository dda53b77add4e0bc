/* source.h - where a piece of text of a target stands, so that every message has line and column.
 *
 * A pattern or an expression is a JSON string of a target file, or a string of a C table; both are
 * one line. Its errors are reported as DIAG_TARGET_FILE with "FILE:LINE:COLUMN: " in front. */
#ifndef PARTITION_SOURCE_H
#define PARTITION_SOURCE_H

#include "base/ctx.h"

struct source {
    const char *file; /* "targets/mynpu/target.json"; of a C table: its path within the project */
    int line, column; /* of the first character of the text, from 1; line 0 = a C table */
    const char *raw;  /* the JSON string as the file spells it, where escapes make it longer than
                         what it says; NULL = the same */
};

/* Records the error at `offset` bytes behind the text's first character and returns false:
 * "FILE:LINE:COLUMN: message", or "FILE: message" for a C table. Columns count bytes. */
bool source_error(struct ctx *ctx, const struct source *source, size_t offset, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

#endif
