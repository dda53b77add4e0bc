/* crash.h - while generated code runs, a crash of it, or of a library that it calls, ends the
 * process in order: a line on standard error, no temporary files left, exit code 1.
 *
 * There is no way back into our own code: the library may have crashed with the allocator's lock.
 */
#ifndef RUNTIME_ENGINE_CRASH_H
#define RUNTIME_ENGINE_CRASH_H

#include <signal.h>

enum { CRASH_SIGNALS = 5 };

struct crash_guard {
    stack_t old_stack;
    void *stack; /* NULL = the one that was there */
};

/* where: "in region 3"; must live until the end. One guard per thread at a time. A signal that
 * somebody else handles already (a sanitizer, say) stays theirs. */
void crash_guard_begin(struct crash_guard *guard, const char *where);
void crash_guard_end(struct crash_guard *guard);

#endif
