/* ctx.h - compilation context: memory by lifetime, diagnostics, limits. */
#ifndef BASE_CTX_H
#define BASE_CTX_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/limit.h"

struct ctx {
    struct arena perm;    /* lives as long as the compilation */
    struct arena scratch; /* emptied after each pass; nothing may point into it across passes */
    struct diags diags;
    struct cost_limits limits;
};

/* A context whose diagnostics name the file `input_name` (borrowed; NULL = none yet). */
struct ctx *ctx_new(const char *input_name);

/* Frees the context and everything in its arenas. */
void ctx_free(struct ctx *ctx);

#endif
