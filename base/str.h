/* str.h - text under construction, and the few string questions that C leaves open. */
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

/* The text, "" when nothing was added. */
const char *str_text(const struct str *str);

bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);

/* `text` made harmless for a terminal or a one-line comment: control bytes, quotes, backslashes and
 * bytes that are not UTF-8 become \xNN; cut at `limit` bytes with "..." behind. */
const char *str_safe(struct arena *arena, const char *text, size_t limit);

/* The first n bytes of text with every \xNN turned back into its byte: str_safe undone. NULL when
 * there is another escape, or a \x00. */
const char *str_unescape(struct arena *arena, const char *text, size_t n);

/* "s", or "" for one. */
const char *str_plural(long long n);

/* The candidate that `word` is probably a misspelling of (edit distance of at most a third of its
 * length), or NULL. */
const char *str_nearest(const char *word, const char *const *candidates, size_t n);

#endif
