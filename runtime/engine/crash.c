/* For sigaltstack and SA_ONSTACK. */
#define _XOPEN_SOURCE 700
#include "runtime/engine/crash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"

/* A stack of its own, because the crash may be that there is no stack left. */
enum { STACK_BYTES = 64 * 1024 };

static const int signals[CRASH_SIGNALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL };

/* For the handler, which gets nothing but a number. */
static const char *volatile crash_place;

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

void crash_guard_begin(struct crash_guard *guard, const char *where)
{
    struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK };

    crash_place = where;
    set_stack(guard);
    for (int i = 0; i < CRASH_SIGNALS; i++) {
        guard->is_set[i] =
            sigaction(signals[i], NULL, &guard->old[i]) == 0 &&
            (guard->old[i].sa_handler == SIG_DFL || guard->old[i].sa_handler == process_crashed);
        if (guard->is_set[i])
            sigaction(signals[i], &action, NULL);
    }
}

void crash_guard_end(struct crash_guard *guard)
{
    for (int i = 0; i < CRASH_SIGNALS; i++)
        if (guard->is_set[i])
            sigaction(signals[i], &guard->old[i], NULL);
    if (guard->stack)
        sigaltstack(&guard->old_stack, NULL);
    free(guard->stack);
}
