/* For sigaltstack and SA_ONSTACK. */
#define _XOPEN_SOURCE 700
#include "runtime/engine/crash.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"

/* A stack of its own, because the crash may be that there is no stack left. */
enum { STACK_BYTES = 64 * 1024 };

static const int signals[CRASH_SIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL };

/* For the handler, which gets nothing but a number: the thread that crashes runs it. */
static _Thread_local const char *volatile crash_place;

/* Handlers belong to the process: the first guard sets them, the last one restores them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_guards;
static bool is_set[CRASH_SIGNALS];
static struct sigaction old[CRASH_SIGNALS];

static void tell(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Only what may be called in a signal handler. */
static void on_crash(int number)
{
    const char digits[] = { (char)('0' + number / 10), (char)('0' + number % 10), '\0' };

    tell("error[R0406]: the generated code crashed (signal ");
    tell(digits + (number < 10));
    tell(") ");
    tell(crash_place);
    tell(", or in a library that it calls\n");
    process_clean();
    _exit(1);
}

_Static_assert(DIAG_REGION_FAILED == 406, "the handler's text has the number");

static void set_stack(struct crash_guard *guard)
{
    stack_t stack = { .ss_size = STACK_BYTES };

    guard->stack = NULL;
    if (sigaltstack(NULL, &guard->old_stack) != 0 || !(guard->old_stack.ss_flags & SS_DISABLE))
        return;
    stack.ss_sp = guard->stack = malloc(STACK_BYTES);
    if (!guard->stack)
        out_of_memory(STACK_BYTES);
    sigaltstack(&stack, NULL);
}

static void set_handlers(void)
{
    const struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK };

    for (int i = 0; i < CRASH_SIGNALS; i++) {
        is_set[i] = sigaction(signals[i], NULL, &old[i]) == 0 &&
                    (old[i].sa_handler == SIG_DFL || old[i].sa_handler == process_crashed);
        if (is_set[i])
            sigaction(signals[i], &action, NULL);
    }
}

void crash_guard_begin(struct crash_guard *guard, const char *where)
{
    crash_place = where;
    set_stack(guard);
    pthread_mutex_lock(&lock);
    if (n_guards++ == 0)
        set_handlers();
    pthread_mutex_unlock(&lock);
}

void crash_guard_end(struct crash_guard *guard)
{
    pthread_mutex_lock(&lock);
    if (--n_guards == 0)
        for (int i = 0; i < CRASH_SIGNALS; i++)
            if (is_set[i])
                sigaction(signals[i], &old[i], NULL);
    pthread_mutex_unlock(&lock);
    if (guard->stack)
        sigaltstack(&guard->old_stack, NULL);
    free(guard->stack);
}
