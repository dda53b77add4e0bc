/* expect.c - expect and which_axes: numbers of this run, and those that the network was compiled
 * for. */
#include <string.h>

#include "codegen_c/core/anchor.h"

static bool accepts_expect(const struct region *region, const char **why)
{
    return takes_sizes(region, why);
}

/* Sets `agree`: the test of the numbers, input i of the anchor. */
static void bind_numbers(struct bind *bind, int i)
{
    const struct node *node = bind->region->anchor;
    const struct expect_attrs *expect = &node->attrs.expect;
    const struct type *allowed = anchor_input(bind->region, i + 1);
    const bool is_axes = strcmp(expect->mode, "axes") == 0;

    bind_int(bind, "n", type_elements(anchor_input(bind->region, i)));
    bind_int(bind, "allowed_n", allowed->dim[is_axes ? 0 : 1]);
    bind_input(bind, "numbers", i);
    bind_input(bind, "allowed", i + 1);
    bind_helper(bind, is_axes ? "find_axes" : "numbers_agree");
    keys_offer(bind->keys, "rank", arena_printf(bind->arena, "%d", (int)expect->rank));
    keys_offer(bind->keys, "open", strcmp(expect->mode, "shape") == 0 ? "1" : "N");
}

static bool bind_expect(struct bind *bind)
{
    const struct region *region = bind->region;

    bind_numbers(bind, 1);
    bind_flag(bind, "axes", strcmp(region->anchor->attrs.expect.mode, "axes") == 0);
    bind_flag(bind, "moves", !region->place.in_place);
    keys_offer(bind->keys, "x", bind_operand(bind, region->anchor->inputs[0]));
    bind_int(bind, "len", type_elements(anchor_output(region, 0)));
    bind_include(bind, "string.h");
    return true;
}

static bool bind_which_axes(struct bind *bind)
{
    bind_numbers(bind, 0);
    return true;
}

const struct kernel kernel_expect = {
    .name = "expect",
    .sums = SUMS_NONE,
    .fails = true,
    .in_place = true,
    .forms = { { OPS(OP_EXPECT), accepts_expect, bind_expect } },
};

const struct kernel kernel_which_axes = {
    .name = "which_axes",
    .sums = SUMS_NONE,
    .fails = true,
    .forms = { { OPS(OP_WHICH_AXES), accepts_expect, bind_which_axes } },
};
