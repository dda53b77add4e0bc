/* move.c - operators that only move elements: each is a few strided copies. */
#include <assert.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/kernels/move/copies.h"
#include "codegen_c/microkernel/pixel_stride.h"
#include "relay_ir/layout.h"
#include "relay_ir/ops/rearrange.h"

static bool accepts_move(const struct region *region, const char **why)
{
    (void)region; /* any type that C can store */
    (void)why;
    return true;
}

/* Strided copies: the strides are those of a shape. */
static bool reads_copied(const struct region *region, int input)
{
    const struct node *node = region->anchor;

    (void)input;
    return (node->op != OP_DEPTH_TO_SPACE && node->op != OP_SPACE_TO_DEPTH) ||
           layout_is_last(node->attrs.block.layout);
}

static bool writes_copied(const struct region *region)
{
    return reads_copied(region, 0);
}

static struct copy copy_begin(struct bind *bind)
{
    struct copy copy = { .y = bind->region->results[0] };

    copy_from(bind, &copy, 0);
    return copy;
}

static bool bind_transpose(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *y = &node->outputs[0]->type;
    const struct ints *axes = &node->attrs.axes.axes;
    struct copy copy = copy_begin(bind);
    const struct operand from = operand_input(bind->region, 0);
    const struct operand to = operand_result(bind->region, 0);

    for (int i = 0; i < y->rank; i++)
        copy_add_dim(&copy, y->dim[i], from.step[axes->n ? axes->at[i] : y->rank - 1 - i],
                     to.step[i]);
    bind_copies(bind, &copy, 1);
    return true;
}

static bool bind_strided_slice(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct slice_attrs *slice = &node->attrs.slice;
    const struct type *y = &node->outputs[0]->type;
    struct copy copy = copy_begin(bind);
    const struct operand from = operand_input(bind->region, 0);
    const struct operand to = operand_result(bind->region, 0);

    for (int i = 0; i < y->rank; i++) {
        copy.x_at += slice->begin.at[i] * from.step[i];
        copy_add_dim(&copy, y->dim[i], from.step[i] * slice->strides.at[i], to.step[i]);
    }
    bind_copies(bind, &copy, 1);
    return true;
}

static struct copy part_copy(const struct type *part, const struct operand *from,
                             const struct operand *to)
{
    struct copy copy = { .n = 0 };

    for (int i = 0; i < part->rank; i++)
        copy_add_dim(&copy, part->dim[i], from->step[i], to->step[i]);
    return copy;
}

static bool bind_concatenate(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const int axis = (int)node->attrs.axis.axis;
    const struct region *region = bind->region;
    struct copy *copies = arena_array(bind->arena, struct copy, node->n_inputs);
    struct operand from, to;
    int64_t at = 0;
    int n = 0;

    to = operand_result(region, 0);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct type *x = &node->inputs[i]->type;
        const struct value *source = anchor_source(region, i);

        if (source->kind != VALUE_PARAM || !region->place.absent ||
            !region->place.absent[source->index]) {
            from = operand_input(region, i);
            copies[n] = part_copy(x, &from, &to);
            copies[n].y_at = at * to.step[axis];
            if (type_elements(x))
                copy_from(bind, &copies[n], i);
            else
                copies[n].x = "";
            copies[n++].y = region->results[0];
        }
        at += x->dim[axis];
    }
    bind_copies(bind, copies, n);
    return true;
}

static bool bind_split(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const int axis = (int)node->attrs.split.axis;
    struct copy *copies = arena_array(bind->arena, struct copy, node->n_outputs);
    struct operand from, to;
    int64_t at = 0;

    from = operand_input(bind->region, 0);
    for (int i = 0; i < node->n_outputs; i++) {
        to = operand_result(bind->region, i);
        copies[i] = part_copy(&node->outputs[i]->type, &from, &to);
        copies[i].x_at = at * from.step[axis];
        copy_from(bind, &copies[i], 0);
        copies[i].y = bind->region->results[i];
        at += node->outputs[i]->type.dim[axis];
    }
    bind_copies(bind, copies, node->n_outputs);
    return true;
}

/* A repeated dim has stride 0 in the source. broadcast_to is the case of dims of extent 1. */
static bool bind_tile(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    struct copy copy = copy_begin(bind);
    const struct operand from = operand_input(bind->region, 0);
    const struct operand to = operand_result(bind->region, 0);

    for (int i = 0; i < y->rank; i++) {
        const int k = i - (y->rank - x->rank);
        const int64_t extent = k < 0 ? 1 : x->dim[k];

        copy_add_dim(&copy, extent ? y->dim[i] / extent : 0, 0, to.step[i] * extent);
        copy_add_dim(&copy, extent, k < 0 ? 0 : from.step[k], to.step[i]);
    }
    bind_copies(bind, &copy, 1);
    return true;
}

