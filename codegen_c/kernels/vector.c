/* vector.c - see vector.h. */
#include "codegen_c/kernels/vector.h"

void bind_vector(struct bind *bind)
{
    static const char name[] = "vector_f32";
    struct keys keys;

    if (bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "generic", true);
    keys_offer(&keys, "machine", "");
    keys_offer(&keys, "lanes", "");
    bind_new_helper(bind, name, "templates/helpers/vector_f32.c.tmpl", &keys);
}
