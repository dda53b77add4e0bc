/* gemv.c - see gemv.h. */
#include "codegen_c/kernels/gemv.h"

#include "codegen_c/kernels/vector.h"

void gemv_panel_helper(struct bind *bind)
{
    static const char name[] = "gemv";
    struct keys keys;

    if (bind_own_helper(bind, name))
        return;
    bind_vector(bind);
    keys_init(&keys, bind->arena);
    bind_new_helper(bind, name, "templates/helpers/gemv.c.tmpl", &keys);
}

int64_t gemv_unroll(struct bind *bind)
{
    static const int64_t values[] = { 1, 2, 4, 8 };

    return bind_knob(bind, KNOB_UNROLL, 1, sizeof values / sizeof *values, values);
}

const char *gemv_function(struct bind *bind, int64_t unroll)
{
    const char *name =
        unroll > 1 ? arena_printf(bind->arena, "gemv_f32_by_%d", (int)unroll) : "gemv_f32";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    gemv_panel_helper(bind);
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "unrolled", unroll > 1);
    keys_set_int(&keys, "unroll", unroll);
    keys_set_flag(&keys, "first_part_0", true);
    keys_set_flag(&keys, "first_part_1", false);
    return bind_new_helper(bind, name, "templates/helpers/gemv_f32.c.tmpl", &keys);
}

const char *gemv_matvec(struct bind *bind)
{
    static const char name[] = "matvec_f32";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    keys_init(&keys, bind->arena);
    keys_set(&keys, "gemv", gemv_function(bind, 1));
    return bind_new_helper(bind, name, "templates/helpers/matvec_f32.c.tmpl", &keys);
}

struct panels gemv_panels(int64_t groups, int64_t n_rows, int64_t len)
{
    return (struct panels){ .groups = groups,
                            .n_rows = n_rows,
                            .len = len,
                            .group_step = n_rows * len,
                            .row_step = len,
                            .len_step = 1,
                            .width = GEMV_PANEL,
                            .ragged = true,
                            .slack = GEMV_SLACK };
}