static bool bind_depth_space(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const bool to_space = node->op == OP_DEPTH_TO_SPACE;
    const struct operand x = operand_input(bind->region, 0), y = operand_result(bind->region, 0);
    const struct depth_space_steps s =
        depth_space_steps(node, x.apart ? x.pixel_step : 0, y.apart ? y.pixel_step : 0);
    const int64_t *const x_step = to_space ? s.deep : s.flat;
    const int64_t *const y_step = to_space ? s.flat : s.deep;
    struct copy copy = copy_begin(bind);
    bool done[MAX_RANK] = { false };

    for (int k = 0; k < s.n; k++) { /* in the order of y */
        int next = -1;

        for (int i = 0; i < s.n; i++)
            if (!done[i] && (next < 0 || y_step[i] > y_step[next]))
                next = i;
        assert(next >= 0);
        done[next] = true;
        copy_add_dim(&copy, s.dim[next], x_step[next], y_step[next]);
    }
    bind_copies(bind, &copy, 1);
    return true;
}

static bool bind_trilu(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = &node->inputs[0]->type;
    const int64_t rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1];
    int64_t k = node->attrs.trilu.k;

    /* Nothing changes beyond the corners, and int is enough. */
    k = k > columns ? columns : k < -rows ? -rows : k;
    bind_int(bind, "matrices", type_span(x, 0, x->rank - 2));
    bind_int(bind, "rows", rows);
    bind_int(bind, "columns", columns);
    bind_int(bind, "k", k);
    bind_flag(bind, "upper", node->attrs.trilu.upper);
    bind_text(bind, "x", "%s", bind_operand(bind, node->inputs[0]));
    return true;
}

static bool bind_reverse_sequence(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = &node->inputs[0]->type;
    const int64_t batch = node->attrs.reverse_sequence.batch_axis;
    const int64_t time = node->attrs.reverse_sequence.time_axis;
    int64_t step[MAX_RANK];

    row_major_steps(x, step);
    bind_int(bind, "batch", x->dim[batch]);
    bind_int(bind, "batch_step", step[batch]);
    bind_int(bind, "time", x->dim[time]);
    bind_int(bind, "time_step", step[time]);
    bind_int(bind, "rest", type_span(x, 2, x->rank));
    bind_text(bind, "x", "%s", bind_operand(bind, node->inputs[0]));
    bind_text(bind, "tl", "%s", dtype_c_type(node->inputs[1]->type.dtype));
    bind_text(bind, "lengths", "%s", bind_operand(bind, node->inputs[1]));
    return true;
}

/* Runs of elements in the order of y. strided_slice reads each at its place in y or later;
 * depth_to_space moves everything under the first rows of blocks, then under the next. */
static bool overlaps_copy(const struct region *region, struct overlap *overlap)
{
    const struct node *node = region->anchor;
    const struct value *x = anchor_source(region, 0);
    const struct ints *strides = &node->attrs.slice.strides;

    if (x_element_bytes(region) != y_element_bytes(region))
        return false;
    if (node->op == OP_STRIDED_SLICE) {
        for (int i = 0; i < strides->n; i++)
            if (strides->at[i] < 0)
                return false;
        return true;
    }
    if (node->op != OP_DEPTH_TO_SPACE || !layout_is_last(node->attrs.block.layout) ||
        x->type.dim[0] != 1)
        return false;
    overlap->bytes = type_bytes(&x->type) / (size_t)x->type.dim[1];
    return true;
}

const struct kernel kernel_copy = {
    .name = "copy",
    .sums = SUMS_NONE,
    .reads_strided = reads_copied,
    .writes_strided = writes_copied,
    .overlaps = overlaps_copy,
    .forms = { { OPS(OP_BROADCAST_TO, OP_TILE), accepts_move, bind_tile },
               { OPS(OP_CONCATENATE), accepts_move, bind_concatenate },
               { OPS(OP_DEPTH_TO_SPACE, OP_SPACE_TO_DEPTH), accepts_move, bind_depth_space },
               { OPS(OP_SPLIT), accepts_move, bind_split },
               { OPS(OP_STRIDED_SLICE), accepts_move, bind_strided_slice },
               { OPS(OP_TRANSPOSE), accepts_move, bind_transpose } },
};

static bool bind_branch(struct bind *bind)
{
    bind_input(bind, "condition", 0);
    bind_input(bind, "yes", 1);
    bind_input(bind, "no", 2);
    bind_int(bind, "n", type_elements(anchor_output(bind->region, 0)));
    bind_include(bind, "string.h");
    return true;
}

const struct kernel kernel_branch = {
    .name = "branch",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_IF), accepts_move, bind_branch } },
};

const struct kernel kernel_reverse_sequence = {
    .name = "reverse_sequence",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_REVERSE_SEQUENCE), accepts_move, bind_reverse_sequence } },
};

const struct kernel kernel_trilu = {
    .name = "trilu",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_TRILU), accepts_move, bind_trilu } },
};
