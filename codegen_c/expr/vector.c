/* vector.c - see vector.h. */
#include "codegen_c/expr/vector.h"

#include <string.h>

const char *vector_linkage(struct bind *bind)
{
    if (bind->machine->lanes == 0)
        bind_helper(bind, "inline_f32");
    return bind->machine->lanes ? "static inline WIDE __attribute__((always_inline))"
                                : "INLINE_F32 WIDE";
}

void bind_vector(struct bind *bind)
{
    static const char name[] = "vector_f32";
    struct keys keys;
    bool by_lanes;

    bind_helper(bind, "wide_loops");
    if (sums_are_fused(bind))
        bind_helper(bind, "fuse_lanes");
    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "generic", bind->machine->lanes == 0);
    keys_set(&keys, "machine", bind->machine->name);
    keys_set_int(&keys, "lanes", bind->machine->lanes);
    keys_set_flag(&keys, "inlined", bind->machine->arch == ARCH_X86_64 && bind->machine->lanes > 4);
    bind_new_helper(bind, name, "templates/helpers/vector_f32.c.tmpl", &keys);
    if (!sums_are_fused(bind))
        return;
    /* Arm has an instruction for one x: fuse_vector may have no other caller. */
    by_lanes = bind->machine->lanes == 4 &&
               (bind->machine->arch == ARCH_AARCH64 || bind->machine->arch == ARCH_ARM);
    for (int i = 0; i < 2; i++) {
        keys_init(&keys, bind->arena);
        keys_set(&keys, "linkage", vector_linkage(bind));
        keys_offer_flag(&keys, "generic", bind->machine->lanes == 0);
        keys_offer_flag(&keys, "by_lanes", by_lanes);
        bind_new_helper(
            bind, i ? "fuse" : "fuse_vector",
            i ? "templates/helpers/fuse.c.tmpl" : "templates/helpers/fuse_vector.c.tmpl", &keys);
    }
}

enum { MOST_LANES = 16, LEAST_LANES = 4 };

/* "8" of "vector8_f32", "" of "vector_f32". */
static const char *suffix_of(struct arena *arena, const char *type)
{
    static const char vector[] = "vector";

    if (strcmp(type, "float") == 0)
        return "1";
    type += strlen(vector);
    return arena_strndup(arena, type, strspn(type, "0123456789"));
}

const char *bind_vector_fn(struct bind *bind, const char *stem, const char *type)
{
    const char *name = arena_printf(bind->arena, "%s%s", stem, suffix_of(bind->arena, type));
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    bind_vector(bind);
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "linkage", vector_linkage(bind));
    keys_set(&keys, "vector", type);
    keys_offer_flag(&keys, "one", strcmp(type, "float") == 0);
    return bind_new_helper(bind, name,
                           arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", stem), &keys);
}

int64_t row_block(int64_t n, int64_t most)
{
    for (int64_t multiple = MOST_LANES; multiple >= LEAST_LANES; multiple /= 2)
        for (int64_t len = most; len >= multiple; len -= multiple)
            if (n % len == 0)
                return len;
    for (int64_t len = most; len > LEAST_LANES; len--)
        if (n % len == 0)
            return len;
    return n;
}

/* Single floats. */
static struct row_vector single_float(struct bind *bind)
{
    if (sums_are_fused(bind))
        bind_helper(bind, "fuse_float");
    return (struct row_vector){ .type = "float", .lanes = "1", .fuse = "fuse_float", .most = 1 };
}

struct row_vector bind_row_vector(struct bind *bind, int64_t n)
{
    struct row_vector vector = {
        .type = "vector_f32", .lanes = "LANES", .fuse = "fuse_vector", .most = MOST_LANES
    };
    const char *name;
    struct keys keys;

    bind_vector(bind);
    while (vector.most >= LEAST_LANES && n < vector.most)
        vector.most /= 2;
    if (vector.most < LEAST_LANES)
        return single_float(bind);
    vector.overlaps = n % vector.most != 0;
    if (vector.most == MOST_LANES)
        return vector;
    name = arena_printf(bind->arena, "vector%d_f32", vector.most);
    vector.type = bind_own_helper(bind, name);
    vector.lanes = arena_printf(bind->arena, "LANES%d", vector.most);
    vector.fuse = arena_printf(bind->arena, "fuse_vector%d", vector.most);
    if (vector.type)
        return vector;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "most", vector.most);
    vector.type = bind_new_helper(bind, name, "templates/helpers/vector_most_f32.c.tmpl", &keys);
    if (!sums_are_fused(bind))
        return vector;
    keys_init(&keys, bind->arena);
    keys_set_int(&keys, "most", vector.most);
    keys_set(&keys, "type", vector.type);
    keys_offer(&keys, "linkage", vector_linkage(bind));
    keys_offer(&keys, "bits", vector.most == 8 ? "256" : "");
    keys_offer(&keys, "whole", vector.most == 8 ? "256" : "128");
    bind_new_helper(bind, vector.fuse, "templates/helpers/fuse_vector_most.c.tmpl", &keys);
    return vector;
}
