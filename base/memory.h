/* memory.h - resource ownership, and recovery from out of memory.
 *
 * A program needs no owner: out_of_memory ends the process. A library must survive. While a thread
 * works for an owner, everything it acquires is recorded there (blocks, mappings, descriptors,
 * temporary files, library handles). memory_guard is a boundary to which out_of_memory jumps
 * (longjmp) and which releases, newest first, what was acquired inside. So a guarded body must
 * change only the owner's resources, and must not allocate between acquiring a resource and
 * memory_own.
 *
 * Without an owner, these functions are just malloc and free. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory_owner;

struct memory_owner *memory_owner_new(void); /* NULL: out of memory */

/* Releases all resources and the owner. NULL is fine. */
void memory_owner_free(struct memory_owner *owner);

size_t memory_owner_count(struct memory_owner *owner); /* resources; for tests */

/* Runs body with this thread working for the owner. False: out of memory (*bytes were requested, 0
 * = unknown), and everything acquired inside is released. */
bool memory_guard(struct memory_owner *owner, void (*body)(void *user), void *user, size_t *bytes);

/* Owner of this thread; NULL = none. */
struct memory_owner *memory_current(void);

/* For worker threads: runs body for the owner (NULL: none). False: out of memory; what it acquired
 * stays until the owner's guard ends, which the starting thread reaches by memory_check. */
bool memory_attempt(struct memory_owner *owner, void (*body)(void *user), void *user);

/* Calls out_of_memory if another thread of this owner did. */
void memory_check(void);

/* --- resources -------------------------------------------------------------------------------- */

/* Registers a resource that the owner releases unless memory_disown is called. If recording fails,
 * it is released at once. */
void memory_own(void *key, void (*release)(void *key, size_t size), size_t size);
void memory_disown(void *key);

/* Zeroed bytes, never NULL. `align` is a power of two; 0: as malloc. */
void *block_alloc(size_t bytes, size_t align);
void block_free(void *block);

/* Registers a descriptor; closes one. */
void memory_own_fd(int fd);
int memory_close(int fd); /* as close */

/* --- libraries -------------------------------------------------------------------------------- */

/* Hooks allocators of libraries: cJSON (which returns NULL and builds incomplete documents when out
 * of memory) uses block_alloc; without an owner, a failing C++ operator new (oneDNN) ends the
 * process too. Called by ctx_new. */
void memory_check_libraries(void);

#endif
