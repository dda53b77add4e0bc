#include "codegen_c/emit/weight_words.h"

#include <string.h>

enum {
    WORD_BYTES = 8,
    WORDS_PER_LINE = 4,
    WORD_TEXT = 2 + 2 * WORD_BYTES + 2 /* 0x0123456789abcdefu, */
};

int64_t n_words(const struct weight *weight)
{
    return (int64_t)((type_bytes(&weight->stored) + WORD_BYTES - 1) / WORD_BYTES);
}

/* Two hex digits of every byte. */
struct digits {
    char of[256][2];
};

static struct digits make_digits(void)
{
    static const char hex[] = "0123456789abcdef";
    struct digits digits;

    for (int i = 0; i < 256; i++) {
        digits.of[i][0] = hex[i >> 4];
        digits.of[i][1] = hex[i & 15];
    }
    return digits;
}

static void format_word(const struct digits *digits, uint64_t word, char *text)
{
    text[0] = '0';
    text[1] = 'x';
    for (int i = 0; i < WORD_BYTES; i++)
        memcpy(&text[2 + 2 * i], digits->of[word >> (8 * (WORD_BYTES - 1 - i)) & 255], 2);
    text[WORD_TEXT - 2] = 'u';
    text[WORD_TEXT - 1] = ',';
}

/* Little-endian: the first element in the low bits. */
static uint64_t word_at(const struct weight *weight, size_t bytes, int64_t i)
{
    const unsigned char *from = (const unsigned char *)weight->data + i * WORD_BYTES;
    const size_t left = bytes - (size_t)i * WORD_BYTES;
    uint64_t word = 0;

    memcpy(&word, from, left < WORD_BYTES ? left : WORD_BYTES);
    return word;
}

void write_words(struct writer *out, const struct weight *weight)
{
    const struct digits digits = make_digits();
    const size_t bytes = type_bytes(&weight->stored);
    const int64_t n = n_words(weight);

    writer_text(out, "{ {\n");
    for (int64_t i = 0; i < n; i += WORDS_PER_LINE) {
        const int64_t end = i + WORDS_PER_LINE < n ? i + WORDS_PER_LINE : n;
        char *line = writer_reserve(out, 4 + WORDS_PER_LINE * WORD_TEXT + 1), *at = line + 4;

        memset(line, ' ', 4);
        for (int64_t k = i; k < end; k++, at += WORD_TEXT)
            format_word(&digits, word_at(weight, bytes, k), at);
        *at++ = '\n';
        writer_advance(out, (size_t)(at - line));
    }
    writer_text(out, "} }");
}
