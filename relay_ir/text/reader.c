#include "relay_ir/text/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/text/words.h"

int reader_line(const struct reader *reader)
{
    int line = 1;

    for (const char *at = reader->text; at < reader->at; at++)
        line += *at == '\n';
    return line;
}

static int column(const struct reader *reader)
{
    const char *start = reader->at;

    while (start > reader->text && start[-1] != '\n')
        start--;
    return (int)(reader->at - start) + 1;
}

bool reader_fail(struct reader *reader, const char *format, ...)
{
    struct str message = { .arena = &reader->ctx->scratch };
    va_list args;

    va_start(args, format);
    str_vprintf(&message, format, args);
    va_end(args);
    return diag_error(reader->ctx, DIAG_IR_TEXT, NULL, "line %d, column %d: %s",
                      reader_line(reader), column(reader), str_text(&message));
}

bool reader_expected(struct reader *reader, const char *what)
{
    const size_t left = strcspn(reader->at, "\n");
    const char *found;

    reader_skip_blanks(reader);
    if (*reader->at == '\n' || !*reader->at)
        return reader_fail(reader, "expected %s, found the end of the line", what);
    found = arena_strndup(&reader->ctx->scratch, reader->at, left < 20 ? left : 20);
    return reader_fail(reader, "expected %s, found '%s'", what,
                       str_safe(&reader->ctx->scratch, found, 40));
}

void reader_skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r");
}

bool reader_accept(struct reader *reader, const char *token)
{
    const size_t n = strlen(token);

    reader_skip_blanks(reader);
    if (strncmp(reader->at, token, n) != 0 ||
        (word_length(token) == n && word_length(reader->at) > n))
        return false;
    reader->at += n;
    return true;
}

bool reader_expect(struct reader *reader, const char *token)
{
    if (reader_accept(reader, token))
        return true;
    return reader_expected(reader, arena_printf(&reader->ctx->scratch, "'%s'", token));
}

bool reader_string(struct reader *reader, const char **string)
{
    const char *const start = reader->at;
    size_t n;

    if (!reader_accept(reader, "\""))
        return reader_expected(reader, "a string in quotes");
    n = strcspn(reader->at, "\"\n");
    *string = str_unescape(&reader->ctx->perm, reader->at, n);
    if (reader->at[n] != '"') {
        reader->at = start;
        return reader_fail(reader, "the string has no closing quote");
    }
    if (!*string)
        return reader_fail(reader, "the string has an escape other than \\xNN");
    reader->at += n + 1;
    return true;
}

bool reader_name(struct reader *reader, const char **name)
{
    size_t n;

    reader_skip_blanks(reader);
    if (*reader->at == '"')
        return reader_string(reader, name);
    n = word_length(reader->at);
    if (n == 0)
        return reader_expected(reader, "a name");
    *name = arena_strndup(&reader->ctx->perm, reader->at, n);
    reader->at += n;
    return true;
}

bool reader_number(struct reader *reader, int64_t most, int64_t *number)
{
    char *end;

    reader_skip_blanks(reader);
    if (*reader->at < '0' || *reader->at > '9')
        return reader_expected(reader, "a number");
    errno = 0;
    *number = strtoll(reader->at, &end, 10);
    if (errno || *number > most)
        return reader_fail(reader, "the number is too big, expected at most %lld", (long long)most);
    reader->at = end;
    return true;
}

static void skip_comment(struct reader *reader)
{
    reader_skip_blanks(reader);
    if (str_starts(reader->at, "//"))
        reader->at += strcspn(reader->at, "\n");
}

void reader_skip_empty_lines(struct reader *reader)
{
    const char *start = reader->at;

    for (;;) {
        skip_comment(reader);
        if (*reader->at != '\n')
            break;
        start = ++reader->at;
    }
    if (*reader->at)
        reader->at = start;
}

bool reader_end_line(struct reader *reader)
{
    skip_comment(reader);
    if (*reader->at && *reader->at != '\n')
        return reader_expected(reader, "the end of the line");
    reader_skip_empty_lines(reader);
    return true;
}
