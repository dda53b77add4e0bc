/* inject.h - functions of the preloaded tests/inject.c, found by dlsym. */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

/* From now on, counted again: "memory:17", "memory:17+"; NULL: nothing fails. */
void inject_begin(const char *wish);

long inject_allocations(void); /* since then */
long inject_live_blocks(void); /* that are allocated now */

#endif
