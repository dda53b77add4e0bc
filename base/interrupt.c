/* For sigaltstack and SA_ONSTACK. */
#define _XOPEN_SOURCE 700
#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/diag.h"
#include "base/temporary.h"

static atomic_flag is_cleaning = ATOMIC_FLAG_INIT;
static atomic_int n_holds; /* threads of a library hold at the same time */
static volatile sig_atomic_t waiting;

void process_clean(void)
{
    if (atomic_flag_test_and_set(&is_cleaning))
        return;
    child_kill_all();
    temporary_remove_all();
}

/* Another thread that fails at the same time waits for the end of the process. */
_Noreturn void process_fail(const char *text, int exit_code)
{
    if (!atomic_flag_test_and_set(&is_cleaning)) {
        (void)!write(STDERR_FILENO, text, strlen(text));
        child_kill_all();
        temporary_remove_all();
        _exit(exit_code);
    }
    for (;;)
        pause();
}

_Static_assert(DIAG_OUT_OF_MEMORY == 15, "the text has the number");

/* No printf: it may allocate. */
_Noreturn void process_out_of_memory(size_t bytes)
{
    static const char start[] = "error[R0015]: out of memory", end[] = " bytes were needed\n";
    char text[96], digits[24];
    size_t n = sizeof start - 1, k = 0;

    memcpy(text, start, n);
    for (size_t rest = bytes; rest; rest /= 10)
        digits[k++] = (char)('0' + rest % 10);
    if (k) {
        memcpy(text + n, ": ", 2);
        n += 2;
        while (k)
            text[n++] = digits[--k];
        memcpy(text + n, end, sizeof end);
    } else {
        memcpy(text + n, "\n", 2);
    }
    process_fail(text, 3);
}

static void on_interrupt(int number)
{
    if (n_holds) {
        waiting = number;
        return;
    }
    if (atomic_flag_test_and_set(&is_cleaning))
        return; /* whoever cleans ends the process */
    child_kill_all();
    temporary_remove_all();
    _exit(128 + number);
}

_Static_assert(DIAG_INTERNAL == 901, "the text has the number");

void process_crashed(int number)
{
    char text[] = "error[R0901]: relayc, or a plug-in of it, crashed (signal   )\n";
    char *const at = strchr(text, ')') - 2;

    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
    process_fail(text, 70);
}

/* On a stack of its own, as there may be none left. Tools that have handlers of their own, such as
 * AddressSanitizer, keep them. */
static void handle_crashes(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    static _Alignas(16) char stack_bytes[64 * 1024];
    const stack_t stack = { .ss_sp = stack_bytes, .ss_size = sizeof stack_bytes };
    struct sigaction action = { .sa_handler = process_crashed, .sa_flags = SA_ONSTACK }, old;

    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

void interrupt_handle(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGPIPE, SIGHUP };
    struct sigaction action = { .sa_handler = on_interrupt }, old;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
    handle_crashes();
    atexit(process_clean);
}

void interrupt_hold(void)
{
    n_holds++;
}

int interrupt_held(void)
{
    return waiting;
}

void interrupt_release(void)
{
    n_holds--;
    if (!n_holds && waiting)
        on_interrupt(waiting);
}
