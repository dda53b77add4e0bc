/* convert_gather.c - elements by index: Gather, Scatter and their kin, OneHot, ReverseSequence, and
 * Trilu. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* One row whose index is known, inside of a loop the number of the round, say: a slice, which may be a view where a
 * take is a copy by an array of one index. NULL if it is not so, or after an error. */
static struct value *one_row(struct onnx_node *node, int axis)
{
    struct value *x = onnx_input(node, 0);
    const struct type *indices = &onnx_input(node, 1)->type;
    struct ints shape = { 0 };
    int64_t index;

    if (node->arg != OP_TAKE || !onnx_is_inside(node) || !onnx_is_known(node, 1) ||
        !onnx_is_number(node, onnx_input(node, 1), &index))
        return NULL;
    index = index < 0 ? index + x->type.dim[axis] : index;
    if (index < 0 || index >= x->type.dim[axis] || x->type.rank - 1 + indices->rank > MAX_RANK)
        return NULL;
    for (int d = 0; d < x->type.rank; d++)
        for (int k = 0; k < (d == axis ? indices->rank : 1); k++)
            shape.at[shape.n++] = d == axis ? 1 : x->type.dim[d];
    x = slice_to(node, x, axis, index, 1, "row");
    return x ? reshape_to(node, x, &shape, "") : NULL;
}

/* Gather (relay's take) and GatherElements (relay's gather) */
bool convert_gather(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    union attrs attrs = { .axis = { 0 } };
    struct value *row;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 1, TAKES_INTEGER))
        return false;
    attrs.axis.axis = normal_axis_attr(node, 0, x->type.rank);
    row = attrs.axis.axis < 0 ? NULL : one_row(node, (int)attrs.axis.axis);
    if (row || !onnx_ok(node))
        return row && onnx_output(node, 0, row);
    return attrs.axis.axis >= 0 &&
           onnx_output(node, 0,
                       onnx_build2(node, (enum op)node->arg, &attrs, "", onnx_input(node, 0),
                                   onnx_input(node, 1)));
}

bool convert_gather_nd(struct onnx_node *node)
{
    union attrs attrs = { .gather_nd = { onnx_int(node, "batch_dims", 0) } };

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 1, TAKES_INTEGER) ||
        !onnx_ok(node))
        return false;
    if (attrs.gather_nd.batch_dims < 0 || attrs.gather_nd.batch_dims > MAX_RANK)
        return bad_attribute(node, "attribute batch_dims is %lld, wanted 0 or more",
                             (long long)attrs.gather_nd.batch_dims);
    return onnx_output(
        node, 0,
        onnx_build2(node, OP_GATHER_ND, &attrs, "", onnx_input(node, 0), onnx_input(node, 1)));
}

static const char *scatter_reduction(struct onnx_node *node)
{
    static const char *const words[] = { "none", "add", "mul", "max", "min" };
    const char *reduction = onnx_word(node, "reduction", "none");

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(reduction, words[i]) == 0)
            return words[i];
    bad_attribute(node, "attribute reduction is none of none, add, mul, max and min");
    return NULL;
}

/* Scatter, ScatterElements, ScatterND; axis means nothing to the last. */
bool convert_scatter(struct onnx_node *node)
{
    union attrs attrs = { .scatter = { .reduction = scatter_reduction(node) } };
    struct value *const inputs[] = { onnx_input(node, 0), onnx_input(node, 1),
                                     onnx_input(node, 2) };

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 1, TAKES_INTEGER) ||
        !attrs.scatter.reduction || !onnx_ok(node))
        return false;
    if (node->arg == OP_SCATTER_ELEMENTS)
        attrs.scatter.axis = normal_axis_attr(node, 0, inputs[0]->type.rank);
    return attrs.scatter.axis >= 0 &&
           onnx_output(node, 0, onnx_build(node, (enum op)node->arg, &attrs, "", 3, inputs));
}

/* Indices of any number type; the depth is known at compile time, as it is an extent. */
bool convert_one_hot(struct onnx_node *node)
{
    struct value *indices = onnx_input(node, 0);
    union attrs attrs = { .one_hot = { .axis = 0 } };
    double depth;

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_constant_real(node, 1, &depth))
        return false;
    if (!(depth >= 1 && depth <= INT32_MAX))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "depth is %g, wanted 1 or more",
                          depth);
    attrs.one_hot.depth = (int64_t)depth;
    attrs.one_hot.axis = normal_axis_attr(node, -1, indices->type.rank + 1);
    if (attrs.one_hot.axis < 0)
        return false;
    if (indices->type.dtype != DTYPE_I32)
        indices = cast_to(node, indices, DTYPE_I64, "indices");
    return indices &&
           onnx_output(node, 0,
                       onnx_build2(node, OP_ONE_HOT, &attrs, "", indices, onnx_input(node, 2)));
}

bool convert_reverse_sequence(struct onnx_node *node)
{
    union attrs attrs = { .reverse_sequence = { .batch_axis = onnx_int(node, "batch_axis", 1),
                                                .time_axis = onnx_int(node, "time_axis", 0) } };
    const struct reverse_sequence_attrs *axes = &attrs.reverse_sequence;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_rank(node, 0, 2, MAX_RANK) ||
        !onnx_check_kind(node, 1, TAKES_INTEGER) || !onnx_ok(node))
        return false;
    if ((axes->batch_axis != 0 || axes->time_axis != 1) &&
        (axes->batch_axis != 1 || axes->time_axis != 0))
        return bad_attribute(node, "batch_axis and time_axis must be 0 and 1, or 1 and 0");
    return onnx_output(node, 0,
                       onnx_build2(node, OP_REVERSE_SEQUENCE, &attrs, "", onnx_input(node, 0),
                                   onnx_input(node, 1)));
}

bool convert_trilu(struct onnx_node *node)
{
    union attrs attrs = { .trilu = { .upper = onnx_int(node, "upper", 1) != 0 } };
    struct ints k = { 1, { 0 } };

    if (!onnx_check_inputs(node, 1, 2) || !onnx_check_rank(node, 0, 2, MAX_RANK) || !onnx_ok(node))
        return false;
    if (!onnx_is_known(node, 1))
        return trilu_at_run_time(node, attrs.trilu.upper);
    if (onnx_input(node, 1) && !onnx_constant_ints(node, 1, &k))
        return false;
    if (k.n != 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "k has %d numbers, wanted 1", k.n);
    attrs.trilu.k = k.at[0];
    return onnx_output(node, 0, onnx_build1(node, OP_TRILU, &attrs, "", onnx_input(node, 0)));
}
