/* state.c - see state.h. */
#include "codegen_c/core/state.h"

bool is_guarded(const struct codegen *codegen)
{
    return codegen->options->guard && codegen->plan.arena_bytes > 0;
}

bool io_is_inside(const struct codegen *codegen)
{
    return codegen->plan.io_inside;
}

static const char *pool_pointer(struct codegen *codegen, const char *what, int pool)
{
    const struct codegen_pool *of = codegen->plan.pools[pool].of;

    return of ? arena_printf(&codegen->arena, "%s_%s", what, of->name) : what;
}

const char *pool_arena(struct codegen *codegen, int pool)
{
    return pool_pointer(codegen, "arena", pool);
}

const char *pool_base(struct codegen *codegen, int pool)
{
    return pool_pointer(codegen, "base", pool);
}
