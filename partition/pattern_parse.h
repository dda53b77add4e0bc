/* pattern_parse.h - shared by the files pattern_*.c. */
#ifndef PARTITION_PATTERN_PARSE_H
#define PARTITION_PATTERN_PARSE_H

#include "base/str.h"
#include "partition/pattern.h"

enum {
    PATTERN_MAX_PARTS = 400,  /* parts of one pattern */
    PATTERN_MAX_NESTING = 60, /* of parentheses */
    PATTERN_MAX_ARGS = 64
};

/* Name of an operator in patterns: "conv2d" for "nn.conv2d", else the full name, "qnn.conv2d". */
const char *op_text_name(enum op op);

/* Default capture name: the operator's name without its prefix. */
const char *op_short_name(enum op op);

/* Operator by its name in a pattern: the full name, or without "nn." or "image." ("resize" is
 * image.resize; qnn.resize needs its prefix). OP_COUNT if unknown. */
enum op op_from_text_name(const char *name);

/* "elemwise" etc.; NULL for classes without a name in patterns. */
const char *op_class_name(enum op_pattern op_class);

/* Capture names in use at a point of the text. */
struct names {
    struct arena *arena;
    int n, capacity;
    const char **at;
};

bool names_has(const struct names *names, const char *name);
void names_add(struct names *names, const char *name);

/* Unique default capture name: the operator's, with _2, _3 ... if in use. */
const char *names_own(struct names *names, enum op op);

/* Meaning of `_`: the previous step of the chain, or the input of an optional step; NULL = none. */
const struct pattern *pattern_previous(const struct pattern *pattern);

/* Appends "f32|f16 (64,_,3,3)"; nothing for an empty test. */
void pattern_print_type(const struct type_test *type, struct str *out);

/* --- parser: pattern_parse.c, pattern_operator.c, pattern_conditions.c ------------------------ */

struct pattern_parser {
    struct ctx *ctx;
    const struct source *source;
    const char *text, *at;
    struct names names;
    int nesting, n_parts;
    bool no_names; /* in the path of dominates: no captures */
    bool failed;   /* an error was reported; parsing may continue */
    bool stopped;  /* parsing cannot go on */
};

size_t pattern_offset(const struct pattern_parser *p);

/* Reports an error; parsing continues. */
void pattern_complain(struct pattern_parser *p, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports "expected WHAT, found ..." and stops parsing. */
void pattern_expected(struct pattern_parser *p, const char *what);

bool pattern_accept(struct pattern_parser *p, const char *token);
bool pattern_expect(struct pattern_parser *p, const char *token);

/* True if the token is next; does not consume it. */
bool pattern_peek(struct pattern_parser *p, const char *token);

/* Length of a word: letters, digits, '_', and '.' before a letter; 0 = none. */
size_t pattern_word_length(const char *at);

/* Parses a word into ctx->perm; NULL = none. */
const char *pattern_word(struct pattern_parser *p);

struct pattern *pattern_make(struct pattern_parser *p, enum pattern_kind kind, size_t at);
void pattern_set_args(struct pattern_parser *p, struct pattern *pattern, int n,
                      struct pattern *const *args);

/* Names a part as the user wrote it. */
void pattern_set_capture(struct pattern_parser *p, struct pattern *pattern, const char *name,
                         size_t at);

/* Parses a chain whose first `_` is `previous`. in_args: a single word is a value. NULL after
 * errors that stop parsing. */
struct pattern *pattern_parse_chain(struct pattern_parser *p, struct pattern *previous,
                                    bool in_args);

/* Parses a chain with nothing before it: `_` in its first step is any value. */
struct pattern *pattern_parse_new_chain(struct pattern_parser *p);

/* Parses arguments after '(' of an operator, a class or tuple. */
void pattern_parse_args(struct pattern_parser *p, struct pattern *pattern,
                        struct pattern *previous);

/* Parses an operator after its name. capture NULL = the default. */
struct pattern *pattern_parse_op(struct pattern_parser *p, const char *name, size_t at,
                                 struct pattern *previous, const char *capture, size_t capture_at);

/* Parses a class after '@'; dominates after its name. */
struct pattern *pattern_parse_class(struct pattern_parser *p, struct pattern *previous, size_t at);
struct pattern *pattern_parse_dominates(struct pattern_parser *p, struct pattern *previous,
                                        size_t at);

/* Parses conditions after ':': kind, element types, shape, rank. Sets `kind` to CONSTANT or
 * VARIABLE if given. */
void pattern_parse_conditions(struct pattern_parser *p, struct pattern *pattern);

/* Parses attributes after '{', up to '}'. */
void pattern_parse_attrs(struct pattern_parser *p, struct pattern *pattern);

#endif
