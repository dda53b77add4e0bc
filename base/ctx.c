#include "base/ctx.h"

#include <stdlib.h>

#include "base/memory.h"

struct ctx *ctx_new(const char *input_name)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);

    memory_check_libraries();
    if (!ctx)
        out_of_memory(sizeof *ctx);
    ctx->diags.input_name = input_name;
    return ctx;
}

void ctx_free(struct ctx *ctx)
{
    if (!ctx)
        return;
    arena_release(&ctx->perm);
    arena_release(&ctx->scratch);
    free(ctx);
}
