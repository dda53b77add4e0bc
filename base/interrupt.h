/* interrupt.h - how a run ends before its time: by a signal, or because memory is used up. Either
 * way the processes that it started end first, then all that is temporary goes (base/temporary.h).
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stddef.h>

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE clean up and end the process with exit code 128 +
 * their number (a SIGHUP that is ignored stays so: nohup); a file that grows beyond `ulimit -f` is
 * an error of write, no signal; a crash is told of, cleans up, and ends with exit code 70; and what
 * a library ends by exit() cleans up, too. For main. */
void interrupt_handle(void);

/* The handler of crashes. */
void process_crashed(int number);

/* Between these a signal waits: for the few steps of which all or none must be done. */
void interrupt_hold(void);
int interrupt_held(void); /* the signal that waits, 0 = none */
void interrupt_release(void);

/* Ends the children and removes all that is temporary; once. For signal handlers, too. */
void process_clean(void);

/* Prints the text (which ends its line) on standard error, cleans up, and ends the process.
 * Allocates nothing; for any thread. */
_Noreturn void process_fail(const char *text, int exit_code);

/* The same, because `bytes` (0: not known) could not be had; exit code 3. */
_Noreturn void process_out_of_memory(size_t bytes);

#endif
