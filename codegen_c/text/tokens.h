/* tokens.h - C as tokens that know how they stood in the text: for stages that work on generated C as a whole. */
#ifndef CODEGEN_C_TEXT_TOKENS_H
#define CODEGEN_C_TEXT_TOKENS_H

#include <stdbool.h>

#include "base/str.h"

enum token_kind {
    TOKEN_WORD,   /* identifier, keyword, number */
    TOKEN_STRING, /* or character */
    TOKEN_MARK,   /* operator, bracket, separator */
    TOKEN_COMMENT,
    TOKEN_DIRECTIVE, /* of the preprocessor, with the lines that continue it */
};

struct token {
    enum token_kind kind;
    const char *text; /* n characters */
    int n;
    int newlines; /* in front of it */
    int column;   /* of the first token of its line */
    bool space;   /* white space in front of it */
};

struct tokens {
    struct arena *arena;
    struct token *items;
    int n, capacity;
};

struct tokens tokens_of(struct arena *arena, const char *text);

/* The text again, with its lines and columns. */
const char *tokens_text(const struct tokens *tokens);

void tokens_add(struct tokens *tokens, const struct token *token);

/* Whether its text is this one. */
bool token_is(const struct token *token, const char *text);

/* Whether its text is one of these words, separated by spaces. */
bool token_is_any(const struct token *token, const char *words);

/* Token i, or an empty mark behind the end; whether it is of this kind, one of these marks, one of these words. */
const struct token *tokens_at(const struct tokens *tokens, int i);
bool tokens_is_kind(const struct tokens *tokens, int i, enum token_kind kind);
bool tokens_is_mark(const struct tokens *tokens, int i, const char *marks);
bool tokens_is_word(const struct tokens *tokens, int i, const char *words);

/* Behind the bracket that closes the one at i, or the end. */
int tokens_behind(const struct tokens *tokens, int i);

/* The word behind "#" of a directive, and what follows it; "" for another token. */
const char *directive_word(struct arena *arena, const struct token *token, const char **rest);

#endif
