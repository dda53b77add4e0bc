#include "report/values.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/dtype.h"
#include "base/memory.h"
#include "base/str.h"

/* Where an array begins in a file, behind the brace, and how it is written (emit_weights.c). */
struct definition {
    const char *at, *end; /* end of the file */
    bool words;           /* 64-bit words, the first element in the low bits; else numbers */
};

/* The symbol of a line like "const float net_w[64] = {", or "} net_w CACHE_LINE = { {". The word
 * before the first '[' or ' ' that ends a name which is no type is found from the end. */
static const char *symbol_in(struct arena *arena, const char *line, size_t n)
{
    const char *const ends = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *bracket = memchr(line, '[', n), *equals = memchr(line, '=', n);
    const char *last = bracket && bracket < equals ? bracket : equals, *first;

    if (last == equals) { /* a union: its variable is followed by the alignment or a section */
        while (last > line && last[-1] == ' ')
            last--;
        while (last > line && last[-1] != ' ')
            last--;
        while (last > line && last[-1] == ' ')
            last--;
    }
    first = last;
    while (first > line && strchr(ends, first[-1]))
        first--;
    return arena_strndup(arena, first, (size_t)(last - first));
}

static void find_definitions(struct values *values, const struct mapping *file)
{
    const char *at = (const char *)file->data, *end = at + file->size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t n = (size_t)((newline ? newline : end) - at);
        const bool words = n > 6 && memcmp(at + n - 5, "= { {", 5) == 0;
        const bool numbers = n > 5 && memcmp(at + n - 3, "= {", 3) == 0;

        if (words || numbers) {
            struct definition *definition = arena_new(&values->ctx->perm, struct definition);

            *definition = (struct definition){ at + n, end, words };
            map_set(&values->definitions, symbol_in(&values->ctx->perm, at, n), definition);
        }
        at += n + 1;
    }
}

void values_open(struct ctx *ctx, const struct facts *facts, struct values *out)
{
    const struct diags before = diag_save(ctx);

    *out = (struct values){ ctx, facts, { .arena = &ctx->perm }, NULL };
    out->files = arena_array(&ctx->perm, struct mapping, facts->n_files);
    for (int i = 0; i < facts->n_files; i++) {
        struct mapping *file = &out->files[i];
        const char *crc;

        /* the name comes from a file: no path */
        if (!str_ends(facts->files[i].name, ".c") || strchr(facts->files[i].name, '/'))
            continue;
        if (!file_map(ctx, arena_printf(&ctx->perm, "%s/%s", facts->folder, facts->files[i].name),
                      file)) {
            file->data = NULL;
            continue;
        }
        crc = arena_printf(&ctx->perm, "%08x",
                           (unsigned)crc32_z(crc32_z(0, NULL, 0), file->data, file->size));
        if (strcmp(crc, facts->files[i].crc32) == 0)
            find_definitions(out, file);
    }
    diag_restore(ctx, before);
}

void values_close(struct values *values)
{
    for (int i = 0; i < values->facts->n_files; i++)
        if (values->files[i].data)
            file_unmap(&values->files[i]);
}

/* Behind white space and commas; false at the closing brace. */
static bool next_number(const char **at, const char *end)
{
    while (*at < end && strchr(" \n,", **at))
        ++*at;
    return *at < end && **at != '}';
}

/* A mapped file has no NUL behind it: numbers are copied before they are parsed. */
static bool parse_number(const char **at, const char *end, char word[64])
{
    size_t n = 0;

    while (*at + n < end && !strchr(" \n,}", (*at)[n]) && n < 63)
        n++;
    memcpy(word, *at, n);
    word[n] = '\0';
    *at += n;
    return n > 0 && n < 63;
}

static bool read_words(const struct definition *definition, unsigned char *bytes, size_t n)
{
    const char *at = definition->at;
    char text[64], *end;
    size_t done = 0;

    while (next_number(&at, definition->end)) {
        uint64_t word;

        if (!parse_number(&at, definition->end, text))
            return false;
        word = strtoull(text, &end, 16);
        if ((*end && *end != 'u') || done >= n)
            return false;
        for (int i = 0; i < 8 && done < n; i++)
            bytes[done++] = (unsigned char)(word >> (8 * i));
    }
    return done == n && at < definition->end;
}

static bool is_written_as_code(enum dtype dtype)
{
    return !dtype_is_float(dtype) || dtype_is_half(dtype);
}

/* "0.5f", "-0x1.8p-3f", "INFINITY", "-7"; of codes their bits. */
static bool read_numbers(const struct definition *definition, enum dtype dtype, size_t element,
                         unsigned char *bytes, size_t n)
{
    const char *at = definition->at;
    char text[64], *end;
    size_t done = 0;

    while (next_number(&at, definition->end)) {
        if (done + element > n || !parse_number(&at, definition->end, text))
            return false;
        if (is_written_as_code(dtype)) {
            const uint64_t code = (uint64_t)strtoll(text, &end, 0);

            memcpy(bytes + done, &code, element);
        } else {
            dtype_store(dtype, bytes + done, 0, strtod(text, &end));
        }
        if (end == text || (*end && *end != 'f' && *end != 'u'))
            return false;
        done += element;
    }
    return done == n && at < definition->end;
}

double *values_read(const struct values *values, const struct fact_weight *weight, size_t *n)
{
    const struct definition *definition = map_get(&values->definitions, weight->symbol);
    enum dtype dtype = dtype_from_name(weight->dtype);
    size_t n_bytes, element = dtype_bytes(dtype);
    unsigned char *bytes;
    double *numbers;
    bool ok;

    /* a byte takes more than one character */
    if (!definition || !(weight->bytes >= 1) ||
        weight->bytes > (double)(definition->end - definition->at))
        return NULL;
    n_bytes = (size_t)weight->bytes;
    if (dtype == DTYPE_NONE || element == 0 ||
        weight->elements * (double)element != weight->bytes) {
        dtype = DTYPE_U8; /* packed codes, or a codec of AFP: bytes as they are */
        element = 1;
    }
    *n = n_bytes / element;
    bytes = block_alloc(n_bytes, 0);
    numbers = block_alloc(*n * sizeof *numbers, 0);
    ok = definition->words ? read_words(definition, bytes, n_bytes)
                           : read_numbers(definition, dtype, element, bytes, n_bytes);
    for (size_t i = 0; i < *n && ok; i++)
        numbers[i] = dtype_load(dtype, bytes, (int64_t)i);
    block_free(bytes);
    if (!ok)
        block_free(numbers);
    return ok ? numbers : NULL;
}
