/* calib_text.c - reads TPU-MLIR's table: comments from '#', and rows "name threshold min max".
 * Fields stand apart by any blanks; the numbers are the last three, so that a name may hold blanks
 * itself. Sections that begin with "#int4" or "#weight" hold other things and end the reading. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "quantize/calib_forms.h"

enum { MAX_LINE = 1 << 16, N_NUMBERS = 3 };

struct reader {
    struct ctx *ctx;
    const char *path;
    struct map names; /* name -> tensor */
    int line;
    int capacity;
    struct calib_table *out;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Takes the last field off the line, which becomes shorter; NULL when nothing is left. */
static const char *last_field(char *line)
{
    size_t end = strlen(line), start;

    while (end > 0 && is_blank(line[end - 1]))
        end--;
    line[end] = '\0';
    for (start = end; start > 0 && !is_blank(line[start - 1]);)
        start--;
    if (start == end)
        return NULL;
    if (start > 0)
        line[start - 1] = '\0';
    return line + start;
}

static bool row_error(struct reader *r, const char *format, const char *what)
{
    calib_error(r->ctx, r->path, "line %d: %s", r->line,
                arena_printf(&r->ctx->perm, format, str_safe(&r->ctx->perm, what, 80)));
    diag_help(r->ctx, "a row is: name threshold min max");
    return false;
}

static bool take_number(struct reader *r, char *line, double *out)
{
    const char *field = last_field(line);
    char *end;

    if (!field || field == line)
        return row_error(r, "it has less than four fields%s", "");
    *out = strtod(field, &end);
    if (end == field || *end || !isfinite(*out))
        return row_error(r, "'%s' is not a finite number", field);
    return true;
}

static void append(struct reader *r, const struct calib_tensor *tensor)
{
    struct calib_table *table = r->out;

    if (table->n == r->capacity) {
        struct calib_tensor *at;

        r->capacity = r->capacity ? 2 * r->capacity : 64;
        at = arena_array(&r->ctx->perm, struct calib_tensor, r->capacity);
        if (table->n)
            memcpy(at, table->at, (size_t)table->n * sizeof *at);
        table->at = at;
    }
    table->at[table->n++] = *tensor;
}

static bool take_row(struct reader *r, char *line)
{
    double number[N_NUMBERS]; /* threshold, min, max */
    struct calib_tensor tensor = { .shape = "", .n_thresholds = 1 };
    size_t n;

    for (int i = N_NUMBERS - 1; i >= 0; i--)
        if (!take_number(r, line, &number[i]))
            return false;
    while (is_blank(*line))
        line++;
    for (n = strlen(line); n > 0 && is_blank(line[n - 1]);)
        n--;
    if (n == 0)
        return row_error(r, "it has no name%s", "");
    tensor.name = str_unescape(&r->ctx->perm, line, n);
    if (!tensor.name)
        return row_error(r, "'%s' has an escape other than \\xNN", line);
    if (map_get(&r->names, tensor.name))
        return row_error(r, "a second row for '%s'", tensor.name);
    if (number[0] < 0)
        return row_error(r, "the threshold of '%s' is negative", tensor.name);
    if (number[1] > number[2])
        return row_error(r, "the min of '%s' is greater than its max", tensor.name);
    map_set(&r->names, tensor.name, r);
    tensor.min = number[1];
    tensor.max = number[2];
    tensor.thresholds = arena_new(&r->ctx->perm, struct calib_threshold);
    *tensor.thresholds = (struct calib_threshold){ "", number[0] };
    append(r, &tensor);
    return true;
}

/* False when what follows is no table of thresholds. */
static bool take_comment(struct reader *r, const char *line)
{
    static const char samples[] = "# sample number:";

    if (str_starts(line, samples)) {
        const long long n = strtoll(line + strlen(samples), NULL, 10);

        r->out->n_samples = n > 0 && n < INT64_MAX ? n : 0;
    }
    return !str_starts(line, "#int4") && !str_starts(line, "#weight");
}

bool calib_read_text(struct ctx *ctx, const char *path, const char *text, size_t n,
                     struct calib_table *out)
{
    struct arena arena = { NULL };
    struct reader r = { .ctx = ctx, .path = path, .out = out, .names = { .arena = &arena } };
    const char *at = text, *end = text + n;
    bool ok = true, table = true;

    while (at < end && ok && table) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((newline ? newline : end) - at);
        char *line;

        r.line++;
        if (length > MAX_LINE || memchr(at, '\0', length)) {
            ok = row_error(&r, "it is not a line of text%s", "");
            break;
        }
        line = arena_strndup(&arena, at, length);
        at += length + 1;
        while (is_blank(*line))
            line++;
        if (*line == '#')
            table = take_comment(&r, line);
        else if (*line)
            ok = take_row(&r, line);
    }
    if (ok && out->n == 0)
        ok = calib_error(ctx, path, "it has no rows");
    arena_release(&arena);
    return ok;
}
