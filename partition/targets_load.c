/* targets_load.c - all targets: those that ship, which are part of the binary, and folders.
 *
 * needs    embedded files, folders of the user
 * gives    a list of targets with their hooks; every error of all of them
 * method   a folder is read through the functions of its struct target_folder, so that nothing
 *          outside of it is reached and both kinds load the same way */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/str.h"
#include "partition/plugin.h"
#include "partition/target_file.h"

enum { MAX_FILE_BYTES = 1 << 20 };

#define HOOKS(name) extern const struct target_hooks name##_hooks;
#include "partition/targets/hooks.def"
#undef HOOKS

static const struct target_hooks *const shipped_hooks[] = {
#define HOOKS(name) &name##_hooks,
#include "partition/targets/hooks.def"
#undef HOOKS
};

struct folder {
    struct ctx *ctx;
    const char *path; /* of a folder, or within the project */
    uint32_t crc32;   /* of all files read, in the order of reading */
};

static void count_bytes(struct folder *folder, const void *bytes, size_t n)
{
    folder->crc32 = (uint32_t)crc32_z(folder->crc32, bytes, n);
}

/* --- files of one folder ---------------------------------------------------------------------- */

static const char *read_beneath(void *user, const char *name, const char **reason)
{
    struct folder *folder = user;
    const char *text = NULL;
    struct mapping mapping;

    if (!file_map_beneath(folder->ctx, folder->path, name, &mapping, reason))
        return NULL;
    if (mapping.size > MAX_FILE_BYTES)
        *reason = "it has more than 1 MiB";
    else if (memchr(mapping.data, '\0', mapping.size))
        *reason = "it is not text: it contains a zero byte";
    else
        text = arena_strndup(&folder->ctx->perm, (const char *)mapping.data, mapping.size);
    count_bytes(folder, mapping.data, mapping.size);
    file_unmap(&mapping);
    return text;
}

static bool has_beneath(void *user, const char *name, const char **reason)
{
    struct folder *folder = user;
    struct mapping mapping;

    if (!file_map_beneath(folder->ctx, folder->path, name, &mapping, reason))
        return false;
    count_bytes(folder, mapping.data, mapping.size);
    file_unmap(&mapping);
    return true;
}

static const char *read_embedded(void *user, const char *name, const char **reason)
{
    struct folder *folder = user;
    const struct embedded_file *file =
        embedded_find(arena_printf(&folder->ctx->perm, "%s/%s", folder->path, name));

    *reason = "it is not part of relayc";
    if (file)
        count_bytes(folder, file->text, strlen(file->text));
    return file ? file->text : NULL;
}

static bool has_embedded(void *user, const char *name, const char **reason)
{
    (void)user, (void)name;
    *reason = "a built-in target has its hooks in hooks.def";
    return false;
}

/* --- one target ------------------------------------------------------------------------------- */

static const struct target_hooks *find_shipped_hooks(const char *target)
{
    for (size_t i = 0; i < sizeof shipped_hooks / sizeof *shipped_hooks; i++)
        if (strcmp(shipped_hooks[i]->target, target) == 0)
            return shipped_hooks[i];
    return NULL;
}

/* A folder that replaces a target that ships keeps its hooks, unless it brings a plug-in. */
static bool add_hooks(struct ctx *ctx, struct target *target, const struct target_folder *folder)
{
    const struct target_hooks *hooks = find_shipped_hooks(target->name);
    const char *path = arena_printf(&ctx->perm, "partition/targets/%s", target->name);

    if (target->plugin) {
        path = arena_printf(&ctx->perm, "%s/%s", target->folder, target->plugin);
        hooks = plugin_load(ctx, path, target->name);
        if (!hooks)
            return false;
    }
    if (hooks)
        return target_add_hooks(ctx, target, hooks, path, folder);
    if (target->format != FORMAT_STREAM)
        return true;
    source_error(ctx, &target->source, 0, "a target of format stream needs a plug-in");
    diag_help(ctx, "it makes the stream: docs/guide/plugin.md");
    return false;
}

static struct target *load_text(struct ctx *ctx, const char *path, const char *text,
                                const struct target_folder *folder, bool embedded)
{
    const char *file = arena_printf(&ctx->perm, "%s/target.json", path);
    struct target *target = target_read(ctx, file, text, folder);

    if (!target)
        return NULL;
    target->folder = embedded ? NULL : path;
    if (!add_hooks(ctx, target, folder))
        return NULL;
    target->crc32 = ((const struct folder *)folder->user)->crc32;
    return target;
}

static struct target *load_embedded(struct ctx *ctx, const char *path, const char *text)
{
    struct folder folder = { ctx, path, 0 };
    const struct target_folder files = { read_embedded, has_embedded, &folder };

    count_bytes(&folder, text, strlen(text));
    return load_text(ctx, path, text, &files, true);
}

static struct target *load_folder(struct ctx *ctx, const char *path)
{
    struct folder folder = { ctx, path, 0 };
    const struct target_folder files = { read_beneath, has_beneath, &folder };
    const char *reason = NULL;
    const char *text = read_beneath(&folder, "target.json", &reason);

    if (text)
        return load_text(ctx, path, text, &files, false);
    diag_error(ctx, DIAG_TARGET_FILE, NULL, "%s/target.json:1:1: cannot read it: %s",
               str_safe(&ctx->perm, path, 4096), reason);
    return NULL;
}

