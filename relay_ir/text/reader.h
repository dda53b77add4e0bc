/* reader.h - the tokens of the IR text: names, strings, numbers, types; errors with line and
 * column. Every function skips blanks first, and stays within the line. */
#ifndef RELAY_IR_TEXT_READER_H
#define RELAY_IR_TEXT_READER_H

#include "base/ctx.h"
#include "base/map.h"
#include "relay_ir/type.h"

enum { MAX_TEXT_BYTES = 1 << 26 }; /* of the elements that one list in the text alone asks for */

struct reader {
    struct ctx *ctx; /* names, strings and scales live in ctx->perm */
    const char *text, *at;
    const struct map *vectors; /* scales and zero points by checksum (reader_index_type), or NULL */
    bool zero_missing;         /* of what is not there, a type says nothing */
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

/* --- read_type.c */

/* "(1,3,224,224) f32", and what is known of the numbers; constant: of a constant. */
bool reader_type(struct reader *reader, bool constant, struct type *type);

/* Makes the scales and zero points known that types name by checksum; they are borrowed. */
void reader_index_type(struct map *vectors, const struct type *type);

/* Element i; "1, 2, 3]" or "0, ...]", behind the bracket; "9f2c11aa". */
bool reader_element(struct reader *reader, enum dtype dtype, void *elements, int64_t i);
bool reader_elements(struct reader *reader, enum dtype dtype, int64_t n, void *elements);
bool reader_checksum(struct reader *reader, unsigned long *checksum);

/* Expects the end of the line, behind an optional comment, and skips further lines that are empty
 * or only a comment. */
bool reader_end_line(struct reader *reader);
void reader_skip_empty_lines(struct reader *reader);

#endif
