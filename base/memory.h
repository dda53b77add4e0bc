/* memory.h - who owns what, and what happens where memory ends.
 *
 * A program that ends with its work needs no owner: out_of_memory ends the process. A library must
 * survive that. While a thread works for an owner, all that it acquires is noted there (blocks,
 * mappings, descriptors, temporary files, handles of libraries); memory_guard is a boundary to
 * which out_of_memory jumps (longjmp), and which releases what was acquired since it was entered,
 * the newest first. So nothing but an owner's resources may be changed that somebody needs
 * afterwards, and between the acquisition of a resource and memory_own nothing may be allocated.
 *
 * Functions that note or release do nothing more than malloc and free where there is no owner. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory_owner;

struct memory_owner *memory_owner_new(void); /* NULL: no memory */

/* Releases all that it still owns, and itself. NULL is fine. */
void memory_owner_free(struct memory_owner *owner);

size_t memory_owner_count(struct memory_owner *owner); /* resources; for tests */

/* Runs body for the owner, whose this thread is until it returns. False: memory ran out (*bytes
 * were asked for, 0 = not known), and all that was acquired since the call is released. */
bool memory_guard(struct memory_owner *owner, void (*body)(void *user), void *user, size_t *bytes);

/* Whose this thread is; NULL = nobody's. */
struct memory_owner *memory_current(void);

/* For threads: runs body for the owner (NULL: for nobody). False: memory ran out in it; what it has
 * acquired stays until the owner's guard ends, to which the thread that started this one goes by
 * memory_check. */
bool memory_attempt(struct memory_owner *owner, void (*body)(void *user), void *user);

/* Runs out of memory if another thread of this thread's owner did. */
void memory_check(void);

/* --- resources -------------------------------------------------------------------------------- */

/* From now on the owner releases it unless memory_disown comes first. If there is no memory for the
 * note, it is released at once. */
void memory_own(void *key, void (*release)(void *key, size_t size), size_t size);
void memory_disown(void *key);

/* Zeroed bytes, never NULL. `align` is a power of two; 0: as malloc. */
void *block_alloc(size_t bytes, size_t align);
void block_free(void *block);

/* A descriptor. */
void memory_own_fd(int fd);
int memory_close(int fd); /* as close */

/* --- libraries -------------------------------------------------------------------------------- */

/* From now on cJSON (whose functions return NULL where they have no memory, and build an incomplete
 * document if that is ignored) allocates as block_alloc does; where no owner is, C++'s operator
 * new (oneDNN) ends the process, too. ctx_new calls it. */
void memory_check_libraries(void);

#endif
