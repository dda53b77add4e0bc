/* pattern_parse.h - what the files pattern_*.c share. */
#ifndef PARTITION_PATTERN_PARSE_H
#define PARTITION_PATTERN_PARSE_H

#include "base/str.h"
#include "partition/pattern.h"

enum {
    PATTERN_MAX_PARTS = 400,  /* parts of one pattern, each counted where it is read */
    PATTERN_MAX_NESTING = 60, /* of parentheses */
    PATTERN_MAX_ARGS = 64
};

/* As patterns write it: "conv2d" of "nn.conv2d", else the whole name, "qnn.conv2d". */
const char *op_text_name(enum op op);

/* The name that it is captured under: without anything before a dot. */
const char *op_short_name(enum op op);

/* The operator of a name in a pattern: its own, without "nn.", or (image.resize) without whatever
 * is before the dot; "resize" is image.resize, and qnn.resize must be called so. OP_COUNT if
 * unknown. */
enum op op_from_text_name(const char *name);

/* "elemwise" and so on; NULL for those that have no name in patterns. */
const char *op_class_name(enum op_pattern op_class);

/* The names in use at a place of the text, for the names that operators get by themselves. */
struct names {
    struct arena *arena;
    int n, capacity;
    const char **at;
};

bool names_has(const struct names *names, const char *name);
void names_add(struct names *names, const char *name);

/* The operator's name, with _2, _3 ... where it is in use. */
const char *names_own(struct names *names, enum op op);

/* What stands where `_` is meant: the previous step of the chain, or what an optional step goes on
 * with. NULL = nothing. */
const struct pattern *pattern_previous(const struct pattern *pattern);

/* "f32|f16 (64,_,3,3)"; nothing where nothing is asked. */
void pattern_print_type(const struct type_test *type, struct str *out);

/* --- of the parser, for pattern_parse.c, pattern_operator.c and pattern_conditions.c
 * ----------------------------------------------
 */

struct pattern_parser {
    struct ctx *ctx;
    const struct source *source;
    const char *text, *at;
    struct names names;
    int nesting, n_parts;
    bool no_names; /* in the path of dominates: nothing is captured */
    bool failed;   /* an error was given; parsing may still go on */
    bool stopped;  /* parsing cannot go on */
};

size_t pattern_offset(const struct pattern_parser *p);

/* An error, after which parsing goes on. */
void pattern_complain(struct pattern_parser *p, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error that ends the parsing: "expected WHAT, found ...". */
void pattern_expected(struct pattern_parser *p, const char *what);

bool pattern_accept(struct pattern_parser *p, const char *token);
bool pattern_expect(struct pattern_parser *p, const char *token);

/* Whether the token is next; nothing is consumed. */
bool pattern_peek(struct pattern_parser *p, const char *token);

/* Letters, digits, '_', and '.' before a letter; 0 = no word. */
size_t pattern_word_length(const char *at);

/* The word here, in ctx->perm; NULL when there is none. */
const char *pattern_word(struct pattern_parser *p);

struct pattern *pattern_make(struct pattern_parser *p, enum pattern_kind kind, size_t at);
void pattern_set_args(struct pattern_parser *p, struct pattern *pattern, int n,
                      struct pattern *const *args);

/* Gives the part a name that the user wrote. */
void pattern_set_capture(struct pattern_parser *p, struct pattern *pattern, const char *name,
                         size_t at);

/* A chain, in which `_` first means `previous`. in_args: a word alone is a value. NULL after errors
 * that end the parsing. */
struct pattern *pattern_parse_chain(struct pattern_parser *p, struct pattern *previous,
                                    bool in_args);

/* A chain with nothing before it: `_` in its first step is some value. */
struct pattern *pattern_parse_new_chain(struct pattern_parser *p);

/* What follows '(' of an operator, a class or tuple. */
void pattern_parse_args(struct pattern_parser *p, struct pattern *pattern,
                        struct pattern *previous);

/* What follows the operator's name. capture: NULL = its own. */
struct pattern *pattern_parse_op(struct pattern_parser *p, const char *name, size_t at,
                                 struct pattern *previous, const char *capture, size_t capture_at);

/* What follows '@', and the word dominates. */
struct pattern *pattern_parse_class(struct pattern_parser *p, struct pattern *previous, size_t at);
struct pattern *pattern_parse_dominates(struct pattern_parser *p, struct pattern *previous,
                                        size_t at);

/* What follows ':': kind, element types, shape, rank. `kind` may become CONSTANT or VARIABLE. */
void pattern_parse_conditions(struct pattern_parser *p, struct pattern *pattern);

/* What follows '{', up to '}'. */
void pattern_parse_attrs(struct pattern_parser *p, struct pattern *pattern);

#endif
