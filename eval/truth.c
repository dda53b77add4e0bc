#include "eval/truth.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

enum { NAMED = 5 }; /* files in one message */

/* --- names in a message ----------------------------------------------------------------------- */

struct names {
    struct str text;
    int64_t n;
};

static void add_name(struct names *names, const char *name)
{
    if (names->n++ < NAMED)
        str_printf(&names->text, "%s'%s'", names->n > 1 ? ", " : "",
                   str_safe(names->text.arena, name, 200));
}

static const char *list_names(const struct names *names)
{
    return arena_printf(names->text.arena, "%s%s", str_text(&names->text),
                        names->n > NAMED ? " ..." : "");
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* --- classes ---------------------------------------------------------------------------------- */

struct label_line {
    const char *name; /* "" = none */
    int label;
};

/* "FILE LABEL" or "LABEL"; the label is the last word. */
static bool parse_line(struct arena *arena, const char *text, size_t n, struct label_line *out)
{
    char *line = arena_strndup(arena, text, n), *word, *end;
    long label;

    while (n && strchr(" \t\r", line[n - 1]))
        line[--n] = '\0';
    word = line + n;
    while (word > line && !strchr(" \t", word[-1]))
        word--;
    errno = 0;
    label = strtol(word, &end, 10);
    if (end == word || *end || errno || label < 0 || label > INT_MAX / 2)
        return false;
    out->label = (int)label;
    for (n = (size_t)(word - line); n && strchr(" \t", line[n - 1]); n--)
        ;
    line[n] = '\0';
    out->name = file_name(line);
    return true;
}

static bool is_comment(const char *text, size_t n)
{
    size_t i = 0;

    while (i < n && strchr(" \t\r", text[i]))
        i++;
    return i == n || text[i] == '#';
}

/* All lines, with errors for those that are none. -1 after errors. */
static int64_t read_lines(struct ctx *ctx, const char *path, struct label_line **out)
{
    struct mapping mapping;
    const char *text, *end;
    int64_t n = 0, number = 0, n_wrong = 0;

    if (!file_map(ctx, path, &mapping))
        return -1;
    text = (const char *)mapping.data;
    end = text + mapping.size;
    for (const char *at = text; at < end; at++)
        n += *at == '\n';
    *out = arena_array(&ctx->perm, struct label_line, n + 1);
    n = 0;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((stop ? stop : end) - text);

        number++;
        if (!is_comment(text, length) && !parse_line(&ctx->perm, text, length, &(*out)[n++]) &&
            n_wrong++ < NAMED) {
            diag_error(ctx, DIAG_LABELS, NULL, "%s:%lld: '%s' is not a label",
                       str_safe(&ctx->perm, path, 4096), (long long)number,
                       str_safe(&ctx->perm, arena_strndup(&ctx->perm, text, length), 80));
            diag_help(ctx, "expected 'FILE LABEL' or 'LABEL', labels being 0, 1, 2 ...");
        }
        text += length + 1;
    }
    file_unmap(&mapping);
    return n_wrong ? -1 : n;
}

static bool take_in_order(struct ctx *ctx, const char *path, const struct label_line *lines,
                          int64_t n_lines, struct truth *out)
{
    if (n_lines != out->n) {
        diag_error(ctx, DIAG_LABELS, NULL, "%s has %lld labels, and there are %lld samples",
                   str_safe(&ctx->perm, path, 4096), (long long)n_lines, (long long)out->n);
        return false;
    }
    for (int64_t i = 0; i < out->n; i++)
        out->classes[i] = lines[i].label;
    return true;
}

static bool take_by_name(struct ctx *ctx, const char *path, const struct label_line *lines,
                         int64_t n_lines, const char *const *paths, struct truth *out)
{
    struct names unknown = { .text = { .arena = &ctx->perm } }, twice = unknown, missing = unknown;
    struct map places = { .arena = &ctx->perm };
    const char *safe = str_safe(&ctx->perm, path, 4096);

    for (int64_t i = 0; i < out->n; i++) {
        out->classes[i] = -1;
        map_set(&places, file_name(paths[i]), &out->classes[i]);
    }
    for (int64_t i = 0; i < n_lines; i++) {
        int *class = map_get(&places, lines[i].name);

        if (!class)
            add_name(&unknown, lines[i].name);
        else if (*class >= 0 && *class != lines[i].label)
            add_name(&twice, lines[i].name);
        else
            *class = lines[i].label;
    }
    for (int64_t i = 0; i < out->n; i++)
        if (out->classes[i] < 0)
            add_name(&missing, file_name(paths[i]));
    if (unknown.n)
        diag_error(ctx, DIAG_LABELS, NULL, "%s labels %lld file%s that the data does not have: %s",
                   safe, (long long)unknown.n, str_plural(unknown.n), list_names(&unknown));
    if (twice.n)
        diag_error(ctx, DIAG_LABELS, NULL, "%s has two different labels for %s", safe,
                   list_names(&twice));
    if (missing.n)
        diag_error(ctx, DIAG_LABELS, NULL, "%s has no label for %lld sample%s: %s", safe,
                   (long long)missing.n, str_plural(missing.n), list_names(&missing));
    return !unknown.n && !twice.n && !missing.n;
}

bool truth_read_classes(struct ctx *ctx, const char *path, const char *const *paths, int64_t n,
                        struct truth *out)
{
    struct label_line *lines;
    const int64_t n_lines = read_lines(ctx, path, &lines);
    bool ok, named = false;

    *out = (struct truth){ .n = n };
    if (n_lines < 0)
        return false;
    for (int64_t i = 0; i < n_lines; i++)
        named |= *lines[i].name != '\0';
    out->classes = arena_array(&ctx->perm, int, n);
    ok = named && paths ? take_by_name(ctx, path, lines, n_lines, paths, out)
                        : take_in_order(ctx, path, lines, n_lines, out);
    for (int64_t i = 0; ok && i < n; i++)
        if (out->classes[i] >= out->n_classes)
            out->n_classes = out->classes[i] + 1;
    return ok;
}
