#include "tests/support/temp_dir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void refuse(const char *path)
{
    perror(path);
    abort();
}

struct temp_dir temp_dir_new(void)
{
    struct temp_dir dir = { .arena = { NULL } };
    const char *base = getenv("TMPDIR");
    char *path = arena_printf(&dir.arena, "%s/relayc-test-XXXXXX", base ? base : "/tmp");

    if (!mkdtemp(path))
        refuse(path);
    dir.path = path;
    return dir;
}

static void remove_all(struct arena *arena, const char *path)
{
    struct stat st;
    DIR *folder;

    if (lstat(path, &st) != 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        unlink(path);
        return;
    }
    folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_all(arena, arena_printf(arena, "%s/%s", path, entry->d_name));
    if (folder)
        closedir(folder);
    rmdir(path);
}

void temp_dir_free(struct temp_dir *dir)
{
    remove_all(&dir->arena, dir->path);
    arena_release(&dir->arena);
}

const char *temp_path(struct temp_dir *dir, const char *name)
{
    return arena_printf(&dir->arena, "%s/%s", dir->path, name);
}

const char *temp_file(struct temp_dir *dir, const char *name, const void *bytes, size_t n)
{
    const char *path = temp_path(dir, name);
    FILE *out = fopen(path, "wb");

    if (!out || (n && fwrite(bytes, 1, n, out) != n) || fclose(out) != 0)
        refuse(path);
    return path;
}
