#define _GNU_SOURCE /* F_OFD_SETLK */
#include "search/trials.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/str.h"

enum { VERSION = 1, MARK_DIGITS = 32 };

/* Bytes that are locked lie behind any file's end: one for appending, one for each claim. */
static const off_t lock_of_appending = (off_t)1 << 40, first_claim = ((off_t)1 << 40) + 1;

struct trials {
    struct ctx *ctx;
    const char *path; /* NULL: in memory only */
    int fd;
    struct mark of;
    off_t read_up_to; /* whole lines before it are in the table */
    int n_lines;
    struct mark_table table; /* key -> struct judged * */
    struct judged **at;
    int n, capacity;
};

/* --- the file --------------------------------------------------------------------------------- */

static bool cannot(struct trials *t, const char *doing)
{
    return diag_error(t->ctx, DIAG_FILE_WRITE, NULL, "cannot %s %s: %s", doing,
                      str_safe(&t->ctx->perm, t->path, 400), strerror(errno));
}

/* A lock of this open file, not of the process: other descriptors do not disturb it. */
static bool lock(struct trials *t, off_t at, int type, bool wait)
{
    struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
    int status;

    do
        status = fcntl(t->fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    while (status != 0 && errno == EINTR);
    return status == 0;
}

static off_t claim_of(struct mark key)
{
    return first_claim + (off_t)(key.a >> 24); /* 40 bits: two trials in one hardly ever */
}

static void mark_text(struct mark mark, char *text)
{
    snprintf(text, MARK_DIGITS + 1, "%016llx%016llx", (unsigned long long)mark.a,
             (unsigned long long)mark.b);
}

static bool mark_parse(const char *text, struct mark *out)
{
    unsigned long long a, b;
    int n = 0;

    if (!text || strlen(text) != MARK_DIGITS || sscanf(text, "%16llx%16llx%n", &a, &b, &n) != 2 ||
        n != MARK_DIGITS)
        return false;
    *out = (struct mark){ a, b };
    return true;
}

/* All of it, or an error. */
static bool write_all(struct trials *t, const char *text, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(t->fd, text, n);

        if (done < 0 && errno != EINTR)
            return cannot(t, "write");
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
    }
    return fdatasync(t->fd) == 0 || cannot(t, "sync");
}

/* Where the last whole line ends. */
static bool end_of_lines(struct trials *t, off_t *out)
{
    struct stat info;
    off_t end;
    char c = 0;

    if (fstat(t->fd, &info) != 0)
        return cannot(t, "read");
    for (end = info.st_size; end > 0; end--) {
        if (pread(t->fd, &c, 1, end - 1) != 1)
            return cannot(t, "read");
        if (c == '\n')
            break;
    }
    *out = end;
    return true;
}

/* Under the lock of appending: a line that somebody left unfinished is cut off. */
static bool append(struct trials *t, const char *text)
{
    off_t end;

    return end_of_lines(t, &end) && (ftruncate(t->fd, end) == 0 || cannot(t, "write")) &&
           (lseek(t->fd, end, SEEK_SET) == end || cannot(t, "write")) &&
           write_all(t, text, strlen(text));
}

/* --- the table -------------------------------------------------------------------------------- */

static void add_trial(struct trials *t, const struct judged *trial)
{
    struct judged *known = mark_find(&t->table, trial->key);

    if (known)
        return; /* two processes did it, or a file was glued: the numbers are the same */
    if (t->n == t->capacity) {
        const int capacity = t->capacity ? 2 * t->capacity : 64;
        struct judged **grown = arena_array(&t->ctx->perm, struct judged *, capacity);

        if (t->n)
            memcpy(grown, t->at, (size_t)t->n * sizeof(struct judged *));
        t->at = grown;
        t->capacity = capacity;
    }
    known = arena_memdup(&t->ctx->perm, trial, sizeof *trial);
    t->at[t->n++] = known;
    mark_set(&t->table, trial->key, known);
}

