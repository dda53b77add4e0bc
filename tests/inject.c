/* inject.c - a library for LD_PRELOAD that lets one call of the C library fail, or all from one on.
 *
 *   INJECT=memory:17    the 17th allocation fails, INJECT=memory:17+ all from the 17th on
 *   INJECT=io:17        likewise calls that have to do with files; INJECT=spawn:1 threads and
 * processes INJECT_COUNT=FILE   at the end, how many calls there were ("memory 800\nio 90\n...")
 *
 * Standard error always works: the message must get there. Where all calls fail, what removes files
 * works, and of renames the first fails only: they undo what was done. Processes that the program
 * starts are left alone. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/inject.h"

enum kind { MEMORY, IO, SPAWN, KINDS };

static const char *const names[KINDS] = { "memory", "io", "spawn" };

static atomic_long counts[KINDS];
static enum kind failing = KINDS;
static long at;
static bool and_later;

static void read_one(const char *wish)
{
    for (int i = 0; i < KINDS; i++) {
        const size_t n = strlen(names[i]);
        char *end;

        if (strncmp(wish, names[i], n) != 0 || wish[n] != ':')
            continue;
        at = strtol(wish + n + 1, &end, 10);
        and_later = *end == '+';
        failing = (enum kind)i;
    }
}

/* Before main, but after the libraries it needs are there: what they allocate at their start counts
 * for nobody. */
__attribute__((constructor)) static void read_wish(void)
{
    const char *wish = getenv("INJECT");

    if (wish)
        read_one(wish);
    unsetenv("INJECT");
    unsetenv("LD_PRELOAD");
    for (int i = 0; i < KINDS; i++)
        atomic_store(&counts[i], 0);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("INJECT_COUNT");
    FILE *file;

    failing = KINDS;
    file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (int i = 0; i < KINDS; i++)
        fprintf(file, "%s %ld\n", names[i], atomic_load(&counts[i]));
    fclose(file);
}

/* --- for the program itself, which finds these by dlsym --------------------------------------- */

static atomic_long n_live;

void inject_begin(const char *wish)
{
    failing = KINDS;
    for (int i = 0; i < KINDS; i++)
        atomic_store(&counts[i], 0);
    if (wish)
        read_one(wish);
}

static const char *const *spared; /* NULL: nobody */

void inject_spare(const char *const *libraries)
{
    void *frame;

    backtrace(&frame, 1); /* which allocates, the first time */
    spared = libraries;
}

long inject_allocations(void)
{
    return atomic_load(&counts[MEMORY]);
}

long inject_live_blocks(void)
{
    return atomic_load(&n_live);
}

static void *live(void *block)
{
    if (block)
        atomic_fetch_add(&n_live, 1);
    return block;
}

/* --- failures --------------------------------------------------------------------------------- */

/* Whether a caller is in a spared library. */
static bool is_spared(void)
{
    enum { DEEPEST = 64 };
    void *frames[DEEPEST];
    const int n = spared ? backtrace(frames, DEEPEST) : 0;
    Dl_info info;

    for (int i = 0; i < n; i++)
        for (int k = 0; spared[k]; k++)
            if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, spared[k]))
                return true;
    return false;
}

static bool fails(enum kind kind, int error)
{
    const long n = atomic_fetch_add(&counts[kind], 1) + 1;

    if (kind != failing || (and_later ? n < at : n != at) || is_spared())
        return false;
    errno = error;
    return true;
}

/* A call that removes: it works where all from one on fail. */
static bool fails_alone(enum kind kind, int error)
{
    return !and_later && fails(kind, error);
}

/* A call that renames: the first fails, those that undo what came before work. */
static bool fails_first(enum kind kind, int error)
{
    static atomic_flag is_over = ATOMIC_FLAG_INIT;

    return fails(kind, error) && (!and_later || !atomic_flag_test_and_set(&is_over));
}

/* --- memory ----------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t n)
{
    return fails(MEMORY, ENOMEM) ? NULL : live(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : live(__libc_calloc(n, size));
}

void *realloc(void *block, size_t n)
{
    void *moved = fails(MEMORY, ENOMEM) ? NULL : __libc_realloc(block, n);

    return block ? moved : live(moved);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails(MEMORY, ENOMEM) ? NULL : live(__libc_memalign(align, n));
}

void *memalign(size_t align, size_t n)
{
    return aligned_alloc(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    if (fails(MEMORY, ENOMEM))
        return ENOMEM;
    *out = live(__libc_memalign(align, n));
    return *out ? 0 : ENOMEM;
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&n_live, 1);
    __libc_free(block);
}

/* --- the others: the real function is found at the first call --------------------------------- */

/* RESULT NAME(PARAMETERS) that fails with ERROR and VALUE when CONDITION allows. */
#define WRAP(kind, result, name, parameters, arguments, error, value, condition)                   \
    result name parameters                                                                         \
    {                                                                                              \
        static result(*real) parameters;                                                           \
                                                                                                   \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        if (condition)                                                                             \
            return value;                                                                          \
        return real arguments;                                                                     \
    }

