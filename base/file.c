#define _GNU_SOURCE /* openat2 through syscall, O_PATH */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"

static const uint8_t empty_file[1];

static void unmap(void *data, size_t size)
{
    munmap(data, size);
}

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
    if (size)
        memory_own(data, unmap, size);
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
    memory_own_fd(copy);
    ok = n == 0 && map_fd(copy, size, out);
    memory_close(copy);
    return ok;
}

bool file_map(struct ctx *ctx, const char *path, struct mapping *out)
{
    const bool standard_input = strcmp(path, "-") == 0;
    const char *safe = str_safe(&ctx->perm, path, 4096);
    const int fd = standard_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool ok = false;

    *out = (struct mapping){ empty_file, 0 };
    if (fd < 0)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot open %s: %s", safe, strerror(errno));
    memory_own_fd(fd);
    if (fstat(fd, &st) != 0)
        diag_error(ctx, DIAG_FILE_READ, NULL, "cannot read %s: %s", safe, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s is a folder, expected a file", safe);
    else if (S_ISREG(st.st_mode))
        ok = map_fd(fd, (size_t)st.st_size, out) ||
             diag_error(ctx, DIAG_FILE_READ, NULL, "cannot map %s: %s", safe, strerror(errno));
    else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || standard_input)
        ok = map_stream(fd, out) ||
             diag_error(ctx, DIAG_FILE_READ, NULL, "cannot read %s: %s", safe, strerror(errno));
    else
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s is a device, expected a file", safe);
    memory_close(fd);
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
    case EXDEV: return "the path leads outside the model's folder";
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
    memory_own_fd(fd);
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
    memory_close(fd);
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
    if (mapping->size) {
        memory_disown((void *)(uintptr_t)mapping->data);
        munmap((void *)(uintptr_t)mapping->data, mapping->size);
    }
    *mapping = (struct mapping){ empty_file, 0 };
}
