/* accumulate.c - see accumulate.h. */
#include "codegen_c/microkernel/accumulate.h"

void bind_accumulator(struct bind *bind, enum dtype dtype)
{
    const char *wide = dtype_bytes(dtype) == 8 ? "uint64_t" : "uint32_t";

    if (dtype_is_float(dtype)) {
        bind_text(bind, "tacc", "%s", dtype_c_type(dtype));
        bind_text(bind, "widen", "%s", "");
        return;
    }
    bind_text(bind, "tacc", "%s", wide);
    if (dtype == DTYPE_U64 || dtype == DTYPE_U32)
        bind_text(bind, "widen", "%s", "");
    else
        bind_text(bind, "widen", "(%s)", wide);
}

const char *accumulated(struct bind *bind, enum dtype dtype, const char *acc)
{
    if (dtype_is_float(dtype) || dtype == DTYPE_U32 || dtype == DTYPE_U64)
        return acc;
    return arena_printf(bind->arena, "(%s)%s", dtype_c_type(dtype), acc);
}