#define WRAP_IO(result, name, parameters, arguments, error, value)                                 \
    WRAP(IO, result, name, parameters, arguments, error, value, fails(IO, error))

WRAP(MEMORY, void *, mmap, (void *where, size_t n, int prot, int flags, int fd, off_t offset),
     (where, n, prot, flags, fd, offset), ENOMEM, MAP_FAILED, fails(MEMORY, ENOMEM))
WRAP(MEMORY, void *, mmap64, (void *where, size_t n, int prot, int flags, int fd, off64_t offset),
     (where, n, prot, flags, fd, offset), ENOMEM, MAP_FAILED, fails(MEMORY, ENOMEM))

WRAP_IO(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), EIO, -1)
WRAP_IO(ssize_t, pread, (int fd, void *to, size_t n, off_t from), (fd, to, n, from), EIO, -1)
WRAP(IO, ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), ENOSPC, -1,
     fd != STDERR_FILENO && fails(IO, ENOSPC))
WRAP_IO(int, fsync, (int fd), (fd), EIO, -1)
WRAP_IO(int, fdatasync, (int fd), (fd), EIO, -1)
WRAP_IO(int, fstat, (int fd, struct stat *out), (fd, out), EIO, -1)
WRAP_IO(int, stat, (const char *path, struct stat *out), (path, out), EIO, -1)
WRAP_IO(int, access, (const char *path, int how), (path, how), EIO, -1)
WRAP(IO, int, rename, (const char *from, const char *to), (from, to), EIO, -1, fails_first(IO, EIO))
WRAP(IO, int, renameat2, (int dir, const char *from, int other, const char *to, unsigned flags),
     (dir, from, other, to, flags), EIO, -1, fails_first(IO, EIO))
WRAP_IO(int, mkdir, (const char *path, mode_t mode), (path, mode), ENOSPC, -1)
WRAP_IO(int, flock, (int fd, int how), (fd, how), ENOLCK, -1)
WRAP_IO(int, ftruncate, (int fd, off_t n), (fd, n), EIO, -1)
WRAP_IO(off_t, lseek, (int fd, off_t at_, int how), (fd, at_, how), EIO, -1)
WRAP_IO(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), ENOSYS, -1)
WRAP_IO(ssize_t, getdents64, (int fd, void *to, size_t n), (fd, to, n), EIO, -1)
WRAP_IO(int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)
WRAP_IO(int, dup, (int fd), (fd), EMFILE, -1)
WRAP_IO(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP_IO(FILE *, fopen64, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP(IO, int, unlink, (const char *path), (path), EIO, -1, fails_alone(IO, EIO))
WRAP(IO, int, unlinkat, (int dir, const char *path, int how), (dir, path, how), EIO, -1,
     fails_alone(IO, EIO))
WRAP(IO, int, rmdir, (const char *path), (path), EIO, -1, fails_alone(IO, EIO))

/* A close that fails has closed. */
int close(int fd)
{
    static int (*real)(int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "close");
    if (real(fd) != 0)
        return -1;
    return fails(IO, EIO) ? -1 : 0;
}

/* A stream that has failed says so for ever. */
static int stream_failed(FILE *stream)
{
    stream->_flags |= 0x20; /* glibc's _IO_ERR_SEEN */
    return EOF;
}

WRAP(IO, int, fflush, (FILE * stream), (stream), ENOSPC, stream_failed(stream),
     stream &&stream != stderr && fails(IO, ENOSPC))
WRAP(IO, int, vprintf, (const char *format, va_list args), (format, args), ENOSPC,
     stream_failed(stdout), fails(IO, ENOSPC))
WRAP(IO, int, puts, (const char *text), (text), ENOSPC, stream_failed(stdout), fails(IO, ENOSPC))

static int open_as(const char *name, int dir, const char *path, int flags, va_list args)
{
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    int (*real)(int, const char *, int, ...);

    (void)name;
    *(void **)&real = dlsym(RTLD_NEXT, "openat");
    return fails(IO, EMFILE) ? -1 : real(dir, path, flags, mode);
}

#define OPEN(name, before, dir)                                                                    \
    int name(before const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list args;                                                                              \
        int fd;                                                                                    \
                                                                                                   \
        va_start(args, flags);                                                                     \
        fd = open_as(#name, dir, path, flags, args);                                               \
        va_end(args);                                                                              \
        return fd;                                                                                 \
    }

#define COMMA_DIR int dir,
OPEN(open, , AT_FDCWD)
OPEN(open64, , AT_FDCWD)
OPEN(openat, COMMA_DIR, dir)
OPEN(openat64, COMMA_DIR, dir)

/* --- threads and processes -------------------------------------------------------------------- */

WRAP(SPAWN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*body)(void *), void *user),
     (thread, how, body, user), EAGAIN, EAGAIN, fails(SPAWN, EAGAIN))
WRAP(SPAWN, int, posix_spawnp,
     (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *how, char *const words[], char *const environment[]),
     (pid, file, actions, how, words, environment), EAGAIN, EAGAIN, fails(SPAWN, EAGAIN))
