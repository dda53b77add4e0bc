#include "measure/output.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

extern char **environ;

const char *const *runner_words(struct ctx *ctx, const char *runner, const char *program)
{
    struct arena *arena = &ctx->perm;
    char *text = arena_strdup(arena, runner ? runner : "");
    const char **words = arena_array(arena, const char *, strlen(text) + 2);
    bool named = false;
    int n = 0;

    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t")) {
        char *at = strstr(word, "{exe}");

        words[n++] = at ? arena_printf(arena, "%.*s%s%s", (int)(at - word), word, program,
                                       at + strlen("{exe}"))
                        : word;
        named = named || at;
    }
    if (!named)
        words[n++] = program;
    words[n] = NULL;
    return words;
}

int run_to_file(struct ctx *ctx, const char *const *words, const char *path)
{
    posix_spawn_file_actions_t actions;
    int n = 0, status, error;
    pid_t pid;
    char **argv;

    while (words[n])
        n++;
    argv = arena_array(&ctx->perm, char *, n + 1);
    for (int i = 0; i < n; i++)
        argv[i] = arena_strdup(&ctx->perm, words[i]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        diag_error(ctx, DIAG_TOOLCHAIN, NULL, "cannot run '%s': %s",
                   str_safe(&ctx->perm, argv[0], 200), strerror(error));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
