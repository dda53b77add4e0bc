/* children.c - child processes: a case each, or the C compiler. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance/conformance.h"

extern char **environ;

enum { TIMEOUT_SECONDS = 120 };

void report_fail(struct report *report, enum stage stage, const char *reason)
{
    report->verdict = VERDICT_FAIL;
    report->stage = stage;
    snprintf(report->reason, sizeof report->reason, "%s", reason);
}

static void report_end(struct report *report, int status)
{
    char reason[80];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(reason, sizeof reason, "took more than %d seconds", TIMEOUT_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(reason, sizeof reason, "ended with exit code %d", WEXITSTATUS(status));
    report_fail(report, report->stage, reason);
    report->has_c = false;
}

/* One slot per child that runs. */
struct slot {
    pid_t pid;
    const struct test_case *test;
};

static void wait_one(struct slot *slots, int n_slots)
{
    int status;
    pid_t pid;

    do
        pid = wait(&status);
    while (pid < 0 && errno == EINTR);
    for (int i = 0; i < n_slots; i++)
        if (slots[i].test && slots[i].pid == pid) {
            report_end(slots[i].test->report, status);
            slots[i].test = NULL;
        }
}

void children_run(const struct settings *settings, struct test_case *tests, int n,
                  bool (*wanted)(const struct test_case *test),
                  void (*work)(const struct settings *settings, const struct test_case *test))
{
    const int n_slots = settings->jobs < MAX_JOBS ? settings->jobs : MAX_JOBS;
    struct slot slots[MAX_JOBS] = { { 0, NULL } };
    int running = 0;

    fflush(stdout);
    for (int i = 0; i < n; i++) {
        int s = 0;

        if (!wanted(&tests[i]))
            continue;
        if (running == n_slots) {
            wait_one(slots, n_slots);
            running--;
        }
        while (slots[s].test)
            s++;
        slots[s] = (struct slot){ fork(), &tests[i] };
        running++;
        if (slots[s].pid == 0) {
            alarm(TIMEOUT_SECONDS);
            work(settings, &tests[i]);
            fflush(NULL);
            _exit(0);
        }
    }
    for (; running > 0; running--)
        wait_one(slots, n_slots);
}

int child_start(char **words, const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    error = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -1 : (int)pid;
}

int child_wait(int pid)
{
    int status;

    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
