/* str.h - string builder and string helpers. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* A growing text. Start with { .arena = a }; `text` is NUL-terminated once something was added
 * (NULL before). The pieces it outgrows stay in the arena. */
struct str {
    struct arena *arena;
    char *text;
    size_t n, capacity;
};

void str_add(struct str *str, const char *text);
void str_addn(struct str *str, const char *text, size_t n);
void str_printf(struct str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(struct str *str, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Begins again, in the same memory. */
void str_clear(struct str *str);

/* The text, "" when nothing was added. */
const char *str_text(const struct str *str);

bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);

/* Escapes `text` for terminals and one-line comments: control bytes, quotes, backslashes and
 * invalid UTF-8 become \xNN; truncated to `limit` bytes plus "...". */
const char *str_safe(struct arena *arena, const char *text, size_t limit);

/* Undoes str_safe for the first n bytes. NULL for any other escape, or \x00. */
const char *str_unescape(struct arena *arena, const char *text, size_t n);

/* "s", or "" for one. */
const char *str_plural(long long n);

/* Candidate closest to `word` (edit distance at most a third of its length), or NULL. */
const char *str_nearest(const char *word, const char *const *candidates, size_t n);

#endif
