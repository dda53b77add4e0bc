#include "base/str.h"

#include <stdio.h>
#include <string.h>

void str_addn(struct str *str, const char *text, size_t n)
{
    if (str->n + n + 1 > str->capacity) {
        const size_t wanted = (str->n + n + 1) * 2;
        char *grown = arena_alloc(str->arena, wanted < 64 ? 64 : wanted);

        if (str->n)
            memcpy(grown, str->text, str->n);
        str->text = grown;
        str->capacity = wanted < 64 ? 64 : wanted;
    }
    if (n)
        memcpy(str->text + str->n, text, n);
    str->n += n;
    str->text[str->n] = '\0';
}

void str_add(struct str *str, const char *text)
{
    str_addn(str, text, strlen(text));
}

void str_vprintf(struct str *str, const char *format, va_list args)
{
    char small[256];
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(small, sizeof small, format, again);
    va_end(again);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small)
        str_addn(str, small, (size_t)n);
    else
        str_addn(str, arena_vprintf(str->arena, format, args), (size_t)n);
}

void str_printf(struct str *str, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    str_vprintf(str, format, args);
    va_end(args);
}

void str_clear(struct str *str)
{
    str->n = 0;
    if (str->text)
        str->text[0] = '\0';
}

const char *str_text(const struct str *str)
{
    return str->text ? str->text : "";
}

bool str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
    const size_t n = strlen(text), m = strlen(suffix);

    return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* Bytes of the well-formed UTF-8 sequence at s, 0 if there is none. Overlong forms, surrogates and
 * the C1 controls do not count. */
static size_t utf8_sequence(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] < 0xE0 && (s[1] & 0xC0) == 0x80)
        return s[0] == 0xC2 && s[1] < 0xA0 ? 0 : 2;
    if ((s[0] & 0xF0) == 0xE0 && (s[1] & 0xC0) == 0x80 && (s[2] & 0xC0) == 0x80) {
        if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0))
            return 0;
        /* U+2028..U+202E and U+2066..U+2069 reorder or break lines on a terminal. */
        if (s[0] == 0xE2 && ((s[1] == 0x80 && s[2] >= 0xA8 && s[2] <= 0xAE) ||
                             (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9)))
            return 0;
        return 3;
    }
    return 0;
}

const char *str_safe(struct arena *arena, const char *text, size_t limit)
{
    const unsigned char *s = (const unsigned char *)text;
    struct str out = { .arena = arena };

    str_add(&out, "");
    while (*s && out.n < limit) {
        const size_t n = utf8_sequence(s);

        if (n == 0 || *s < 0x20 || *s == 0x7F || *s == '"' || *s == '\\') {
            str_printf(&out, "\\x%02X", *s++);
        } else {
            str_addn(&out, (const char *)s, n);
            s += n;
        }
    }
    if (*s)
        str_add(&out, "...");
    return out.text;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

const char *str_unescape(struct arena *arena, const char *text, size_t n)
{
    char *const out = arena_alloc(arena, n + 1);
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        int high, low;

        if (text[i] != '\\') {
            out[length++] = text[i];
            continue;
        }
        if (n - i < 4 || text[i + 1] != 'x')
            return NULL;
        high = hex_digit(text[i + 2]);
        low = hex_digit(text[i + 3]);
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return NULL;
        out[length++] = (char)(high * 16 + low);
        i += 3;
    }
    return out;
}

static size_t edit_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    size_t row[MAX + 1];
    const size_t n = strlen(a), m = strlen(b);

    if (n > MAX || m > MAX)
        return MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = diagonal + (a[i - 1] != b[j - 1]);
            const size_t add = row[j - 1] + 1, drop = row[j] + 1;

            diagonal = row[j];
            row[j] = change < add ? change : add;
            row[j] = row[j] < drop ? row[j] : drop;
        }
    }
    return row[m];
}

const char *str_nearest(const char *word, const char *const *candidates, size_t n)
{
    const size_t limit = strlen(word) / 3 ? strlen(word) / 3 : 1;
    size_t best = limit + 1;
    const char *nearest = NULL;

    for (size_t i = 0; i < n; i++) {
        const size_t distance = edit_distance(word, candidates[i]);

        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *str_plural(long long n)
{
    return n == 1 ? "" : "s";
}
