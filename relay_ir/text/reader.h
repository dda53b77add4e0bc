/* reader.h - the tokens of the IR text: names, strings, numbers, types; errors with line and
 * column. Every function skips blanks first, and stays within the line. */
#ifndef RELAY_IR_TEXT_READER_H
#define RELAY_IR_TEXT_READER_H

#include "base/ctx.h"
#include "relay_ir/type.h"

struct reader {
    struct ctx *ctx; /* names and strings live in ctx->perm: diagnostics may speak of them later */
    const char *text, *at;
};

/* Records "line L, column C: ..." about the present position. Returns false. */
bool reader_fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "expected WHAT, found 'xyz'". Returns false. */
bool reader_expected(struct reader *reader, const char *what);

int reader_line(const struct reader *reader); /* from 1 */

void reader_skip_blanks(struct reader *reader);

/* Moves behind the token if it is next. A token that is a word must not go on as a longer word. */
bool reader_accept(struct reader *reader, const char *token);
bool reader_expect(struct reader *reader, const char *token); /* an error if it is not next */

/* A name as it stands or in quotes; a string in quotes. False after an error. */
bool reader_name(struct reader *reader, const char **name);
bool reader_string(struct reader *reader, const char **string);

/* A number of 0 or more. */
bool reader_number(struct reader *reader, int64_t most, int64_t *number);

/* "(1,3,224,224) f32" */
bool reader_type(struct reader *reader, struct type *type);

/* Expects the end of the line, behind an optional comment, and skips further lines that are empty
 * or only a comment. */
bool reader_end_line(struct reader *reader);
void reader_skip_empty_lines(struct reader *reader);

#endif
