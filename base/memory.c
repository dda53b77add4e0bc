#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/interrupt.h"

enum { FIRST_BUCKETS = 256 };

struct resource {
    struct resource *older, *newer, *next; /* next: of the bucket */
    void *key;
    void (*release)(void *key, size_t size);
    size_t size;
    uint64_t serial;
};

struct memory_owner {
    pthread_mutex_t lock; /* for all that follows: several threads may work for one owner */
    struct resource *newest;
    struct resource **buckets;
    size_t n, n_buckets;
    uint64_t serial; /* of the next resource */
    bool is_exhausted;
    size_t bytes; /* that were asked for then */
};

/* What this thread works for, and where it goes when memory ends. */
static _Thread_local struct {
    struct memory_owner *owner;
    jmp_buf *boundary;
} current;

/* --- the table -------------------------------------------------------------------------------- */

static size_t bucket_of(const struct memory_owner *owner, const void *key)
{
    return (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> 32) &
           (owner->n_buckets - 1);
}

/* Without memory for more buckets, those that are there get longer. */
static void grow(struct memory_owner *owner)
{
    const size_t n = 2 * owner->n_buckets;
    struct resource **buckets = calloc(n, sizeof *buckets);

    if (!buckets)
        return;
    free(owner->buckets);
    owner->buckets = buckets;
    owner->n_buckets = n;
    for (struct resource *r = owner->newest; r; r = r->older) {
        struct resource **bucket = &owner->buckets[bucket_of(owner, r->key)];

        r->next = *bucket;
        *bucket = r;
    }
}

static void add(struct memory_owner *owner, struct resource *r)
{
    struct resource **bucket;

    pthread_mutex_lock(&owner->lock);
    if (owner->n == 2 * owner->n_buckets)
        grow(owner);
    r->serial = owner->serial++;
    r->older = owner->newest;
    if (owner->newest)
        owner->newest->newer = r;
    owner->newest = r;
    bucket = &owner->buckets[bucket_of(owner, r->key)];
    r->next = *bucket;
    *bucket = r;
    owner->n++;
    pthread_mutex_unlock(&owner->lock);
}

/* Takes it out; NULL if it is not there. */
static struct resource *take(struct memory_owner *owner, const void *key)
{
    struct resource **at = &owner->buckets[bucket_of(owner, key)], *r;

    while (*at && (*at)->key != key)
        at = &(*at)->next;
    r = *at;
    if (!r)
        return NULL;
    *at = r->next;
    if (r->newer)
        r->newer->older = r->older;
    else
        owner->newest = r->older;
    if (r->older)
        r->older->newer = r->newer;
    owner->n--;
    return r;
}

/* The newest first, as it may lie in an older one. */
static void release_since(struct memory_owner *owner, uint64_t serial)
{
    struct memory_owner *const before = current.owner;

    current.owner = owner; /* what is released disowns what it frees itself */
    for (;;) {
        struct resource *r;

        pthread_mutex_lock(&owner->lock);
        r = owner->newest && owner->newest->serial >= serial ? take(owner, owner->newest->key)
                                                             : NULL;
        pthread_mutex_unlock(&owner->lock);
        if (!r)
            break;
        r->release(r->key, r->size);
        free(r);
    }
    current.owner = before;
}

/* --- owners ----------------------------------------------------------------------------------- */

struct memory_owner *memory_owner_new(void)
{
    struct memory_owner *owner = calloc(1, sizeof *owner);

    if (owner)
        owner->buckets = calloc(FIRST_BUCKETS, sizeof(struct resource *));
    if (!owner || !owner->buckets) {
        free(owner);
        return NULL;
    }
    owner->n_buckets = FIRST_BUCKETS;
    pthread_mutex_init(&owner->lock, NULL);
    return owner;
}

void memory_owner_free(struct memory_owner *owner)
{
    if (!owner)
        return;
    release_since(owner, 0);
    pthread_mutex_destroy(&owner->lock);
    free(owner->buckets);
    free(owner);
}

size_t memory_owner_count(struct memory_owner *owner)
{
    return owner->n;
}

struct memory_owner *memory_current(void)
{
    return current.owner;
}

