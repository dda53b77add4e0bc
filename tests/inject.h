/* inject.h - functions of the preloaded tests/inject.c, found by dlsym. */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

/* From now on, counted again: "memory:17", "memory:17+"; NULL: nothing fails. */
void inject_begin(const char *wish);

/* Allocations of these libraries, and of what they call, work from now on: "libdnnl.so", NULL last. */
void inject_spare(const char *const *libraries);

long inject_allocations(void); /* since then */
long inject_live_blocks(void); /* that are allocated now */

#endif
