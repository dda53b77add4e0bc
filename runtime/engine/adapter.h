/* adapter.h - the same C interface for every generated model: arrays of pointers. */
#ifndef RUNTIME_ENGINE_ADAPTER_H
#define RUNTIME_ENGINE_ADAPTER_H

#include "relay_ir/ir.h"

/* Writes the C file `path`, which includes NAME.h of its folder and defines
 *
 *   size_t relayc_arena_bytes(void);
 *   int relayc_call(int region, const void *const *in, void *const *out, void *arena);
 *
 * the second of which is NAME_run, or (step) NAME_step for region >= 0. fn is main. */
bool adapter_write(struct ctx *ctx, const struct function *fn, const char *name, bool step,
                   const char *path);

#endif