/* Nothing here changes between setjmp and a jump to it. */
bool memory_attempt(struct memory_owner *owner, void (*body)(void *user), void *user)
{
    struct memory_owner *const before = current.owner;
    jmp_buf *const boundary = current.boundary;
    jmp_buf here;

    if (setjmp(here) != 0) {
        current.owner = before;
        current.boundary = boundary;
        return false;
    }
    current.owner = owner;
    current.boundary = owner ? &here : NULL;
    body(user);
    current.owner = before;
    current.boundary = boundary;
    return true;
}

bool memory_guard(struct memory_owner *owner, void (*body)(void *user), void *user, size_t *bytes)
{
    const uint64_t serial = owner->serial;

    owner->is_exhausted = false;
    if (memory_attempt(owner, body, user))
        return true;
    release_since(owner, serial);
    *bytes = owner->bytes;
    return false;
}

void memory_check(void)
{
    if (current.owner && current.owner->is_exhausted)
        out_of_memory(current.owner->bytes);
}

/* arena.h has the promise. */
_Noreturn void out_of_memory(size_t bytes)
{
    struct memory_owner *owner = current.owner;

    if (!current.boundary)
        process_out_of_memory(bytes);
    pthread_mutex_lock(&owner->lock);
    owner->is_exhausted = true;
    owner->bytes = bytes;
    pthread_mutex_unlock(&owner->lock);
    longjmp(*current.boundary, 1);
}

/* --- resources -------------------------------------------------------------------------------- */

void memory_own(void *key, void (*release)(void *key, size_t size), size_t size)
{
    struct resource *r;

    if (!current.owner)
        return;
    r = calloc(1, sizeof *r);
    if (!r) {
        release(key, size);
        out_of_memory(sizeof *r);
    }
    r->key = key;
    r->release = release;
    r->size = size;
    add(current.owner, r);
}

void memory_disown(void *key)
{
    struct memory_owner *owner = current.owner;
    struct resource *r;

    if (!owner || !key)
        return;
    pthread_mutex_lock(&owner->lock);
    r = take(owner, key);
    pthread_mutex_unlock(&owner->lock);
    free(r);
}

static void release_block(void *block, size_t size)
{
    (void)size;
    free(block);
}

void *block_alloc(size_t bytes, size_t align)
{
    const size_t wanted = bytes ? bytes : 1;
    void *block = align ? aligned_alloc(align, wanted) : calloc(1, wanted);

    if (!block)
        out_of_memory(bytes);
    if (align)
        memset(block, 0, wanted);
    memory_own(block, release_block, 0);
    return block;
}

void block_free(void *block)
{
    memory_disown(block);
    free(block);
}

/* Numbers of descriptors are no addresses of anything. */
static void *key_of(int fd)
{
    return (void *)((uintptr_t)fd + 1);
}

static void release_fd(void *key, size_t size)
{
    (void)size;
    close((int)((uintptr_t)key - 1));
}

void memory_own_fd(int fd)
{
    memory_own(key_of(fd), release_fd, 0);
}

int memory_close(int fd)
{
    memory_disown(key_of(fd));
    return close(fd);
}

/* --- libraries -------------------------------------------------------------------------------- */

/* Some thread works for nobody: then this is a program, which ends where memory does. */
static atomic_bool is_program;

/* What a caller of the library asks of cJSON outside of it gets NULL, as ever. */
static void *json_alloc(size_t bytes)
{
    void *block;

    if (current.owner)
        return block_alloc(bytes, 0);
    block = malloc(bytes ? bytes : 1);
    if (!block && atomic_load(&is_program))
        out_of_memory(bytes);
    return block;
}

static void no_memory(void)
{
    out_of_memory(0);
}

/* std::set_new_handler, by its name in the C++ ABI; a program without C++ has none. */
static void check_new(void)
{
    void *const symbol = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    void (*(*set_new_handler)(void (*)(void)))(void);

    if (!symbol)
        return;
    memcpy(&set_new_handler, &symbol, sizeof set_new_handler);
    set_new_handler(no_memory);
}

static void check_json(void)
{
    cJSON_Hooks hooks = { .malloc_fn = json_alloc, .free_fn = block_free };

    cJSON_InitHooks(&hooks);
}

void memory_check_libraries(void)
{
    static pthread_once_t json = PTHREAD_ONCE_INIT, new = PTHREAD_ONCE_INIT;

    pthread_once(&json, check_json);
    if (current.owner)
        return;
    atomic_store(&is_program, true);
    pthread_once(&new, check_new);
}
