/* plugin.h - the hooks of a target that is not part of the binary: a shared object beside its
 * target.json (runtime/abi/relayc_plugin.h, docs/guide/plugin.md). */
#ifndef PARTITION_PLUGIN_H
#define PARTITION_PLUGIN_H

#include "partition/target.h"

/* Loads the shared object at `path` for the target of that name. The hooks wrap the plug-in, live
 * in ctx->perm, and are valid until the process ends. NULL after a PLUGIN error. */
const struct target_hooks *plugin_load(struct ctx *ctx, const char *path, const char *target);

#endif
