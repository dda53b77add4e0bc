/* output.c - the second half of file.h: files out. */
#define _GNU_SOURCE /* renameat2 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/obsolete.h"
#include "base/str.h"
#include "base/temporary.h"

enum { BUFFER_BYTES = 1 << 20, RESERVE_MAX = 64 * 1024 };

/* What stands where the file shall stand. */
enum place { AS_IT_WAS, NEW, EXCHANGED, REPLACED };

struct writer {
    struct writer *next;
    const char *path; /* where the file will stand */
    const char
        *temporary; /* where it is written (once EXCHANGED: the old one); NULL = nothing there */
    enum place place;
    int fd;           /* -1 = not open; holds the lock of the temporary file */
    int error;        /* errno of the first failure, 0 = none */
    uint64_t flushed; /* bytes handed to the kernel */
    size_t n;         /* bytes in the buffer */
    char *buffer;
    struct arena *arena; /* lives as long as the set */
    uint32_t crc32;      /* of what was flushed */
    bool obsolete;       /* no file is written: what stands there goes */
};

struct made_folder {
    const char *path;
    struct made_folder *next;
};

/* Makes the folders of path; an existing one is fine. 0, or errno. */
static int make_folders(struct output_set *set, const char *path)
{
    char *folder = arena_strdup(&set->ctx->perm, path);
    int error = 0;

    for (char *p = folder + 1; *folder && *p && (!error || error == EEXIST); p++)
        if (*p == '/') {
            struct made_folder *made = arena_new(&set->ctx->perm, struct made_folder);

            *p = '\0';
            error = temporary_make_folder(&set->ctx->perm, folder, &made->path);
            *p = '/';
            made->next = set->folders;
            set->folders = made;
        }
    return error == EEXIST ? 0 : error;
}

/* What dead processes left in the folder goes, once for each folder of a set. */
static void sweep_folder(struct output_set *set, const char *path)
{
    const char *folder = folder_of(&set->ctx->perm, path);

    if (!set->swept || strcmp(set->swept, folder) != 0)
        temporary_sweep(folder);
    set->swept = folder;
}

struct writer *output_open(struct output_set *set, const char *path)
{
    struct writer *w = arena_new(&set->ctx->perm, struct writer);

    w->arena = &set->ctx->perm;
    w->path = arena_strdup(&set->ctx->perm, path);
    w->buffer = block_alloc(BUFFER_BYTES, 0);
    w->fd = -1;
    w->error = make_folders(set, path);
    if (!w->error) {
        sweep_folder(set, path);
        w->fd = temporary_open(&set->ctx->perm, path, &w->temporary);
        w->error = w->fd < 0 ? errno : 0;
    }
    w->next = set->writers;
    set->writers = w;
    set->is_finished = false;
    return w;
}

void output_obsolete(struct output_set *set, const char *path)
{
    struct writer *w = arena_new(&set->ctx->perm, struct writer);

    *w = (struct writer){ .next = set->writers,
                          .path = arena_strdup(&set->ctx->perm, path),
                          .fd = -1,
                          .obsolete = true };
    set->writers = w;
    set->is_finished = false;
}

static void flush(struct writer *w)
{
    size_t done = 0;

    w->crc32 = (uint32_t)crc32_z(w->crc32, (const uint8_t *)w->buffer, w->n);
    while (done < w->n && !w->error) {
        const ssize_t n = write(w->fd, w->buffer + done, w->n - done);

        if (n < 0 && errno != EINTR)
            w->error = errno;
        else if (n > 0)
            done += (size_t)n;
    }
    w->flushed += w->n;
    w->n = 0;
}

void writer_write(struct writer *w, const void *bytes, size_t n)
{
    const char *from = bytes;

    while (n) {
        const size_t room = BUFFER_BYTES - w->n, part = n < room ? n : room;

        memcpy(w->buffer + w->n, from, part);
        w->n += part;
        from += part;
        n -= part;
        if (w->n == BUFFER_BYTES)
            flush(w);
    }
}

void writer_text(struct writer *w, const char *text)
{
    writer_write(w, text, strlen(text));
}

void writer_printf(struct writer *w, const char *format, ...)
{
    struct arena temporary = { NULL };
    struct str text = { .arena = &temporary };
    va_list args;

    va_start(args, format);
    str_vprintf(&text, format, args);
    va_end(args);
    writer_write(w, str_text(&text), text.n);
    arena_release(&temporary);
}

char *writer_reserve(struct writer *w, size_t n)
{
    if (n > RESERVE_MAX)
        abort();
    if (BUFFER_BYTES - w->n < n)
        flush(w);
    return w->buffer + w->n;
}

void writer_advance(struct writer *w, size_t n)
{
    w->n += n;
}

uint64_t writer_size(const struct writer *w)
{
    return w->flushed + w->n;
}

uint32_t writer_crc32(struct writer *w)
{
    flush(w);
    return w->crc32;
}

