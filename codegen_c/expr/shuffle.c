/* shuffle.c - see shuffle.h. */
#include "codegen_c/expr/shuffle.h"

#include "base/str.h"
#include "codegen_c/expr/vector.h"

const char *bind_shuffle(struct bind *bind, const char *name, const char *what, const char *from)
{
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    bind_vector(bind);
    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "linkage", vector_linkage(bind));
    keys_set(&keys, "what", what);
    keys_set(&keys, "from", from);
    return bind_new_helper(bind, name, "templates/helpers/shuffle_f32.c.tmpl", &keys);
}

/* "0, 2, 4 ...": the even indices of two vectors. */
static const char *half_list(struct bind *bind, int first)
{
    struct str out = { .arena = bind->arena };

    for (int i = 0; i < bind->machine->lanes; i++)
        str_printf(&out, "%s%d", i ? ", " : "", 2 * i + first);
    return str_text(&out);
}

const char *bind_half(struct bind *bind, bool odd)
{
    return odd ? bind_shuffle(bind, "odds", "The elements of odd index of a and b.",
                              half_list(bind, 1))
               : bind_shuffle(bind, "evens", "The elements of even index of a and b.",
                              half_list(bind, 0));
}

/* "0, 16, 1, 17 ...": indices that interleave two vectors; of each `group` elements the front, or
 * back, half. */
static const char *zip_list(struct bind *bind, int group, bool back)
{
    const int lanes = bind->machine->lanes;
    struct str out = { .arena = bind->arena };

    for (int start = 0; start < lanes; start += group)
        for (int i = 0; i < group / 2; i++) {
            const int at = start + (back ? group / 2 : 0) + i;

            str_printf(&out, "%s%d, %d", out.n ? ", " : "", at, lanes + at);
        }
    return str_text(&out);
}

const char *bind_zip(struct bind *bind, int group, bool back)
{
    const char *what =
        arena_printf(bind->arena, "Interleaves the %s halves of %s.", back ? "back" : "front",
                     group == bind->machine->lanes
                         ? "a and b"
                         : arena_printf(bind->arena, "every %d elements of a and b", group));

    return bind_shuffle(bind, back ? "zip_back" : "zip_front", what, zip_list(bind, group, back));
}
