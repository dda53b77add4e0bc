#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "runtime/engine/host_compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/str.h"
#include "base/temporary.h"

extern char **environ;

enum { MESSAGE_BYTES = 2000 };

static int split_words(struct arena *arena, const char *text, char **words, int n)
{
    char *copy = arena_strdup(arena, text), *rest;

    for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        words[n++] = word;
    return n;
}

/* The environment, with messages in plain English, and the compiler's own temporary files beside
 * its output: they go away with that folder, however the compiler ends. */
static char **compiler_environment(struct arena *arena, const char *output)
{
    const bool is_absolute = *output == '/';
    char **all;
    int n = 0, k = 0;

    while (environ[n])
        n++;
    all = arena_array(arena, char *, n + 3);
    for (int i = 0; i < n; i++)
        if (!str_starts(environ[i], "LC_ALL=") &&
            !(is_absolute && str_starts(environ[i], "TMPDIR=")))
            all[k++] = environ[i];
    all[k++] = arena_strdup(arena, "LC_ALL=C");
    if (is_absolute)
        all[k++] = arena_printf(arena, "TMPDIR=%s", folder_of(arena, output));
    all[k] = NULL;
    return all;
}

/* Runs the compiler with its messages in a file; its exit status, -1 if it could not be started. */
static int run_compiler(char **words, char **environment, const char *run_in, const char *messages)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (run_in)
        posix_spawn_file_actions_addchdir_np(&actions, run_in);
    error = child_start(&pid, &actions, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        errno = error;
        return -1;
    }
    if (child_wait(pid, &status) != 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void add_messages(struct ctx *ctx, const char *path)
{
    struct mapping file;
    struct str text = { .arena = &ctx->perm };
    struct diags saved = diag_save(ctx);
    const bool ok = file_map(ctx, path, &file);

    diag_restore(ctx, saved);
    if (!ok)
        return;
    for (size_t i = 0; i < file.size && i < MESSAGE_BYTES; i++) {
        const char c = (char)file.data[i];

        str_addn(&text, c == '\n' || (c >= ' ' && c < 127) ? &c : "?", 1);
    }
    diag_note(ctx, "%s", str_text(&text));
    file_unmap(&file);
}

bool host_compile(struct ctx *ctx, const struct host_compile *job)
{
    enum { OWN_WORDS = 16 };
    const char *given = job->compiler ? job->compiler : getenv("CC");
    const char *compiler = given && *given ? given : "cc";
    const char *libs = job->libs ? job->libs : "";
    const char *messages = arena_printf(&ctx->perm, "%s.log", job->output);
    char **words = arena_array(&ctx->perm, char *,
                               strlen(compiler) + strlen(job->mode) + strlen(job->flags) +
                                   strlen(libs) + (size_t)job->n_files + OWN_WORDS);
    int n = split_words(&ctx->perm, compiler, words, 0), status;
    struct stat said;

    if (n == 0)
        return diag_error(ctx, DIAG_TOOLCHAIN, NULL, "the C compiler's name is empty");
    n = split_words(&ctx->perm, job->mode, words, n);
    n = split_words(&ctx->perm, job->flags, words, n);
    if (job->warn)
        words[n++] = arena_strdup(&ctx->perm, "-Wall");
    words[n++] = arena_printf(&ctx->perm, "-I%s", job->include_dir);
    words[n++] = arena_strdup(&ctx->perm, "-o");
    words[n++] = arena_strdup(&ctx->perm, job->output);
    for (int i = 0; i < job->n_files; i++)
        words[n++] = arena_strdup(&ctx->perm, job->files[i]);
    n = split_words(&ctx->perm, libs, words, n);
    words[n++] = arena_strdup(&ctx->perm, "-lm");
    words[n] = NULL;
    status =
        run_compiler(words, compiler_environment(&ctx->perm, job->output), job->run_in, messages);
    if (status < 0)
        return diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot run the C compiler '%s': %s", words[0],
                          strerror(errno));
    if (status) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "the C compiler '%s' failed (exit code %d)", words[0],
                   status);
        add_messages(ctx, messages);
        return false;
    }
    if (job->warn && stat(messages, &said) == 0 && said.st_size > 0) {
        diag_warn(ctx, DIAG_TOOLCHAIN, NULL, "the C compiler '%s' warns about the generated code",
                  words[0]);
        add_messages(ctx, messages);
    }
    return true;
}
