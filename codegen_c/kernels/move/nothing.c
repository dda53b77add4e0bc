/* nothing.c - regions whose results are empty: an extent of 0 is legal, and no other kernel has to
 * care about dividing by it. */
#include "codegen_c/core/kernel.h"

static bool accepts_nothing(const struct region *region, const char **why)
{
    const struct node *ret = region->fn->ret;

    *why = "there are elements to compute";
    for (int i = 0; i < ret->n_inputs; i++)
        if (type_elements(&ret->inputs[i]->type) > 0)
            return false;
    return true;
}

static bool bind_nothing(struct bind *bind)
{
    const struct function *fn = bind->region->fn;
    struct str unused = { .arena = bind->arena };

    for (int i = 0; i < fn->n_params; i++)
        str_printf(&unused, "(void)%s;\n", bind->region->params[i]);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        str_printf(&unused, "(void)%s;\n", bind->region->results[i]);
    bind_text(bind, "unused", "%s", str_text(&unused));
    return true;
}

const struct kernel kernel_nothing = {
    .name = "nothing",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { CHAINS, accepts_nothing, bind_nothing } },
};
