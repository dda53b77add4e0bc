/* softmax.c - softmax, log_softmax and hardmax of floats: rows of f32, many short rows, and any. */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/vector.h"

/* Rows are runs of f32: the axis is the last, or all dims behind it are 1. */
static bool accepts_softmax_rows(const struct region *region, const char **why)
{
    const struct type *x = anchor_input(region, 0);
    const int axis = type_axis(x, region->anchor->attrs.axis.axis);

    *why = "the axis is not the last, shorter than 16, or not of f32";
    return takes_sizes(region, why) && type_span(x, axis + 1, x->rank) == 1 &&
           reads_rows(region, x->dim[axis]);
}

/* The same for many rows too short for vector reductions (24 measured). */
static bool accepts_softmax_short(const struct region *region, const char **why)
{
    enum { LONGEST = 24, FEWEST = 16 };
    const struct type *x = anchor_input(region, 0);
    const int axis = type_axis(x, region->anchor->attrs.axis.axis);

    *why = "not 16 rows or more of f32, of 2 to 24 along the last axis";
    return takes_sizes(region, why) && type_span(x, axis + 1, x->rank) == 1 && x->dim[axis] > 1 &&
           x->dim[axis] <= LONGEST && type_span(x, 0, axis) >= FEWEST && x->dtype == DTYPE_F32 &&
           !anchor_decoder(region->anchor, 0);
}

/* The same for rows whose steps wait for each other. */
static bool accepts_softmax_group(const struct region *region, const char **why)
{
    enum { LONGEST = 512, FEWEST = 8 };
    const struct type *x = anchor_input(region, 0);
    const int axis = type_axis(x, region->anchor->attrs.axis.axis);

    if (!accepts_softmax_rows(region, why))
        return false;
    *why = "the axis is longer than 512, or there are less than 8 rows";
    return x->dim[axis] <= LONGEST && type_span(x, 0, axis) >= FEWEST;
}

/* Rows that are not whole vectors are copied and padded with -infinity, whose powers are 0; a
 * remainder would be computed element by element. Long rows have little of it, and scalar code
 * none. */
static int64_t padded_row(const struct bind *bind, int64_t len)
{
    enum { LANES = 16, LONGEST = 512 };
    const int64_t whole = (len + LANES - 1) / LANES * LANES;

    return bind->machine->lanes == 1 || len > LONGEST ? len : whole;
}

/* Binds how a row is read, and whether 16 powers at a time are computed and summed. */
static int64_t bind_padding(struct bind *bind, int64_t len)
{
    const int64_t n = padded_row(bind, len);

    bind_flag(bind, "padded", n > len);
    bind_text(bind, "whole", "%s",
              n > len ? arena_printf(bind->arena, ", WHOLE = %" PRId64, n) : "");
    if (n > len)
        bind_include(bind, "math.h");
    return n;
}

/* Whether the next rows are prefetched: x and y exceed the L2, and the L3 is slow. */
static bool fetches_rows(const struct bind *bind)
{
    const struct region *region = bind->region;
    const size_t x_bytes = type_bytes(anchor_input(region, 0));
    const size_t y_bytes = type_bytes(&region->fn->ret->inputs[0]->type);

    return bind->machine->far_l3 && x_bytes + y_bytes > bind->machine->l2_bytes;
}

/* Binds where the powers of `rows` rows wait for their sums: in y, if it has room. */
static void bind_row_of_powers(struct bind *bind, int64_t len, int rows)
{
    enum { LANES = 16 };
    const int64_t n = bind_padding(bind, len);
    const bool padded = n > len, sixteens = bind->machine->lanes != 1 && n % LANES == 0;
    const bool fused = bind->region->fn->ret->inputs[0] != bind->region->anchor->outputs[0];

    bind_flag(bind, "apart", padded || fused);
    bind_flag(bind, "sixteens", sixteens);
    bind_flag(bind, "fetches", fetches_rows(bind));
    bind_text(bind, "n", "%s", padded ? "WHOLE" : "LEN");
    bind_text(bind, "from", "%s", padded ? "powers" : "in");
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "row_highest_f32");
    bind_helper(bind, "exp_negative_f32");
    bind_helper(bind, sixteens ? "sum_of_16_f32" : "row_sum_f32");
    if (padded || fused)
        bind_scratch_elements(bind, n * rows);
}

