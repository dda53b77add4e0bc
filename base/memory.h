/* memory.h - the allocators of libraries: with them, too, running out of memory ends the process.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* malloc, but for its failure: out_of_memory. */
void *checked_malloc(size_t bytes);

/* From now on cJSON (whose functions return NULL where they have no memory, and build an incomplete
 * document if that is ignored) and C++'s operator new (oneDNN) do the same. ctx_new calls it.
 * posix_memalign and mmap of no file do so in any program that has this file. */
void memory_check_libraries(void);

#endif
