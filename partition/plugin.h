/* plugin.h - hooks of a backend in a shared object beside its target.json
 * (runtime/abi/relayc_plugin.h, docs/guide/plugin.md). */
#ifndef PARTITION_PLUGIN_H
#define PARTITION_PLUGIN_H

#include "partition/target.h"

/* Loads the shared object at `path` for the backend `target`. The hooks live in ctx->perm and stay
 * valid until the process ends. NULL after a PLUGIN error. */
const struct target_hooks *plugin_load(struct ctx *ctx, const char *path, const char *target);

#endif