static bool bind_log_softmax_rows(struct bind *bind)
{
    enum { GROUP = 8 };
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);
    const int64_t len = x->dim[axis], rows = type_span(x, 0, axis);
    const int64_t group = bind->machine->lanes == 1 || rows == 0 ? 1 : rows < GROUP ? rows : GROUP;
    int64_t n;

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", rows);
    bind_int(bind, "len", len);
    bind_int(bind, "group", group);
    n = bind_padding(bind, len);
    bind_text(bind, "n", "%s", n > len ? "WHOLE" : "LEN");
    bind_text(bind, "from", "%s", n > len ? "padded" : "in");
    if (n > len)
        bind_scratch_elements(bind, n * group);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "row_highest_f32");
    bind_helper(bind, "row_powers_f32");
    bind_helper(bind, "log_f32");
    return bind_epilogue_at(bind, "v", "at");
}

static bool bind_softmax_rows(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_row_of_powers(bind, x->dim[axis], 1);
    bind_text(bind, "highest", "%s",
              padded_row(bind, x->dim[axis]) > x->dim[axis] ? "highest, " : "");
    return bind_epilogue_at(bind, "v", "at");
}

static bool bind_softmax_group(struct bind *bind)
{
    enum { GROUP = 8 };
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);
    const int group = bind->machine->lanes == 1 ? 1 : GROUP;

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_int(bind, "group", group);
    bind_row_of_powers(bind, x->dim[axis], group);
    return bind_epilogue_at(bind, "v", "at");
}

/* With vectors, rows of 8 elements or more are transposed, and back, by blocks. */
static bool bind_softmax_short(struct bind *bind)
{
    enum { LANES = 16, SCALARS = 4, BLOCK = 8 };
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);
    const bool blocks = bind->machine->lanes != 1 && x->dim[axis] >= BLOCK;
    const bool turned =
        blocks && bind->region->fn->ret->inputs[0] != bind->region->anchor->outputs[0];
    const int side = bind->machine->lanes == 1 ? SCALARS : LANES;

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_int(bind, "side", side);
    bind_flag(bind, "blocks", blocks);
    bind_flag(bind, "turned", turned);
    bind_text(bind, "to", turned ? "turned" : "&y[first * LEN]");
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "exp_negative_f32");
    if (blocks) {
        bind_vector(bind);
        bind_helper(bind, "transpose_f32");
    }
    bind_scratch_elements(bind, x->dim[axis] * side * (turned ? 2 : 1));
    return bind_epilogue_at(bind, "v", "at");
}

static bool bind_softmax(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);
    const bool strided = type_span(x, axis + 1, x->rank) > 1;
    const int64_t len = x->dim[axis];

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, bind->region->anchor->attrs.axis.axis);
    if (bind->region->anchor->op == OP_HARDMAX)
        return true;
    bind_own_math(bind, "exp", "exp");
    bind_text(bind, "at", "%s", strided ? "(outer * LEN + i) * INNER + inner" : "outer * LEN + i");
    if (bind->region->anchor->op == OP_LOG_SOFTMAX)
        bind_own_math(bind, "log", "log");
    else if (bind_fused(bind)) /* y cannot hold the powers */
        bind_scratch_elements(bind, len);
    return bind_epilogue_at(bind, "v", "at");
}

static bool bind_hardmax_rows(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.axis.axis);

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "row_highest_f32");
    return true;
}

const struct kernel kernel_hardmax_rows = {
    .name = "hardmax_rows",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_HARDMAX), accepts_softmax_rows, bind_hardmax_rows } },
};

const struct kernel kernel_hardmax = {
    .name = "hardmax",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_HARDMAX), takes_float, bind_softmax } },
};

const struct kernel kernel_log_softmax_rows = {
    .name = "log_softmax_rows",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_LOG_SOFTMAX), accepts_softmax_rows, bind_log_softmax_rows } },
};

const struct kernel kernel_log_softmax = {
    .name = "log_softmax",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_LOG_SOFTMAX), takes_float, bind_softmax } },
};

const struct kernel kernel_softmax_short = {
    .name = "softmax_short",
    .sums = SUMS_INVERSE,
    .in_place = true,
    .forms = { { OPS(OP_SOFTMAX), accepts_softmax_short, bind_softmax_short } },
};

const struct kernel kernel_softmax_group = {
    .name = "softmax_group",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_SOFTMAX), accepts_softmax_group, bind_softmax_group } },
};

const struct kernel kernel_softmax_rows = {
    .name = "softmax_rows",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_SOFTMAX), accepts_softmax_rows, bind_softmax_rows } },
};

const struct kernel kernel_softmax = {
    .name = "softmax",
    .sums = SUMS_PLAIN,
    .in_place = true,
    .forms = { { OPS(OP_SOFTMAX), takes_float, bind_softmax } },
};
