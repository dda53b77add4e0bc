#define _GNU_SOURCE /* openat2 through syscall, O_PATH */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "base/str.h"

static const uint8_t empty_file[1];

static bool map_fd(int fd, size_t size, struct mapping *out)
{
    void *data = (void *)(uintptr_t)empty_file;

    if (size) {
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            return false;
    }
    out->data = data;
    out->size = size;
    return true;
}

/* A pipe cannot be mapped: its bytes go into an anonymous file first. */
static bool map_stream(int fd, struct mapping *out)
{
    const int copy = memfd_create("relayc-input", MFD_CLOEXEC);
    char buffer[65536];
    size_t size = 0;
    ssize_t n;
    bool ok;

    if (copy < 0)
        return false;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        if (write(copy, buffer, (size_t)n) != n)
            break;
        size += (size_t)n;
    }
    ok = n == 0 && map_fd(copy, size, out);
    close(copy);
    return ok;
}

bool file_map(struct ctx *ctx, const char *path, struct mapping *out)
{
    const bool standard_input = strcmp(path, "-") == 0;
    const int fd = standard_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    const char *safe = str_safe(&ctx->perm, path, 4096);
    struct stat st;
    bool ok = false;

    *out = (struct mapping){ empty_file, 0 };
    if (fd < 0)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot open %s: %s", safe, strerror(errno));
    if (fstat(fd, &st) != 0)
        diag_error(ctx, DIAG_FILE_READ, NULL, "cannot read %s: %s", safe, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s is a folder, a file is needed", safe);
    else if (S_ISREG(st.st_mode))
        ok = map_fd(fd, (size_t)st.st_size, out) ||
             diag_error(ctx, DIAG_FILE_READ, NULL, "cannot map %s: %s", safe, strerror(errno));
    else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || standard_input)
        ok = map_stream(fd, out) ||
             diag_error(ctx, DIAG_FILE_READ, NULL, "cannot read %s: %s", safe, strerror(errno));
    else
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s is a device, a file is needed", safe);
    close(fd);
    return ok;
}

static int open_beneath(int dir, const char *relative)
{
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                  .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };

    return (int)syscall(SYS_openat2, dir, relative, &how, sizeof how);
}

static const char *beneath_failure(int error)
{
    switch (error) {
    case EXDEV: return "the path leaves the model's folder";
    case ELOOP: return "a part of the path is a symbolic link";
    case ENOSYS: return "this kernel has no openat2, which keeps external data inside the folder";
    default: return strerror(error);
    }
}

bool file_map_beneath(struct ctx *ctx, const char *dir, const char *relative, struct mapping *out,
                      const char **reason)
{
    const int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd = dir_fd < 0 ? -1 : open_beneath(dir_fd, relative);
    const int error = errno;
    struct stat st;
    bool ok = false;

    *out = (struct mapping){ empty_file, 0 };
    if (dir_fd >= 0)
        close(dir_fd);
    if (fd < 0) {
        *reason = arena_strdup(&ctx->perm, beneath_failure(error));
        return false;
    }
    if (fstat(fd, &st) != 0)
        *reason = arena_strdup(&ctx->perm, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        *reason = "not a regular file";
    else if (st.st_nlink != 1)
        *reason = "the file has several hard links";
    else if (!map_fd(fd, (size_t)st.st_size, out))
        *reason = arena_strdup(&ctx->perm, strerror(errno));
    else
        ok = true;
    close(fd);
    return ok;
}

void file_forget(const struct mapping *mapping, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (offset + page - 1) / page * page, end = (offset + size) / page * page;

    if (end > first && end <= mapping->size)
        madvise((void *)(uintptr_t)(mapping->data + first), end - first, MADV_DONTNEED);
}

void file_unmap(struct mapping *mapping)
{
    if (mapping->size)
        munmap((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (struct mapping){ empty_file, 0 };
}

enum { BUFFER_BYTES = 1 << 20, RESERVE_MAX = 64 * 1024 };

struct writer {
    struct writer *next;
    const char *path;      /* where the file will stand */
    const char *temporary; /* where it is written; NULL once renamed or never made */
    int fd;                /* -1 = not open */
    int error;             /* errno of the first failure, 0 = none */
    uint64_t flushed;      /* bytes handed to the kernel */
    size_t n;              /* bytes in the buffer */
    char *buffer;
    struct arena *arena; /* lives as long as the set */
    uint32_t crc32;      /* of what was flushed */
};

/* The temporary files and folders that exist now, for the signal handler; a slot is claimed and
 * freed by a single pointer store. What is beyond the table stays behind when a signal comes. */
enum { MAX_TEMPORARIES = 128 };
static const char *volatile temporaries[MAX_TEMPORARIES];

static void replace_temporary(const char *old, const char *new)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i] == old) {
            temporaries[i] = new;
            return;
        }
}

