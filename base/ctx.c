#include "base/ctx.h"

#include "base/memory.h"

struct ctx *ctx_new(const char *input_name)
{
    struct ctx *ctx;

    memory_check_libraries();
    ctx = block_alloc(sizeof *ctx, 0);
    ctx->diags.input_name = input_name;
    return ctx;
}

void ctx_free(struct ctx *ctx)
{
    if (!ctx)
        return;
    arena_release(&ctx->perm);
    arena_release(&ctx->scratch);
    block_free(ctx);
}