static void free_buffer(struct writer *w)
{
    block_free(w->buffer);
    w->buffer = NULL;
}

/* The set is a stack; files are renamed in the order in which they were opened. */
static struct writer *reversed(struct writer *w)
{
    struct writer *first = NULL;

    while (w) {
        struct writer *next = w->next;

        w->next = first;
        first = w;
        w = next;
    }
    return first;
}

/* Some file systems say when a file is closed that it could not be written. A copy of the
 * descriptor is closed, as the file's lock ends with the last one. */
static bool close_copy(int fd)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return copy >= 0 && close(copy) == 0;
}

/* Everything that can fail before a file is replaced. */
static bool finish(struct output_set *set, struct writer *w)
{
    struct stat st;

    if (w->obsolete)
        return true;
    flush(w);
    free_buffer(w);
    if (!w->error && fsync(w->fd) != 0 && errno != EINVAL)
        w->error = errno;
    if (!w->error && !close_copy(w->fd))
        w->error = errno;
    if (!w->error && stat(w->path, &st) == 0 && S_ISDIR(st.st_mode))
        w->error = EISDIR;
    return !w->error || diag_error(set->ctx, DIAG_FILE_WRITE, NULL, "cannot write %s: %s",
                                   str_safe(&set->ctx->perm, w->path, 4096), strerror(w->error));
}

bool output_finish(struct output_set *set)
{
    bool ok = true;

    if (set->is_finished)
        return true;
    set->writers = reversed(set->writers);
    for (struct writer *w = set->writers; w; w = w->next)
        ok = finish(set, w) && ok;
    if (!ok)
        output_abort(set);
    set->is_finished = ok;
    return ok;
}

/* --- the renaming: nothing here allocates ----------------------------------------------------- */

/* Where there is a file already, the two change places, so that the step can be undone. */
static bool place(struct writer *w)
{
    if (w->obsolete)
        return true;
    if (renameat2(AT_FDCWD, w->temporary, AT_FDCWD, w->path, RENAME_EXCHANGE) == 0) {
        w->place = EXCHANGED;
        return true;
    }
    if (errno != ENOENT && errno != EINVAL && errno != ENOSYS)
        return false;
    w->place = errno == ENOENT ? NEW : REPLACED;
    if (rename(w->temporary, w->path) == 0)
        return true;
    w->place = AS_IT_WAS;
    return false;
}

/* False if the old file is lost: the file system cannot exchange files. */
static bool undo(struct writer *w)
{
    if (w->place == EXCHANGED &&
        renameat2(AT_FDCWD, w->temporary, AT_FDCWD, w->path, RENAME_EXCHANGE) != 0)
        return false;
    if (w->place == NEW && rename(w->path, w->temporary) != 0)
        return false;
    if (w->place == REPLACED)
        return false;
    w->place = AS_IT_WAS;
    return true;
}

/* A signal that comes meanwhile counts as a failure. *failed is the writer that could not be
 * placed. */
static bool place_all(struct output_set *set, const struct writer **failed, int *error)
{
    bool ok = true;

    *failed = NULL;
    for (struct writer *w = set->writers; w && ok; w = w->next) {
        ok = place(w);
        if (!ok) {
            *error = errno;
            *failed = w;
        }
    }
    if (ok && !interrupt_held())
        return true;
    set->writers = reversed(set->writers); /* the last one first: two may have one path */
    for (struct writer *w = set->writers; w; w = w->next)
        undo(w);
    set->writers = reversed(set->writers);
    return false;
}

bool output_commit(struct output_set *set)
{
    const struct writer *failed;
    int error = 0;
    bool ok;

    if (!output_finish(set))
        return false;
    interrupt_hold();
    ok = place_all(set, &failed, &error);
    if (ok)
        for (const struct made_folder *made = set->folders; made; made = made->next)
            temporary_forget(made->path);
    for (const struct writer *w = set->writers; w; w = w->next)
        if (w->place == NEW || w->place == REPLACED)
            temporary_forget(w->temporary);
        else if (ok && w->obsolete)
            unlink(w->path); /* if it cannot go, it was no file of ours */
    interrupt_release();
    if (failed) {
        diag_error(set->ctx, DIAG_FILE_WRITE, NULL, "cannot write %s: %s",
                   str_safe(&set->ctx->perm, failed->path, 4096), strerror(error));
        for (const struct writer *w = set->writers; w; w = w->next)
            if (w->place != AS_IT_WAS)
                diag_note(set->ctx, "%s is new already", str_safe(&set->ctx->perm, w->path, 4096));
    }
    output_abort(set);
    return ok;
}

void output_abort(struct output_set *set)
{
    for (struct writer *w = set->writers; w; w = w->next) {
        free_buffer(w);
        temporary_remove(w->temporary);
        if (w->fd >= 0)
            memory_close(w->fd);
    }
    for (const struct made_folder *made = set->folders; made; made = made->next)
        temporary_remove(made->path);
    *set = (struct output_set){ .ctx = set->ctx };
}
