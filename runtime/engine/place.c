/* place.c - where pool storages lie: the largest first, each at the lowest offset at which it meets
 * no other that is in use at the same time. */
#include <stdlib.h>

#include "runtime/engine/plan.h"

enum { POOL_ALIGN = 64 }; /* a cache line, and a vector register of AVX-512 */

static int by_size(const void *a, const void *b)
{
    const struct storage *x = *(struct storage *const *)a, *y = *(struct storage *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->last < y->last ? -1 : x->last > y->last;
}

static bool overlap_in_time(const struct storage *a, const struct storage *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The end of a placed storage that [offset, offset + bytes) runs into, 0 if there is none. */
static size_t blocked_until(struct storage *const *placed, int n, const struct storage *storage,
                            size_t offset)
{
    for (int i = 0; i < n; i++)
        if (overlap_in_time(placed[i], storage) && placed[i]->offset < offset + storage->bytes &&
            offset < placed[i]->offset + placed[i]->bytes)
            return placed[i]->offset + placed[i]->bytes;
    return 0;
}

void plan_place(struct plan *plan)
{
    size_t pool_bytes = 0, n_storages = 0;
    struct storage **pool;
    int n = 0;

    for (struct storage *s = plan->storages; s; s = s->next)
        n_storages++;
    pool = arena_array(&plan->arena, struct storage *, n_storages);
    for (struct storage *s = plan->storages; s; s = s->next)
        if (s->home == HOME_POOL) {
            s->bytes = (s->bytes + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
            pool[n++] = s;
        }
    qsort(pool, (size_t)n, sizeof *pool, by_size);
    for (int i = 0; i < n; i++) {
        size_t next;

        while ((next = blocked_until(pool, i, pool[i], pool[i]->offset)) > 0)
            pool[i]->offset = next;
        if (pool[i]->offset + pool[i]->bytes > pool_bytes)
            pool_bytes = pool[i]->offset + pool[i]->bytes;
    }
    plan->pool = bulk_alloc(&plan->pool_memory, pool_bytes);
}
