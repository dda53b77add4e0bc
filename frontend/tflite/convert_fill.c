/* convert_fill.c - FILL, ZEROS_LIKE, BROADCAST_TO, TILE, and what a file's shapes say without computing: SHAPE, RANK,
 * BROADCAST_ARGS. */
#include "frontend/tflite/convert_compose.h"
#include "relay_ir/walk.h"

/* x, repeated to the shape that the file gives the result. */
static struct value *spread(struct tfl_node *node, struct value *x)
{
    const struct type *y = &node->outputs[0]->type;
    const union attrs attrs = { .shape = { .shape = ints_of(y->rank, y->dim) } };

    return tfl_build1(node, OP_BROADCAST_TO, &attrs, "spread", x);
}

/* Inputs: the shape, the number. */
bool convert_tfl_fill(struct tfl_node *node)
{
    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[1], node->outputs[0]))
        return false;
    if (type_elements(&node->inputs[1]->type) != 1)
        return tfl_unsupported(node, "a number of %s",
                               type_text(&node->ctx->perm, &node->inputs[1]->type));
    return tfl_output(node, 0, spread(node, tfl_value(node, 1)));
}

bool convert_tfl_broadcast_to(struct tfl_node *node)
{
    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]))
        return false;
    return tfl_output(node, 0, spread(node, tfl_value(node, 0)));
}

/* The code 0, whatever the zero point. */
bool convert_tfl_zeros_like(struct tfl_node *node)
{
    const struct type *y;

    if (!tfl_check(node, 1, 1, 1) ||
        !tfl_check_type(node, node->inputs[0], node->outputs[0]->type.dtype))
        return false;
    y = &node->outputs[0]->type;
    return tfl_output(node, 0, tfl_made(node, y, tfl_payload(node, y), ""));
}

bool convert_tfl_tile(struct tfl_node *node)
{
    union attrs attrs;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &attrs.shape.shape))
        return false;
    if (attrs.shape.shape.n != node->inputs[0]->type.rank)
        return tfl_unsupported(node, "%d repeats for %s", attrs.shape.shape.n,
                               type_text(&node->ctx->perm, &node->inputs[0]->type));
    return tfl_output(node, 0, tfl_build1(node, OP_TILE, &attrs, "tiled", tfl_value(node, 0)));
}

/* --- numbers that shapes are ------------------------------------------------------------------ */

static bool known(struct tfl_node *node, int rank, int64_t n, const int64_t *at)
{
    const struct type type = type_make(node->outputs[0]->type.dtype, rank, &n);

    return (tfl_is_plain(node->outputs[0]) || tfl_check_type(node, node->outputs[0], DTYPE_I32)) &&
           tfl_output(node, 0, tfl_integers(node, &type, at, ""));
}

bool convert_tfl_shape(struct tfl_node *node)
{
    return tfl_check(node, 1, 1, 1) &&
           known(node, 1, node->inputs[0]->type.rank, node->inputs[0]->type.dim);
}

bool convert_tfl_rank(struct tfl_node *node)
{
    return tfl_check(node, 1, 1, 1) &&
           known(node, 0, 0, (const int64_t[]){ node->inputs[0]->type.rank });
}

bool convert_tfl_broadcast_args(struct tfl_node *node)
{
    struct type a_shape, b_shape;
    struct ints a, b;

    if (!tfl_check(node, 2, 2, 1) || !tfl_constant_ints(node, 0, &a) ||
        !tfl_constant_ints(node, 1, &b))
        return false;
    if (a.n > MAX_RANK || b.n > MAX_RANK)
        return tfl_unsupported(node, "%d and %d dimensions", a.n, b.n);
    a_shape = type_make(DTYPE_I32, a.n, a.at);
    b_shape = type_make(DTYPE_I32, b.n, b.at);
    if (!shape_broadcast(&a_shape, &b_shape, &a_shape))
        return tfl_unsupported(node, "shapes that do not broadcast");
    return known(node, 1, a_shape.rank, a_shape.dim);
}
