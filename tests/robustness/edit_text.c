/* edit_text.c - graphs as text whose words are still words: numbers and names replaced, lines left
 * out or written twice. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/robustness/edit.h"

struct span {
    size_t at, n;
};

static bool is_word(uint8_t byte)
{
    return isalnum(byte) || byte == '.' || byte == '_' || byte == '-';
}

/* The word at or behind some place; empty at the end. */
static struct span some_word(const uint8_t *text, size_t size, uint64_t *state)
{
    struct span word = { random_below(state, size), 0 };

    while (word.at < size && !is_word(text[word.at]))
        word.at++;
    while (word.at > 0 && word.at < size && is_word(text[word.at - 1]))
        word.at--;
    while (word.at + word.n < size && is_word(text[word.at + word.n]))
        word.n++;
    return word;
}

/* The line around some place, with its end. */
static struct span some_line(const uint8_t *text, size_t size, uint64_t *state)
{
    struct span line = { random_below(state, size), 0 };

    while (line.at > 0 && text[line.at - 1] != '\n')
        line.at--;
    while (line.at + line.n < size && text[line.at + line.n] != '\n')
        line.n++;
    line.n += line.at + line.n < size;
    return line;
}

static void replace(struct str *out, const uint8_t *text, size_t size, struct span old,
                    const void *by, size_t n)
{
    str_addn(out, (const char *)text, old.at);
    str_addn(out, by, n);
    str_addn(out, (const char *)text + old.at + old.n, size - old.at - old.n);
}

static void edit_number(struct str *out, const uint8_t *text, size_t size, uint64_t *state)
{
    static const char *const telling[] = { "0",
                                           "1",
                                           "2",
                                           "-1",
                                           "65536",
                                           "4294967296",
                                           "1048576",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "1e99",
                                           "nan",
                                           "-inf",
                                           "" };
    const char *by = telling[random_below(state, sizeof telling / sizeof *telling)];
    struct span word = some_word(text, size, state);

    for (int tries = 0; tries < 20 && !(word.n && isdigit(text[word.at])); tries++)
        word = some_word(text, size, state);
    replace(out, text, size, word, by, strlen(by));
}

static void edit_word(struct str *out, const uint8_t *text, size_t size, uint64_t *state)
{
    const struct span by = some_word(text, size, state);

    replace(out, text, size, some_word(text, size, state), text + by.at, by.n);
}

static void edit_line(struct str *out, const uint8_t *text, size_t size, uint64_t *state)
{
    struct span line = some_line(text, size, state);
    const size_t n = random_below(state, 2) ? line.n : 0; /* again, or gone */
    const size_t at = line.at;

    if (n)
        line.n = 0;
    replace(out, text, size, line, text + at, n);
}

uint8_t *edit_text(const uint8_t *bytes, size_t *size, uint64_t *state)
{
    static void (*const edits[])(struct str *, const uint8_t *, size_t, uint64_t *) = {
        edit_number, edit_number, edit_word, edit_word, edit_line,
    };
    struct arena arena = { NULL };
    uint8_t *out;

    for (size_t n = 1 + random_below(state, 3); n; n--) {
        struct str text = { .arena = &arena };

        edits[random_below(state, sizeof edits / sizeof *edits)](&text, bytes, *size, state);
        bytes = (const uint8_t *)str_text(&text);
        *size = strlen((const char *)bytes);
    }
    out = malloc(*size ? *size : 1);
    if (!out)
        out_of_memory(*size);
    memcpy(out, bytes, *size);
    arena_release(&arena);
    return out;
}
