#define _GNU_SOURCE /* getdents64, getrandom */
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/str.h"

/* --- names ------------------------------------------------------------------------------------ */

#define PREFIX "relayc-"
enum { PREFIX_BYTES = sizeof PREFIX - 1, RANDOM_DIGITS = 16, CHECK_AT = PREFIX_BYTES + 17 };

_Static_assert(CHECK_AT + 8 + 1 == TEMPORARY_NAME_BYTES, "prefix, number, dash, checksum, end");

static void add_check(char *name)
{
    const uint32_t check = (uint32_t)crc32_z(0, (const uint8_t *)name, CHECK_AT);

    snprintf(name + CHECK_AT, 9, "%08x", check);
}

void temporary_name(char name[TEMPORARY_NAME_BYTES])
{
    static atomic_uint n_made;
    uint64_t number;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        number = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 16 ^ n_made++;
    }
    snprintf(name, TEMPORARY_NAME_BYTES, PREFIX "%016llx-", (unsigned long long)number);
    add_check(name);
}

bool temporary_is_name(const char *name)
{
    char same[TEMPORARY_NAME_BYTES];

    if (strlen(name) != TEMPORARY_NAME_BYTES - 1 || strncmp(name, PREFIX, PREFIX_BYTES) != 0 ||
        strspn(name + PREFIX_BYTES, "0123456789abcdef") != RANDOM_DIGITS ||
        name[CHECK_AT - 1] != '-')
        return false;
    memcpy(same, name, sizeof same);
    add_check(same);
    return strcmp(same, name) == 0;
}

const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

/* --- those of this process -------------------------------------------------------------------- */

enum kind { A_FILE, A_FOLDER, A_MADE_FOLDER };

/* For the signal handler: a slot is claimed with `claimed`, and published with its path. */
static struct {
    const char *_Atomic path; /* NULL: free */
    enum kind kind;
    int lock; /* of a folder: the descriptor that holds the lock */
} slots[1024];

enum { N_SLOTS = sizeof slots / sizeof *slots };

static const char claimed[] = "";

static bool remember(const char *path, enum kind kind, int lock)
{
    for (int i = 0; i < N_SLOTS; i++) {
        const char *none = NULL;

        if (!atomic_compare_exchange_strong(&slots[i].path, &none, claimed))
            continue;
        slots[i].kind = kind;
        slots[i].lock = lock;
        atomic_store(&slots[i].path, path);
        return true;
    }
    errno = EMFILE;
    return false;
}

static int find(const char *path)
{
    for (int i = 0; i < N_SLOTS && path; i++)
        if (atomic_load(&slots[i].path) == path)
            return i;
    return -1;
}

static void free_slot(int i)
{
    if (slots[i].kind == A_FOLDER)
        close(slots[i].lock);
    atomic_store(&slots[i].path, NULL);
}

void temporary_forget(const char *path)
{
    const int i = find(path);

    memory_disown((void *)(uintptr_t)path);
    if (i >= 0)
        free_slot(i);
}

/* --- removing --------------------------------------------------------------------------------- */