/* --- lines ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t offset;
    bool optional; /* not written if it is NaN: without --metric there is no score of the task */
} numbers[] = {
    { "loss", offsetof(struct score, loss), false },
    { "cos", offsetof(struct score, cos), false },
    { "snr", offsetof(struct score, snr), false },
    { "mse", offsetof(struct score, mse), false },
    { "task", offsetof(struct score, task), true },
    { "seconds", offsetof(struct score, seconds), false },
};

enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

/* Numbers as strings where JSON has none for them. */
static void add_number(struct str *line, const char *name, double number)
{
    if (isfinite(number))
        str_printf(line, ", \"%s\": %.17g", name, number);
    else
        str_printf(line, ", \"%s\": \"%s\"", name,
                   isnan(number) ? "nan"
                   : number > 0  ? "inf"
                                 : "-inf");
}

static const char *line_of(struct arena *arena, struct mark key, const char *what,
                           const struct score *score)
{
    struct str line = { .arena = arena };
    char text[MARK_DIGITS + 1], *quoted;
    cJSON *name = cJSON_CreateString(what);

    quoted = name ? cJSON_PrintUnformatted(name) : NULL;
    if (!quoted)
        out_of_memory(0);
    mark_text(key, text);
    str_printf(&line, "{\"key\": \"%s\", \"what\": %s", text, quoted);
    for (int i = 0; i < N_NUMBERS; i++) {
        double number;

        memcpy(&number, (const char *)score + numbers[i].offset, sizeof number);
        if (!numbers[i].optional || !isnan(number))
            add_number(&line, numbers[i].name, number);
    }
    str_add(&line, "}\n");
    cJSON_free(quoted);
    cJSON_Delete(name);
    return str_text(&line);
}

static bool read_number(const cJSON *json, double *out)
{
    if (cJSON_IsNumber(json)) {
        *out = json->valuedouble;
        return true;
    }
    if (!cJSON_IsString(json))
        return false;
    *out = strtod(json->valuestring, NULL);
    return !isfinite(*out);
}

static bool malformed(struct trials *t, const char *what)
{
    diag_error(t->ctx, DIAG_SEARCH_LOG, NULL, "%s:%d: %s", str_safe(&t->ctx->perm, t->path, 400),
               t->n_lines, what);
    diag_help(t->ctx, "remove the line, or give another -o");
    return false;
}

static bool read_trial(struct trials *t, const cJSON *json)
{
    const cJSON *key = cJSON_GetObjectItemCaseSensitive(json, "key");
    const cJSON *what = cJSON_GetObjectItemCaseSensitive(json, "what");
    struct judged trial = { .line = t->n_lines };

    if (!mark_parse(cJSON_GetStringValue(key), &trial.key) || !cJSON_IsString(what))
        return malformed(t, "a trial has a \"key\" of 32 digits, and a \"what\"");
    for (int i = 0; i < N_NUMBERS; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, numbers[i].name);
        double number = NAN;

        if (!(numbers[i].optional && !item) && !read_number(item, &number))
            return malformed(
                t, arena_printf(&t->ctx->perm, "\"%s\" is not a number", numbers[i].name));
        memcpy((char *)&trial.score + numbers[i].offset, &number, sizeof number);
    }
    trial.what = arena_strdup(&t->ctx->perm, what->valuestring);
    add_trial(t, &trial);
    return true;
}

static bool read_head(struct trials *t, const cJSON *json)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "relayc_search");
    const cJSON *of = cJSON_GetObjectItemCaseSensitive(json, "of");
    struct mark mark;

    if (!cJSON_IsNumber(version) || version->valueint != VERSION ||
        !mark_parse(cJSON_GetStringValue(of), &mark))
        return malformed(t, "this is not a log of relayc search, or it is from another version");
    if (mark_equal(mark, t->of))
        return true;
    diag_error(t->ctx, DIAG_SEARCH_LOG, NULL,
               "%s has trials of another model, data, calibration, measure or machine",
               str_safe(&t->ctx->perm, t->path, 400));
    diag_help(t->ctx, "give another -o, or remove the file");
    return false;
}

