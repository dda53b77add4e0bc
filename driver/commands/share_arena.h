/* share_arena.h - relayc compile A.onnx B.onnx with --share-arena, --shared-kernels or both. */
#ifndef DRIVER_COMMANDS_SHARE_ARENA_H
#define DRIVER_COMMANDS_SHARE_ARENA_H

#include "driver/driver.h"

struct shared_arena {
    int n;                        /* models compiled; after an error, the last one was not */
    struct driver_state *all;     /* [n] */
    bool fits;                    /* --flash, and each model its budget */
    const char *header;           /* path of shared_arena.h; NULL without --share-arena */
    size_t bytes, separate_bytes; /* of the shared arena; of one for each model */
    struct kernels_result kernels;
};

/* Compiles all operands and writes what they share. False after errors. Call driver_shared_free in
 * any case. */
bool driver_compile_shared(struct driver_state *driver, struct shared_arena *out);
void driver_shared_free(struct shared_arena *shared);

#endif
