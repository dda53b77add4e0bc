/* adapter.h - the same C interface for every generated model: arrays of pointers. */
#ifndef RUNTIME_ENGINE_ADAPTER_H
#define RUNTIME_ENGINE_ADAPTER_H

#include "relay_ir/ir.h"

/* The memory that the generated code wants of its caller. All 0: arrays, and one arena. */
struct adapter_memory {
    int n_pools; /* pointers to pieces of the arena, one behind the other, in the place of one */
    const size_t *pool_room; /* bytes from one to the next: each begins where it may */
    /* Where inputs and outputs are in the arena, so that there are no arrays; NULL = arrays. The
     * former are copied there before the first region, the latter from there after the last. */
    const size_t *in_at, *out_at;
    int n_regions; /* of NAME_step */
};

/* Writes the C file `path`, which includes NAME.h of its folder and defines
 *
 *   size_t relayc_arena_bytes(void);
 *   int relayc_call(int region, const void *const *in, void *const *out, void *arena);
 *
 * the second of which is NAME_run, or (step) NAME_step for region >= 0. fn is main. */
bool adapter_write(struct ctx *ctx, const struct function *fn, const char *name, bool step,
                   const struct adapter_memory *memory, const char *path);

#endif
