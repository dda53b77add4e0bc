#include "driver/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/str.h"

static const char *const names[] = { "all", "calibration", "selection", "report", NULL };

const char *split_part_name(enum split_part part)
{
    return names[part];
}

bool split_parse(struct driver_state *driver, struct split *out)
{
    int part;

    *out = (struct split){ .list = option_text(&driver->args, OPTION_SPLIT, NULL) };
    if (!option_word(driver->ctx, &driver->args, OPTION_SAMPLES, names + 1, -1, &part))
        return false;
    out->part = (enum split_part)(part + 1);
    return out->part != SPLIT_ALL || !out->list || driver->args.command == COMMAND_QUANTIZE ||
           diag_error(driver->ctx, DIAG_USAGE, NULL, "--split has no effect without --samples");
}

/* --- by the rule ------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* FNV-1a, then the finaliser of splitmix64: the former alone hardly mixes the last letter. */
static uint64_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static enum split_part part_of_hash(uint64_t hash, bool calibrates_others)
{
    static const enum split_part quarters[] = { SPLIT_CALIBRATION, SPLIT_SELECTION, SPLIT_REPORT,
                                                SPLIT_REPORT };
    const enum split_part part = quarters[hash >> 62];

    return calibrates_others && part == SPLIT_CALIBRATION ? SPLIT_SELECTION : part;
}

struct ranked {
    uint64_t hash;
    int64_t index;
};