/* Only what may be called in a signal handler. */
static void remove_contents(int folder, int depth)
{
    _Alignas(struct dirent64) char buffer[4096];
    bool removed;

    do { /* again, as a folder that changes may be listed in part */
        ssize_t n;

        removed = false;
        lseek(folder, 0, SEEK_SET);
        while ((n = getdents64(folder, buffer, sizeof buffer)) > 0)
            for (ssize_t at = 0; at < n;) {
                const struct dirent64 *entry = (const void *)(buffer + at);
                const char *name = entry->d_name;
                int below;

                at += entry->d_reclen;
                if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                    continue;
                if (unlinkat(folder, name, 0) == 0) {
                    removed = true;
                } else if (depth > 0 &&
                           (below = openat(folder, name,
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
                    remove_contents(below, depth - 1);
                    close(below);
                    removed = unlinkat(folder, name, AT_REMOVEDIR) == 0 || removed;
                }
            }
    } while (removed);
}

enum { MOST_DEEP = 4 }; /* compilers make few folders in theirs */

/* A process that was just killed may still be making a file: the folder is emptied a few times. */
static void remove_tree(const char *path, int folder)
{
    for (int i = 0; i < 50; i++) {
        const struct timespec soon = { 0, 2000000 };

        remove_contents(folder, MOST_DEEP);
        if (rmdir(path) == 0 || errno != ENOTEMPTY)
            return;
        nanosleep(&soon, NULL);
    }
}

/* Once more where it fails: on a network's file system the next attempt may work. */
static void remove_file(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        unlink(path);
}

static void remove_one(int i)
{
    const char *path = atomic_load(&slots[i].path);

    if (slots[i].kind == A_FILE)
        remove_file(path);
    else if (slots[i].kind == A_FOLDER)
        remove_tree(path, slots[i].lock);
    else
        rmdir(path);
}

void temporary_remove(const char *path)
{
    const int error = errno, i = find(path);

    memory_disown((void *)(uintptr_t)path);
    if (i >= 0) {
        remove_one(i);
        free_slot(i);
    }
    errno = error;
}

static void release(void *path, size_t size)
{
    (void)size;
    temporary_remove(path);
}

/* The owner's, until it is renamed or removed (base/memory.h). */
static void own(const char *path)
{
    memory_own((void *)(uintptr_t)path, release, 0);
}

/* Folders last, when they are empty, the inner ones first. */
void temporary_remove_all(void)
{
    for (int pass = A_FILE; pass <= A_MADE_FOLDER; pass++)
        for (int i = N_SLOTS; i-- > 0;) {
            const char *path = atomic_load(&slots[i].path);

            if (path && path != claimed && slots[i].kind == (enum kind)pass)
                remove_one(i);
        }
}

/* --- making ----------------------------------------------------------------------------------- */

static const char *join(struct arena *arena, const char *folder, const char *name)
{
    return arena_printf(arena, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                        name);
}

enum locked { NOT_LOCKED, LOCKED, SWEPT };

/* Between its making and its lock, another process may have taken it for a dead one's. A file
 * system without locks is fine: what lies there is never taken for a dead one's. */
static enum locked lock_new(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? SWEPT : LOCKED;
    if (fstat(fd, &st) != 0)
        return NOT_LOCKED;
    return st.st_nlink > 0 ? LOCKED : SWEPT;
}

enum { ATTEMPTS = 100 };

/* "NAME" in the current folder stays without "./". */
static const char *new_path(struct arena *arena, const char *folder)
{
    char name[TEMPORARY_NAME_BYTES];

    temporary_name(name);
    return strcmp(folder, ".") == 0 ? arena_strdup(arena, name) : join(arena, folder, name);
}

int temporary_open(struct arena *arena, const char *path, const char **out)
{
    const char *folder = folder_of(arena, path);

    *out = NULL;
    for (int i = 0; i < ATTEMPTS; i++) {
        const char *made = new_path(arena, folder);
        enum locked locked;
        int fd;

        if (!remember(made, A_FILE, -1))
            return -1;
        own(made);
        fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        locked = fd < 0 ? NOT_LOCKED : lock_new(fd);
        if (locked == LOCKED) {
            *out = made;
            memory_own_fd(fd);
            return fd;
        }
        if (fd < 0) /* EEXIST: another's, not to be removed */
            temporary_forget(made);
        else
            temporary_remove(made);
        if (fd >= 0)
            close(fd);
        if (locked == NOT_LOCKED && errno != EEXIST)
            return -1;
    }
    return -1;
}

const char *temporary_folder(struct arena *arena, const char *parent)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        const char *made = new_path(arena, parent);
        enum locked locked;
        int fd, error;

        if (mkdir(made, 0700) != 0) {
            if (errno == EEXIST)
                continue;
            return NULL;
        }
        fd = open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        locked = fd >= 0 ? lock_new(fd) : errno == ENOENT ? SWEPT : NOT_LOCKED;
        if (locked == LOCKED && remember(made, A_FOLDER, fd)) {
            own(made);
            return made;
        }
        error = errno;
        if (fd >= 0)
            close(fd);
        rmdir(made);
        errno = error;
        if (locked != SWEPT)
            return NULL;
    }
    return NULL;
}

int temporary_make_folder(struct arena *arena, const char *path, const char **out)
{
    const char *made = arena_strdup(arena, path);

    *out = NULL;
    if (mkdir(path, 0777) != 0)
        return errno;
    if (remember(made, A_MADE_FOLDER, -1)) {
        *out = made;
        own(made);
    }
    return 0;
}

/* --- those of dead processes ------------------------------------------------------------------ */

static void sweep_one(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (S_ISDIR(st.st_mode))
            remove_contents(fd, MOST_DEEP);
        unlinkat(folder, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
    }
    close(fd);
}

void temporary_sweep(const char *path)
{
    _Alignas(struct dirent64) char buffer[16384];
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t n;

    if (folder < 0)
        return;
    while ((n = getdents64(folder, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buffer + at);

            at += entry->d_reclen;
            if (temporary_is_name(entry->d_name))
                sweep_one(folder, entry->d_name);
        }
    close(folder);
}

const char *temporary_work_folder(struct ctx *ctx)
{
    static atomic_flag is_swept = ATOMIC_FLAG_INIT;
    const char *given = getenv("TMPDIR"), *parent = given && *given ? given : "/tmp", *made;

    if (!atomic_flag_test_and_set(&is_swept))
        temporary_sweep(parent);
    made = temporary_folder(&ctx->perm, parent);
    if (!made)
        diag_error(ctx, DIAG_FILE_WRITE, NULL, "cannot make a folder in %s: %s",
                   str_safe(&ctx->perm, parent, 4096), strerror(errno));
    return made;
}
