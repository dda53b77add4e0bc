/* reader.h - the tokens of the IR text: names, strings, numbers, types; errors with line and
 * column. Every function skips blanks first, and stays within the line. */
#ifndef RELAY_IR_TEXT_READER_H
#define RELAY_IR_TEXT_READER_H

#include "base/ctx.h"
#include "base/map.h"
#include "relay_ir/type.h"

enum { MAX_TEXT_BYTES = 1 << 26 }; /* most bytes of elements in one list */

struct reader {
    struct ctx *ctx; /* names, strings and scales live in ctx->perm */
    const char *text, *at;
    const struct map *vectors; /* scales and zero points by checksum (reader_index_type), or NULL */
    bool zero_missing;         /* scales and zero points that are missing are dropped from types */
};

/* Records the error "line L, column C: ..." at the present position. Returns false. */
bool reader_fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "expected WHAT, found 'xyz'". Returns false. */
bool reader_expected(struct reader *reader, const char *what);

int reader_line(const struct reader *reader); /* from 1 */

void reader_skip_blanks(struct reader *reader);

/* Consumes the token if it is next. A word must not continue as a longer word. */
bool reader_accept(struct reader *reader, const char *token);
bool reader_expect(struct reader *reader, const char *token); /* an error if it is not next */

/* A plain or quoted name; a quoted string. False after an error. */
bool reader_name(struct reader *reader, const char **name);
bool reader_string(struct reader *reader, const char **string);

/* A number in 0 .. most. */
bool reader_number(struct reader *reader, int64_t most, int64_t *number);

/* --- read_type.c ------------------------------------------------------------------------------ */

/* "(1,3,224,224) f32" with its quantisation; constant: the type is of a constant. */
bool reader_type(struct reader *reader, bool constant, struct type *type);

/* Indexes, by checksum, the scales and zero points of a type; they are borrowed. */
void reader_index_type(struct map *vectors, const struct type *type);

/* Element i; a list after its bracket, "1, 2, 3]" or "0, ...]"; a checksum, "9f2c11aa". */
bool reader_element(struct reader *reader, enum dtype dtype, void *elements, int64_t i);
bool reader_elements(struct reader *reader, enum dtype dtype, int64_t n, void *elements);
bool reader_checksum(struct reader *reader, unsigned long *checksum);

/* Expects the end of the line after an optional comment, and skips empty and comment lines. */
bool reader_end_line(struct reader *reader);
void reader_skip_empty_lines(struct reader *reader);

#endif