void temporary_remember(const char *path)
{
    replace_temporary(NULL, path);
}

void temporary_forget(const char *path)
{
    if (path)
        replace_temporary(path, NULL);
}

/* Folders last, when they are empty; unlink leaves folders alone, rmdir files. */
void temporary_remove_all(void)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i])
            unlink(temporaries[i]);
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i])
            rmdir(temporaries[i]);
}

static void on_interrupt(int signal_number)
{
    temporary_remove_all();
    _exit(128 + signal_number);
}

void output_clean_on_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Makes the folders of path; an existing one is fine. */
static void make_folders(struct ctx *ctx, const char *path)
{
    char *folder = arena_strdup(&ctx->perm, path);

    for (char *p = folder + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            (void)mkdir(folder, 0777);
            *p = '/';
        }
}

struct writer *output_open(struct output_set *set, const char *path)
{
    struct writer *w = arena_new(&set->ctx->perm, struct writer);
    char *temporary = arena_printf(&set->ctx->perm, "%s.relayc-XXXXXX", path);
    const mode_t mask = umask(0);

    umask(mask);
    w->arena = &set->ctx->perm;
    w->path = arena_strdup(&set->ctx->perm, path);
    make_folders(set->ctx, path);
    w->fd = mkostemp(temporary, O_CLOEXEC);
    if (w->fd < 0)
        w->error = errno;
    else
        temporary_remember(w->temporary = temporary);
    if (w->fd >= 0 && fchmod(w->fd, 0666 & ~mask) != 0)
        w->error = errno;
    w->buffer = malloc(BUFFER_BYTES);
    if (!w->buffer)
        out_of_memory(BUFFER_BYTES);
    w->next = set->writers;
    set->writers = w;
    return w;
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

/* The temporary file is gone: renamed or removed. */
static void forget(struct writer *w)
{
    temporary_forget(w->temporary);
    w->temporary = NULL;
}

static void close_writer(struct writer *w)
{
    if (w->fd >= 0 && close(w->fd) != 0 && !w->error)
        w->error = errno;
    w->fd = -1;
    free(w->buffer);
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

/* Everything that can fail before a file is replaced. */
static bool finish(struct output_set *set, struct writer *w)
{
    struct stat st;

    flush(w);
    if (!w->error && fsync(w->fd) != 0 && errno != EINVAL)
        w->error = errno;
    close_writer(w);
    if (!w->error && stat(w->path, &st) == 0 && S_ISDIR(st.st_mode))
        w->error = EISDIR;
    return !w->error || diag_error(set->ctx, DIAG_FILE_WRITE, NULL, "cannot write %s: %s",
                                   str_safe(&set->ctx->perm, w->path, 4096), strerror(w->error));
}

bool output_commit(struct output_set *set)
{
    bool ok = true;

    set->writers = reversed(set->writers);
    for (struct writer *w = set->writers; w; w = w->next)
        ok = finish(set, w) && ok;
    for (struct writer *w = set->writers; w && ok; w = w->next) {
        if (rename(w->temporary, w->path) == 0) {
            forget(w);
            continue;
        }
        ok = diag_error(set->ctx, DIAG_FILE_WRITE, NULL, "cannot write %s: %s",
                        str_safe(&set->ctx->perm, w->path, 4096), strerror(errno));
        for (const struct writer *done = set->writers; done != w; done = done->next)
            diag_note(set->ctx, "%s is new already", str_safe(&set->ctx->perm, done->path, 4096));
    }
    output_abort(set);
    return ok;
}

void output_abort(struct output_set *set)
{
    for (struct writer *w = set->writers; w; w = w->next) {
        close_writer(w);
        if (w->temporary)
            unlink(w->temporary);
        forget(w);
    }
    set->writers = NULL;
}
