/* dyn_window.c - dyn.strided_slice and dyn.nn.pad: what is read of x is known at run time only. One
 * loop over the elements of the result, whose places in x are computed one by one. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"

static bool accepts_window(const struct region *region, const char **why)
{
    return takes_sizes(region, why);
}

static void bind_dims(struct bind *bind, const char *key, const struct type *type)
{
    struct str dims = { .arena = bind->arena };

    for (int i = 0; i < type->rank; i++)
        str_printf(&dims, "%s%" PRId64, i ? ", " : "", type->dim[i]);
    bind_text(bind, key, "%s", str_text(&dims));
}

static void bind_window(struct bind *bind, int axes, const char *mode)
{
    const struct region *region = bind->region;

    bind_int(bind, "rank", anchor_input(region, 0)->rank);
    bind_int(bind, "len", type_elements(anchor_output(region, 0)));
    bind_dims(bind, "x_dims", anchor_input(region, 0));
    bind_dims(bind, "y_dims", anchor_output(region, 0));
    bind_int(bind, "n", type_elements(anchor_input(region, axes)));
    bind_input(bind, "axes", axes);
    bind_input(bind, "x", 0);
    bind_text(bind, "mode", "%c", *mode);
    bind_helper(bind, "window_index");
}

static bool bind_dyn_slice(struct bind *bind)
{
    bind_window(bind, 3, "edge"); /* nothing is outside */
    bind_flag(bind, "slices", true);
    bind_flag(bind, "filled", false);
    bind_input(bind, "starts", 1);
    bind_input(bind, "ends", 2);
    bind_input(bind, "steps", 4);
    bind_helper(bind, "slice_window");
    return true;
}

static bool bind_dyn_pad(struct bind *bind)
{
    const char *mode = bind->region->anchor->attrs.dyn_pad.mode;

    bind_window(bind, 2, mode);
    bind_flag(bind, "slices", false);
    bind_flag(bind, "filled", *mode == 'c');
    bind_input(bind, "pads", 1);
    bind_int(bind, "repeats", *mode != 'c');
    if (*mode == 'c')
        bind_input(bind, "value", 3);
    bind_helper(bind, "pad_window");
    return true;
}

const struct kernel kernel_dyn_window = {
    .name = "dyn_window",
    .sums = SUMS_NONE,
    .fails = true,
    .forms = { { OPS(OP_DYN_PAD), accepts_window, bind_dyn_pad },
               { OPS(OP_DYN_STRIDED_SLICE), accepts_window, bind_dyn_slice } },
};
