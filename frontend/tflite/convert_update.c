/* convert_update.c - DYNAMIC_UPDATE_SLICE: numbers in the place of a block of others, quantised values as they are.
 *
 * Where the block begins may be known at run time only; it is moved until it lies within x, as LiteRT moves it. Rows
 * that the block has in x, or parts of rows, get a number each, in order; the block's are the numbers from its begin
 * on, and those as far behind as they are from its first. */
#include "frontend/tflite/convert_compose.h"

/* Elements [n] of i64. */
static struct value *list(struct tfl_node *node, int n, const int64_t *at, const char *suffix)
{
    const struct type type = type_make(DTYPE_I64, 1, (const int64_t[]){ n });

    return tfl_integers(node, &type, at, suffix);
}

/* Where the block begins, along each axis: within 0 and `last`. */
static struct value *begin(struct tfl_node *node, int rank, const int64_t *last)
{
    const int64_t zeros[MAX_RANK] = { 0 };
    struct value *at = tfl_cast(node, DTYPE_I64, "begin", tfl_value(node, 2));

    at = tfl_two(node, OP_MAXIMUM, "not_below", at, list(node, rank, zeros, "first"));
    return tfl_two(node, OP_MINIMUM, "not_above", at, list(node, rank, last, "last"));
}

/* The rows of x that become those of the block: [n_rows, 1]. `axes` lead to a row. */
static struct value *rows_of(struct tfl_node *node, int axes, int64_t n_rows)
{
    const struct type *x = &node->inputs[0]->type, *block = &node->inputs[1]->type;
    const struct type type = type_make(DTYPE_I64, 2, (const int64_t[]){ n_rows, 1 });
    const union attrs whole = { .reduce = { .axis = { 0 }, .keepdims = false } };
    int64_t last[MAX_RANK], step[MAX_RANK] = { 0 }, row = 1;
    int64_t *offsets = tfl_payload(node, &type);
    struct value *at;

    if (!offsets)
        return NULL;
    for (int d = axes; d-- > 0; row *= x->dim[d])
        step[d] = row;
    for (int d = 0; d < x->rank; d++)
        last[d] = x->dim[d] - block->dim[d];
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t rest = r;

        for (int d = axes; d-- > 0; rest /= block->dim[d])
            offsets[r] += rest % block->dim[d] * step[d];
    }
    at = tfl_two(node, OP_MULTIPLY, "steps", begin(node, x->rank, last),
                 list(node, x->rank, step, "step"));
    at = tfl_build1(node, OP_SUM, &whole, "first_row", at);
    return tfl_two(node, OP_ADD, "rows", at, tfl_made(node, &type, offsets, "offsets"));
}

static bool check_block(struct tfl_node *node, const struct type *x, const struct type *block)
{
    bool ok = block->rank == x->rank && x->rank > 0 && node->inputs[2]->type.rank == 1 &&
              node->inputs[2]->type.dim[0] == x->rank;

    for (int d = 0; d < x->rank && ok; d++)
        ok = block->dim[d] > 0 && block->dim[d] <= x->dim[d];
    return ok || tfl_unsupported(node, "%s in the place of a block of %s, which begins at %s",
                                 type_text(&node->ctx->perm, block), type_text(&node->ctx->perm, x),
                                 type_text(&node->ctx->perm, &node->inputs[2]->type));
}

bool convert_tfl_dynamic_update_slice(struct tfl_node *node)
{
    const union attrs attrs = { .scatter = { 0 } };
    struct type x, block;
    int64_t n_rows = 1, n_block = 1, inner = 1;
    struct value *inputs[3];
    int axes = 0;

    if (!tfl_check(node, 3, 3, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_check_kept(node, node->inputs[1], node->outputs[0]) ||
        (!tfl_is_plain(node->inputs[2]) && !tfl_check_type(node, node->inputs[2], DTYPE_I32)))
        return false;
    x = node->inputs[0]->type;
    block = node->inputs[1]->type;
    if (!check_block(node, &x, &block))
        return false;
    for (int d = 0; d < x.rank; d++)
        if (block.dim[d] < x.dim[d])
            axes = d + 1;
    if (axes == 0)
        return tfl_output(node, 0, tfl_value(node, 1));
    for (int d = 0; d < x.rank; d++) {
        n_rows *= d < axes ? x.dim[d] : 1;
        n_block *= d < axes ? block.dim[d] : 1;
        inner *= d < axes ? 1 : x.dim[d];
    }
    inputs[0] = tfl_reshape(node, tfl_value(node, 0),
                            &(const struct type){ x.dtype, 2, { n_rows, inner }, NULL }, "x");
    inputs[1] = rows_of(node, axes, n_block);
    inputs[2] = tfl_reshape(node, tfl_value(node, 1),
                            &(const struct type){ x.dtype, 2, { n_block, inner }, NULL }, "block");
    return tfl_output(
        node, 0,
        tfl_reshape(node, tfl_build(node, OP_SCATTER_ND, &attrs, "updated", 3, inputs), &x, "y"));
}
