/* exact_steps.c - see exact_steps.h. */
#include "codegen_c/expr/exact_steps.h"

#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/exact.h"

enum { CODES = 256 };

const char *exact_steps_table(struct bind *bind, int input)
{
    const struct type *type = anchor_input(bind->region, input);
    const struct type of_table = type_make(DTYPE_I32, 1, (int64_t[]){ CODES });
    const char *name = arena_printf(bind->arena, "%s_steps", dtype_name(type->dtype));
    int32_t *steps = table_new(bind, DTYPE_I32, CODES);

    for (unsigned code = 0; code < CODES; code++)
        steps[code] = exact_steps(type_minifloat(type), code);
    return bind_operand(bind, constant_new(bind->region->fn, name, &of_table, steps));
}

void bind_steps(struct bind *bind, const char *key, int input)
{
    bind_text(bind, key, "%s", exact_steps_table(bind, input));
}

/* How exact_dot takes numbers apart where there is no multiplication to 64 bits. */
enum { SPLIT_BITS = 9, BLOCK = 16 };

/* Whether the sums of a block fit into 32 bits. */
static bool may_split(int64_t x, int64_t w)
{
    const int64_t lower = (1 << SPLIT_BITS) - 1, upper = (w >> SPLIT_BITS) + 1;

    return x * (lower > upper ? lower : upper) * BLOCK <= INT32_MAX;
}

const char *exact_dot(struct bind *bind, const struct minifloat *w, int64_t most)
{
    const bool split = may_split(most, exact_greatest(w));
    const char *name = split ? "exact_dot" : "exact_dot_wide", *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (!fn) {
        keys_init(&keys, bind->arena);
        keys_set_flag(&keys, "split", split);
        if (split) {
            keys_set_int(&keys, "split", SPLIT_BITS);
            keys_set_int(&keys, "block", BLOCK);
        }
        fn = bind_new_helper(bind, name, "templates/helpers/exact_dot.c.tmpl", &keys);
    }
    return fn;
}
