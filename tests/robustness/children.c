/* children.c - cases in child processes, many to a child: what one of them does wrong ends it, and
 * the next child goes on behind it. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/robustness/robustness.h"

enum { CASES_OF_A_CHILD = 1000, SECONDS_OF_A_CASE = 30, MOST_PRINTED = 10, FOUND_FAULT = 9 };

static const rlim_t MEMORY = 1u << 30, FILE_SIZE = 64u << 20;

/* Sanitizers map terabytes, and have a limit of their own. */
#if defined __SANITIZE_ADDRESS__
#define LIMIT_MEMORY 0
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=1024:allocator_may_return_null=1:detect_leaks=1";
}
#else
#define LIMIT_MEMORY 1
#endif

/* What a child tells its parent, also when it is killed. */
struct report {
    size_t at;        /* the case it is at; the end, when it got through all */
    char reason[200]; /* "" = it was killed before it could tell */
};

static void limit(int what, rlim_t most)
{
    const struct rlimit value = { most, most };

    if (setrlimit(what, &value) != 0) {
        perror("setrlimit");
        exit(FOUND_FAULT);
    }
}

static void redirect(const char *log)
{
    const int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (file < 0 || dup2(file, STDERR_FILENO) < 0 || dup2(file, STDOUT_FILENO) < 0)
        exit(FOUND_FAULT);
    close(file);
}

/* The limit on time is each case's own: SIGPROF kills. */
static void restart_clock(void)
{
    const struct itimerval time = { .it_value = { .tv_sec = SECONDS_OF_A_CASE } };

    setitimer(ITIMER_PROF, &time, NULL);
}

static void child(const struct subject *subject, const struct sweep *sweep, const char *dir,
                  struct report *report)
{
    redirect(arena_printf(&(struct arena){ NULL }, "%s/log", dir));
    if (LIMIT_MEMORY)
        limit(RLIMIT_AS, MEMORY);
    limit(RLIMIT_FSIZE, FILE_SIZE);
    limit(RLIMIT_CORE, 0);
    for (; report->at < sweep->end; report->at += sweep->step) {
        size_t size;
        uint8_t *bytes = damage(subject, report->at, &size);
        const char *reason;

        restart_clock();
        if (ftruncate(STDERR_FILENO, 0) != 0 || lseek(STDERR_FILENO, 0, SEEK_SET) != 0)
            exit(FOUND_FAULT); /* the log is of one case */
        reason = attempt(subject->kind, bytes, size, dir);
        free(bytes);
        if (reason) {
            snprintf(report->reason, sizeof report->reason, "%s", reason);
            exit(FOUND_FAULT);
        }
    }
    exit(0);
}

static void print_log(const char *dir)
{
    struct arena arena = { NULL };
    FILE *file = fopen(arena_printf(&arena, "%s/log", dir), "r");
    char line[400];

    for (int i = 0; file && i < 12 && fgets(line, sizeof line, file); i++)
        printf("    %s", line);
    if (file)
        fclose(file);
    arena_release(&arena);
}

static const char *ending(int status, const struct report *report, struct arena *arena)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGPROF
                   ? "it took too long"
                   : arena_printf(arena, "it was killed by %s", strsignal(WTERMSIG(status)));
    return *report->reason ? report->reason
                           : arena_printf(arena, "it exited with %d", WEXITSTATUS(status));
}

/* The damaged file is kept, so that the failure can be looked at. */
static void print_failure(const struct subject *subject, const struct report *report, int status,
                          const char *dir)
{
    struct arena arena = { NULL };
    const char *path = arena_printf(&arena, "%s/%s.%zu", dir, subject->name, report->at);
    size_t size;
    uint8_t *bytes = damage(subject, report->at, &size);
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size)
        perror(path);
    if (file)
        fclose(file);
    free(bytes);
    printf("FAIL %s: %s\n", path, ending(status, report, &arena));
    print_log(dir);
    arena_release(&arena);
}

size_t run_cases(const struct subject *subject, const struct sweep *sweep, const char *dir)
{
    struct report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sweep part = *sweep; /* a child's */
    size_t failed = 0, next;

    if (report == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    for (report->at = sweep->first; report->at < sweep->end; report->at = next) {
        int status = 0;
        pid_t pid;

        next = report->at + CASES_OF_A_CHILD * sweep->step;
        part.end = next < sweep->end ? next : sweep->end;
        *report->reason = '\0';
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            child(subject, &part, dir, report);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) {
            perror("fork");
            exit(2);
        }
        if (status == 0)
            continue;
        if (failed++ < MOST_PRINTED)
            print_failure(subject, report, status, dir);
        next = report->at + sweep->step;
    }
    munmap(report, sizeof *report);
    return failed;
}
