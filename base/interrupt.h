/* interrupt.h - abnormal end of a run: by a signal, or out of memory. Child processes are ended
 * first, then temporary files removed (base/temporary.h). */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stddef.h>

/* Installs handlers, for main: SIGINT, SIGTERM, SIGHUP and SIGPIPE clean up and exit with 128 +
 * signal (an ignored SIGHUP stays ignored: nohup); exceeding `ulimit -f` is a write error, not a
 * signal; a crash is reported, cleans up, and exits with 70; exit() in a library cleans up too. */
void interrupt_handle(void);

/* The handler of crashes. */
void process_crashed(int number);

/* Delays signals during a few steps that must be done together. */
void interrupt_hold(void);
int interrupt_held(void); /* pending signal, 0 = none */
void interrupt_release(void);

/* Ends the children and removes temporary files; once. Async-signal-safe. */
void process_clean(void);

/* Prints the text, with its newline, on stderr, cleans up and exits. Allocates nothing;
 * thread-safe. */
_Noreturn void process_fail(const char *text, int exit_code);

/* process_fail for a failed allocation of `bytes` (0: unknown); exit code 3. */
_Noreturn void process_out_of_memory(size_t bytes);

#endif