/* --- all targets ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The folders partition/targets/NAME of the embedded files, `c` first. */
static const char **embedded_folders(struct ctx *ctx, int *n)
{
    static const char start[] = "partition/targets/", end[] = "/target.json";
    const char **folders = arena_array(&ctx->perm, const char *, n_embedded_files);

    *n = 0;
    for (size_t i = 0; i < n_embedded_files; i++) {
        const char *path = embedded_files[i].path;

        if (str_starts(path, start) && str_ends(path, end))
            folders[(*n)++] = arena_strndup(&ctx->perm, path, strlen(path) - strlen(end));
    }
    qsort(folders, (size_t)*n, sizeof *folders, by_text);
    for (int i = 1; i < *n; i++)
        if (strcmp(folders[i], "partition/targets/c") == 0) {
            memmove(folders + 1, folders, (size_t)i * sizeof *folders);
            folders[0] = "partition/targets/c";
        }
    return folders;
}

static void append(struct targets *targets, struct target *target)
{
    struct target **end = &targets->first;

    while (*end)
        end = &(*end)->next;
    *end = target;
}

/* In the place of one that ships with the same name, or at the end. */
static bool add_from_folder(struct ctx *ctx, struct targets *targets, struct target *target)
{
    struct target **at = &targets->first;

    while (*at && strcmp((*at)->name, target->name) != 0)
        at = &(*at)->next;
    if (*at && (*at)->folder)
        return source_error(ctx, &target->source, 0, "there is already a target '%s', from %s",
                            target->name, str_safe(&ctx->perm, (*at)->folder, 4096));
    target->next = *at ? (*at)->next : NULL;
    *at = target;
    return true;
}

static bool is_target_folder(struct ctx *ctx, const char *path)
{
    struct stat st;

    return lstat(arena_printf(&ctx->perm, "%s/target.json", path), &st) == 0;
}

static void close_folder(void *stream, size_t size)
{
    (void)size;
    closedir(stream);
}

/* The folders in `dir` that hold a target.json, by name. */
static const char **folders_in(struct ctx *ctx, const char *dir, int *n)
{
    DIR *stream = opendir(dir);
    const char **folders = NULL;
    int capacity = 0;

    *n = 0;
    if (!stream)
        return NULL;
    memory_own(stream, close_folder, 0);
    for (const struct dirent *entry = readdir(stream); entry; entry = readdir(stream)) {
        const char *path = arena_printf(&ctx->perm, "%s/%s", dir, entry->d_name);

        if (entry->d_name[0] == '.' || !is_target_folder(ctx, path))
            continue;
        if (*n == capacity) {
            const char **more = arena_array(&ctx->perm, const char *, 2 * capacity + 8);

            if (*n)
                memcpy(more, folders, (size_t)*n * sizeof *more);
            folders = more;
            capacity = 2 * capacity + 8;
        }
        folders[(*n)++] = path;
    }
    memory_disown(stream);
    closedir(stream);
    if (*n)
        qsort(folders, (size_t)*n, sizeof *folders, by_text);
    return folders;
}

static const char *without_slash(struct ctx *ctx, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return arena_strndup(&ctx->perm, path, n);
}

static bool load_dir(struct ctx *ctx, const char *given, struct targets *targets)
{
    const char *dir = without_slash(ctx, given);
    const char **folders = arena_array(&ctx->perm, const char *, 1);
    bool ok = true;
    int n = 1;

    folders[0] = dir;
    if (!is_target_folder(ctx, dir))
        folders = folders_in(ctx, dir, &n);
    if (n == 0) {
        diag_error(ctx, DIAG_TARGET_FILE, NULL,
                   "%s: there is no target.json, neither here nor in a folder beneath",
                   str_safe(&ctx->perm, dir, 4096));
        diag_help(ctx, "--target-dir takes the folder of a target, or a folder of such folders");
        return false;
    }
    for (int i = 0; i < n; i++) {
        struct target *target = load_folder(ctx, folders[i]);

        ok = target && add_from_folder(ctx, targets, target) && ok;
    }
    return ok;
}

bool targets_load(struct ctx *ctx, int n_dirs, const char *const *dirs, struct targets *out)
{
    const char **shipped;
    bool ok = true;
    int n;

    *out = (struct targets){ NULL };
    shipped = embedded_folders(ctx, &n);
    for (int i = 0; i < n; i++) {
        const char *file = arena_printf(&ctx->perm, "%s/target.json", shipped[i]);
        struct target *target = load_embedded(ctx, shipped[i], embedded_find(file)->text);

        if (target)
            append(out, target);
        ok = target && ok;
    }
    for (int i = 0; i < n_dirs; i++)
        ok = load_dir(ctx, dirs[i], out) && ok;
    return ok;
}

/* --- for tests -------------------------------------------------------------------------------- */

struct simple_folder {
    const char *(*read_file)(void *user, const char *name);
    void *user;
};

static const char *read_simple(void *user, const char *name, const char **reason)
{
    const struct simple_folder *folder = user;

    *reason = "no such file";
    return folder->read_file ? folder->read_file(folder->user, name) : NULL;
}

static bool has_simple(void *user, const char *name, const char **reason)
{
    return read_simple(user, name, reason) != NULL;
}

struct target *target_parse(struct ctx *ctx, const char *file, const char *text,
                            const char *(*read_file)(void *user, const char *name), void *user)
{
    struct simple_folder simple = { read_file, user };
    const struct target_folder folder = { read_simple, has_simple, &simple };

    return target_read(ctx, arena_strdup(&ctx->perm, file), arena_strdup(&ctx->perm, text),
                       &folder);
}
