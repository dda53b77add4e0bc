/* adapter.h - a uniform C interface for all generated models: arrays of pointers. */
#ifndef RUNTIME_ENGINE_ADAPTER_H
#define RUNTIME_ENGINE_ADAPTER_H

#include "relay_ir/ir.h"

/* Memory that the generated code needs from its caller. All 0: arrays, and one arena. */
struct adapter_memory {
    int n_pools; /* number of pool pointers in place of the arena pointer; pools are adjacent pieces
                    of one arena */
    const size_t *pool_room; /* bytes from each pool to the next, alignment included */
    /* Offsets of inputs and outputs in the arena; NULL = arrays. Inputs are copied there before the
     * first region, outputs from there after the last. */
    const size_t *in_at, *out_at;
    int n_sizes;   /* of --vary: in[] ends with a pointer to n_sizes int32_t */
    int n_regions; /* number of regions of NAME_step */
    /* Struct NAME_state lies behind the arena, and where each of the module's states lies in it: what is kept is an
     * input and an output like others here. */
    size_t state_place, state_bytes;
    const size_t *state_at;
};

/* Writes the C file `path`, which includes NAME.h of its folder and defines
 *
 *   size_t relayc_arena_bytes(void);
 *   int relayc_call(int region, const void *const *in, void *const *out, void *arena);
 *
 * where relayc_call is NAME_run, or (step) NAME_step for region >= 0. fn is main. */
bool adapter_write(struct ctx *ctx, const struct function *fn, const char *name, bool step,
                   const struct adapter_memory *memory, const char *path);

#endif