static bool read_line(struct trials *t, const char *text, size_t n)
{
    cJSON *json = cJSON_ParseWithLength(text, n);
    bool ok;

    t->n_lines++;
    if (!cJSON_IsObject(json))
        ok = malformed(t, "the line is no JSON object");
    else
        ok = t->n_lines == 1 ? read_head(t, json) : read_trial(t, json);
    cJSON_Delete(json);
    return ok;
}

bool trials_refresh(struct trials *t)
{
    struct stat info;
    char *text;
    size_t n, at = 0;
    bool ok = true;

    if (!t->path)
        return true;
    if (fstat(t->fd, &info) != 0)
        return cannot(t, "read");
    if (info.st_size <= t->read_up_to)
        return true;
    n = (size_t)(info.st_size - t->read_up_to);
    text = malloc(n);
    if (!text)
        out_of_memory(n);
    for (size_t done = 0; done < n && ok;) {
        const ssize_t got = pread(t->fd, text + done, n - done, t->read_up_to + (off_t)done);

        if (got < 0 && errno != EINTR)
            ok = cannot(t, "read");
        if (got == 0)
            n = done; /* cut off in between */
        done += got > 0 ? (size_t)got : 0;
    }
    while (ok && at < n) {
        const char *end = memchr(text + at, '\n', n - at);

        if (!end)
            break; /* not finished yet, or never */
        ok = read_line(t, text + at, (size_t)(end - text) - at);
        at = (size_t)(end - text) + 1;
    }
    t->read_up_to += (off_t)at;
    free(text);
    return ok;
}

/* --- use -------------------------------------------------------------------------------------- */

static bool begin_file(struct trials *t)
{
    char of[MARK_DIGITS + 1];
    off_t end;
    bool ok;

    if (!lock(t, lock_of_appending, F_WRLCK, true))
        return cannot(t, "lock");
    mark_text(t->of, of);
    ok = end_of_lines(t, &end) &&
         (end > 0 ||
          append(t, arena_printf(&t->ctx->scratch, "{\"relayc_search\": %d, \"of\": \"%s\"}\n",
                                 VERSION, of)));
    lock(t, lock_of_appending, F_UNLCK, false);
    return ok && trials_refresh(t);
}

struct trials *trials_open(struct ctx *ctx, const char *path, struct mark of)
{
    struct trials *t = arena_new(&ctx->perm, struct trials);

    *t = (struct trials){ .ctx = ctx, .path = path, .fd = -1, .of = of };
    t->table.arena = &ctx->perm;
    if (!path)
        return t;
    t->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        cannot(t, "open");
        return NULL;
    }
    if (begin_file(t))
        return t;
    trials_close(t);
    return NULL;
}

const struct judged *trials_find(const struct trials *t, struct mark key)
{
    return mark_find(&t->table, key);
}

bool trials_claim(struct trials *t, struct mark key)
{
    if (!t->path)
        return true;
    if (!lock(t, claim_of(key), F_WRLCK, false))
        return false;
    /* Whoever had it may have finished it since the file was read. */
    if (trials_refresh(t) && !trials_find(t, key))
        return true;
    trials_give_back(t, key);
    return false;
}

void trials_give_back(struct trials *t, struct mark key)
{
    if (t->path)
        lock(t, claim_of(key), F_UNLCK, false);
}

bool trials_add(struct trials *t, struct mark key, const char *what, const struct score *score)
{
    bool ok = true;

    if (!t->path) {
        const struct judged trial = { key, arena_strdup(&t->ctx->perm, what), *score, 0 };

        add_trial(t, &trial);
        return true;
    }
    if (!lock(t, lock_of_appending, F_WRLCK, true))
        return cannot(t, "lock");
    ok = append(t, line_of(&t->ctx->scratch, key, what, score));
    lock(t, lock_of_appending, F_UNLCK, false);
    ok = ok && trials_refresh(t);
    trials_give_back(t, key);
    return ok;
}

int trials_count(const struct trials *t)
{
    return t->n;
}

const struct judged *trials_at(const struct trials *t, int i)
{
    return t->at[i];
}

void trials_close(struct trials *t)
{
    if (t && t->fd >= 0)
        close(t->fd);
    if (t)
        t->fd = -1;
}
