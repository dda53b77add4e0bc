/* pad.c - nn.pad. Constant mode fills y and copies x into it; the other modes ask a helper for each
 * index of y which element of x it repeats. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/move/copies.h"

static const struct pad_attrs *pad_of(const struct region *region)
{
    return &region->anchor->attrs.pad;
}

static bool accepts_pad(const struct region *region, const char **why)
{
    if (strcmp(pad_of(region)->mode, "constant") == 0 || !*pad_of(region)->mode)
        return true;
    *why = "the mode is not constant";
    return false;
}

static bool accepts_pad_repeat(const struct region *region, const char **why)
{
    (void)region;
    (void)why;
    return true;
}

static int64_t crop(int64_t amount)
{
    return amount < 0 ? -amount : 0;
}

static int64_t added(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static bool bind_pad(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct pad_attrs *pad = pad_of(bind->region);
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    struct copy copy = { .y = bind->region->results[0] };
    int64_t x_step[MAX_RANK], y_step[MAX_RANK];

    copy_from(bind, &copy, 0);
    row_major_steps(x, x_step);
    row_major_steps(y, y_step);
    for (int i = 0; i < x->rank; i++) {
        const int64_t before = pad->pad_before.at[i], after = pad->pad_after.at[i];

        copy.x_at += crop(before) * x_step[i];
        copy.y_at += added(before) * y_step[i];
        copy_add_dim(&copy, x->dim[i] - crop(before) - crop(after), x_step[i], y_step[i]);
    }
    bind_int(bind, "len", type_elements(y));
    bind_text(bind, "value", "%s", bind_literal(bind, y->dtype, pad->value));
    bind_copies(bind, &copy, 1);
    return true;
}

/* "pad_reflect(i0 - 2, 5) * 7" for one dim. */
static const char *source_text(struct bind *bind, int loop, int64_t before, int64_t after,
                               int64_t extent, int64_t step)
{
    const char *mode = pad_of(bind->region)->mode;
    struct str out = { .arena = bind->arena };

    if (before == 0 && after == 0) {
        str_printf(&out, "i%d", loop);
    } else {
        bind_helper(bind, arena_printf(bind->arena, "pad_%s", mode));
        str_printf(&out, "%spad_%s(i%d", before < 0 && step != 1 ? "(" : "", mode, loop);
        if (before > 0)
            str_printf(&out, " - %" PRId64, before);
        str_printf(&out, ", %" PRId64 ")", extent - crop(before) - crop(after));
        if (before < 0)
            str_printf(&out, " + %" PRId64 "%s", crop(before), step != 1 ? ")" : "");
    }
    if (step != 1)
        str_printf(&out, " * %" PRId64, step);
    return str_text(&out);
}

/* The last loop, contiguous in x: copies the row and repeats elements on both sides. */
static void bind_last_loop(struct bind *bind, int64_t before, int64_t after, int64_t extent,
                           struct str *extents)
{
    const bool edges = before > 0 || after > 0;
    const int64_t len = extent - crop(before) - crop(after);

    bind_flag(bind, "edges", edges);
    if (edges) {
        const char *place = arena_printf(bind->arena, "pad_%s", pad_of(bind->region)->mode);

        bind_helper(bind, place);
        bind_text(bind, "place", "%s", place);
        str_printf(extents, "BEFORE = %" PRId64 ", ", added(before));
    }
    str_printf(extents, "LEN = %" PRId64 ", ALL = %" PRId64, len,
               added(before) + len + added(after));
}

static bool bind_pad_repeat(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct pad_attrs *pad = pad_of(bind->region);
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    struct str extents = { .arena = bind->arena }, from = extents;
    const char *to = "0";
    int64_t x_step[MAX_RANK], before = 0, after = 0, extent = 1;
    int n = 0;

    row_major_steps(x, x_step);
    for (int i = 0; i < y->rank; i++) {
        before = pad->pad_before.at[i];
        after = pad->pad_after.at[i];
        extent = x->dim[i];
        /* Neighbouring dims without padding are merged. */
        while (before == 0 && after == 0 && i + 1 < y->rank && pad->pad_before.at[i + 1] == 0 &&
               pad->pad_after.at[i + 1] == 0)
            extent *= x->dim[++i];
        if (i + 1 == y->rank)
            break;
        str_printf(&extents, "N%d = %" PRId64 ", ", n,
                   before == 0 && after == 0 ? extent : y->dim[i]);
        to = n == 0 ? "i0"
                    : arena_printf(bind->arena, n > 1 ? "(%s) * N%d + i%d" : "%s * N%d + i%d", to,
                                   n, n);
        str_printf(&from, "%s%s", n ? " + " : "",
                   source_text(bind, n, before, after, x->dim[i], x_step[i]));
        n++;
    }
    if (crop(before) > 0 || n == 0)
        str_printf(&from, "%s%" PRId64, n ? " + " : "", crop(before));
    bind_last_loop(bind, before, after, extent, &extents);
    bind_text(bind, "extents", "%s", str_text(&extents));
    bind_int(bind, "n_loops", n);
    bind_text(bind, "to", n > 1 ? "(%s) * ALL" : "%s * ALL", to);
    bind_text(bind, "from", "%s", str_text(&from));
    bind_type(bind);
    bind_input(bind, "x", 0);
    return true;
}

const struct kernel kernel_pad = {
    .name = "pad",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_PAD), accepts_pad, bind_pad } },
};

const struct kernel kernel_pad_repeat = {
    .name = "pad_repeat",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_PAD), accepts_pad_repeat, bind_pad_repeat } },
};