static int by_hash(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int64_t *choose_by_rule(struct ctx *ctx, const struct split *split,
                               const struct samples *samples, int64_t *n)
{
    const int64_t all = samples_count(samples);
    struct ranked *ranked = arena_array(&ctx->perm, struct ranked, all + 1);
    int64_t *chosen = arena_array(&ctx->perm, int64_t, all + 1);

    *n = 0;
    for (int64_t i = 0; i < all; i++) {
        const char *path = samples_path(samples, i);
        const uint64_t hash =
            hash_text(path ? base_name(path) : arena_printf(&ctx->perm, "%lld", (long long)i));

        if (part_of_hash(hash, split->calibrates_others) == split->part)
            ranked[(*n)++] = (struct ranked){ hash, i };
    }
    qsort(ranked, (size_t)*n, sizeof *ranked, by_hash);
    for (int64_t i = 0; i < *n; i++)
        chosen[i] = ranked[i].index;
    return chosen;
}

/* --- by a list -------------------------------------------------------------------------------- */

struct reading {
    struct ctx *ctx;
    const struct split *split;
    const struct samples *samples;
    struct map files; /* name -> its number + 1, as a pointer into `numbers` */
    int64_t *numbers;
    enum split_part *parts; /* [all] */
    int64_t *chosen, n;     /* of the part that is wanted */
    int line;
};

static bool wrong_line(const struct reading *r, const char *what, const char *found)
{
    return diag_error(r->ctx, DIAG_SPLIT, NULL, "%s:%d: %s '%s'",
                      str_safe(&r->ctx->perm, r->split->list, 4096), r->line, what,
                      str_safe(&r->ctx->perm, found, 200));
}

static bool add_sample(struct reading *r, enum split_part part, int64_t index)
{
    const char *number = arena_printf(&r->ctx->perm, "%lld", (long long)index);

    if (index < 0 || index >= samples_count(r->samples))
        return wrong_line(r, "there is no sample", number);
    if (r->parts[index] != SPLIT_ALL)
        return wrong_line(r, "here for the second time: sample", number);
    r->parts[index] = part;
    if (part == r->split->part)
        r->chosen[r->n++] = index;
    return true;
}

/* "3 17 40-52" */
static bool add_numbers(struct reading *r, enum split_part part, const char *text)
{
    while (*text) {
        char *end;
        const int64_t first = strtoll(text, &end, 10);
        const int64_t last = *end == '-' ? strtoll(end + 1, &end, 10) : first;

        if (last - first > samples_count(r->samples))
            return wrong_line(r, "there are fewer samples than", text);
        for (int64_t i = first; i <= last; i++)
            if (!add_sample(r, part, i))
                return false;
        text = end + strspn(end, " \t");
    }
    return true;
}

static bool read_line(struct reading *r, char *line)
{
    const size_t n = strcspn(line, " \t");
    const char *rest = line + n + strspn(line + n, " \t");
    const int64_t *number;
    int part = SPLIT_CALIBRATION;

    line[n] = '\0';
    while (names[part] && strcmp(names[part], line) != 0)
        part++;
    if (!names[part]) {
        wrong_line(r, "expected calibration, selection or report, found", line);
        return false;
    }
    number = map_get(&r->files, base_name(rest));
    if (number)
        return add_sample(r, (enum split_part)part, *number);
    if (!*rest || rest[strspn(rest, "0123456789- \t")] || !strchr("0123456789", *rest))
        return wrong_line(r, "there is no sample", rest);
    return add_numbers(r, (enum split_part)part, rest);
}

static void list_files(struct reading *r, int64_t all)
{
    r->files = (struct map){ .arena = &r->ctx->perm };
    r->numbers = arena_array(&r->ctx->perm, int64_t, all + 1);
    for (int64_t i = 0; i < all; i++) {
        const char *path = samples_path(r->samples, i);

        r->numbers[i] = i;
        if (path)
            map_set(&r->files, base_name(path), &r->numbers[i]);
    }
}

static int64_t *choose_by_list(struct ctx *ctx, const struct split *split,
                               const struct samples *samples, int64_t *n)
{
    const int64_t all = samples_count(samples);
    struct reading r = { .ctx = ctx, .split = split, .samples = samples };
    struct mapping mapping;
    char *text;
    bool ok = true;

    if (!file_map(ctx, split->list, &mapping))
        return NULL;
    text = arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
    file_unmap(&mapping);
    r.parts = arena_array(&ctx->perm, enum split_part, all + 1);
    r.chosen = arena_array(&ctx->perm, int64_t, all + 1);
    list_files(&r, all);
    while (*text && ok) {
        size_t length = strcspn(text, "\n");
        char *line = text + strspn(text, " \t\r");

        text += length + (text[length] == '\n');
        line[strcspn(line, "\r\n")] = '\0';
        r.line++;
        if (*line && *line != '#')
            ok = read_line(&r, line);
    }
    *n = r.n;
    return ok ? r.chosen : NULL;
}

/* --- both ------------------------------------------------------------------------------------- */

const int64_t *split_samples(struct ctx *ctx, const struct split *split,
                             const struct samples *samples, int64_t *n)
{
    const int64_t *chosen = split->list ? choose_by_list(ctx, split, samples, n)
                                        : choose_by_rule(ctx, split, samples, n);

    if (chosen && *n == 0) {
        diag_error(ctx, DIAG_SPLIT, NULL, "none of %lld sample%s is in the part '%s'",
                   (long long)samples_count(samples), str_plural(samples_count(samples)),
                   names[split->part]);
        if (split->list)
            diag_help(ctx, "%s has no line of it", str_safe(&ctx->perm, split->list, 4096));
        else
            diag_help(ctx, "give more samples, or a list: --split FILE (docs/guide/choose.md)");
        return NULL;
    }
    return chosen;
}

struct samples *split_open(struct ctx *ctx, const struct split *split, const char *path,
                           const struct function *fn, const struct preprocessing *how)
{
    struct samples *samples = samples_open(ctx, path, fn, how);
    const int64_t *chosen;
    int64_t n;

    if (!samples || split->part == SPLIT_ALL)
        return samples;
    chosen = split_samples(ctx, split, samples, &n);
    if (chosen) {
        samples_keep(samples, chosen, n);
        return samples;
    }
    samples_close(samples);
    return NULL;
}
