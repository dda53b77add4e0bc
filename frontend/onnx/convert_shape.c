/* convert_shape.c - operators that move elements without computing: Reshape and its kin, Transpose,
 * Concat, Split, Expand, Tile, DepthToSpace. Slice and Pad: convert_slice.c. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* The number that -1 stands for in `shape`; all others have been resolved. */
static bool resolve_rest(struct onnx_node *node, const struct type *x, struct ints *shape)
{
    int64_t known = 1, n = type_elements(x);
    int rest = -1;

    for (int i = 0; i < shape->n; i++) {
        if (shape->at[i] == -1 && rest < 0)
            rest = i;
        else if (shape->at[i] < 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "the new shape has %lld at position %d; one -1 is allowed, all "
                              "others must be 0 or more",
                              (long long)shape->at[i], i);
        else if (__builtin_mul_overflow(known, shape->at[i], &known))
            return diag_error(node->ctx, DIAG_TOO_BIG, node->origin, "the new shape overflows");
    }
    if (rest >= 0 && (known == 0 ? n != 0 : n % known != 0))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "%lld elements cannot be reshaped: the other dims hold %lld",
                          (long long)n, (long long)known);
    if (rest >= 0)
        shape->at[rest] = known == 0 ? 0 : n / known;
    if (rest < 0 && known != n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the new shape holds %lld elements, the tensor of shape %s %lld",
                          (long long)known, shape_text(&node->ctx->perm, x), (long long)n);
    return true;
}

bool convert_reshape(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    bool keep_zero = onnx_int(node, "allowzero", 0) != 0;
    struct ints shape;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_ok(node) || !onnx_constant_ints(node, 1, &shape))
        return false;
    for (int i = 0; i < shape.n; i++) {
        if (shape.at[i] != 0 || keep_zero)
            continue;
        if (i >= x->type.rank)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "the new shape copies dim %d (0), the tensor has only %d", i,
                              x->type.rank);
        shape.at[i] = x->type.dim[i];
    }
    return resolve_rest(node, &x->type, &shape) &&
           onnx_output(node, 0, reshape_to(node, x, &shape, ""));
}

bool convert_flatten(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    int64_t axis = onnx_int(node, "axis", 1);
    struct ints shape = { .n = 2 };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_ok(node))
        return false;
    if (axis < -x->type.rank || axis > x->type.rank)
        return bad_attribute(node, "axis is %lld, wanted %d to %d", (long long)axis, -x->type.rank,
                             x->type.rank);
    if (axis < 0)
        axis += x->type.rank;
    shape.at[0] = type_span(&x->type, 0, (int)axis);
    shape.at[1] = type_span(&x->type, (int)axis, x->type.rank);
    return onnx_output(node, 0, reshape_to(node, x, &shape, ""));
}

bool convert_squeeze(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs;
    struct ints axes;
    bool given;

    if (!onnx_check_inputs(node, 1, node->opset < 13 ? 1 : 2) ||
        !list_of(node, "axes", 1, &axes, &given) || !normal_axes(node, &axes, x->type.rank))
        return false;
    for (int i = 0; i < axes.n; i++)
        if (x->type.dim[axes.at[i]] != 1)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "axis %lld of shape %s is not 1 and cannot be squeezed",
                              (long long)axes.at[i], shape_text(&node->ctx->perm, &x->type));
    for (int i = 0; !given && i < x->type.rank; i++)
        if (x->type.dim[i] == 1)
            axes.at[axes.n++] = i;
    if (axes.n == 0) /* to relay, no axes means all */
        return onnx_output(node, 0, x);
    attrs = (union attrs){ .axes = { .axes = axes } };
    return onnx_output(node, 0, onnx_build1(node, OP_SQUEEZE, &attrs, "", x));
}

bool convert_unsqueeze(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .axes = { .axes = { 0 } } };
    bool given;

    if (!onnx_check_inputs(node, node->opset < 13 ? 1 : 2, node->opset < 13 ? 1 : 2) ||
        !list_of(node, "axes", 1, &attrs.axes.axes, &given))
        return false;
    if (!given)
        return bad_attribute(node, "attribute axes is missing");
    if (x->type.rank + attrs.axes.axes.n > MAX_RANK)
        return onnx_unsupported(node, "the result has %d dimensions, relayc takes up to %d",
                                x->type.rank + attrs.axes.axes.n, MAX_RANK);
    if (!normal_axes(node, &attrs.axes.axes, x->type.rank + attrs.axes.axes.n))
        return false;
    if (attrs.axes.axes.n == 0)
        return onnx_output(node, 0, x);
    return onnx_output(node, 0, onnx_build1(node, OP_EXPAND_DIMS, &attrs, "", x));
}

bool convert_transpose(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    struct ints perm = onnx_ints(node, "perm"), sorted = perm;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_ok(node))
        return false;
    if (!onnx_has(node, "perm")) {
        perm = ints_fill(x->type.rank, 0);
        for (int i = 0; i < perm.n; i++)
            perm.at[i] = x->type.rank - 1 - i;
        return onnx_output(node, 0, transpose_to(node, x, &perm, ""));
    }
    if (perm.n != x->type.rank)
        return bad_attribute(node, "attribute perm has %d numbers, the tensor %d dimensions",
                             perm.n, x->type.rank);
    for (int i = 0; i < perm.n; i++)
        if (perm.at[i] < 0)
            perm.at[i] += x->type.rank;
    return normal_axes(node, &sorted, x->type.rank) &&
           onnx_output(node, 0, transpose_to(node, x, &perm, ""));
}

bool convert_concat(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    union attrs attrs = { .axis = { 0 } };

    if (!onnx_check_inputs(node, node->n_inputs > 1 ? node->n_inputs : 1, -1))
        return false;
    if (!onnx_has(node, "axis"))
        return bad_attribute(node, "attribute axis is missing");
    attrs.axis.axis = normal_axis_attr(node, 0, x->type.rank);
    if (attrs.axis.axis < 0)
        return false;
    if (node->n_inputs == 1)
        return onnx_output(node, 0, onnx_input(node, 0));
    return onnx_output(node, 0,
                       onnx_build(node, OP_CONCATENATE, &attrs, "", node->n_inputs, node->inputs));
}

/* The extents of the pieces that a split makes along its axis. */
struct pieces {
    int64_t n;
    const int64_t *sizes; /* NULL = all of `size`, but for the last */
    int64_t size, last;
};

static int64_t piece_size(const struct pieces *pieces, int64_t i)
{
    if (pieces->sizes)
        return pieces->sizes[i];
    return i < pieces->n - 1 ? pieces->size : pieces->last;
}

/* n pieces as even as possible; the last may be smaller from opset 18 on. */
static bool even_pieces(struct onnx_node *node, int64_t extent, int64_t n, struct pieces *pieces)
{
    int64_t size, others;

    if (n < 1)
        return onnx_unsupported(node, "a split into %lld pieces", (long long)n);
    if (extent % n != 0 && node->opset < 18)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "an extent of %lld cannot be split into %lld equal pieces",
                          (long long)extent, (long long)n);
    size = extent / n + (extent % n != 0);
    if (__builtin_mul_overflow(size, n - 1, &others) || others > extent)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "an extent of %lld cannot be split into %lld pieces", (long long)extent,
                          (long long)n);
    *pieces = (struct pieces){ .n = n, .size = size, .last = extent - others };
    return true;
}

/* The attribute split of old opsets, or input 1, of any length. */
static bool read_pieces(struct onnx_node *node, int64_t extent, struct pieces *pieces)
{
    struct tensor tensor;
    int64_t *sizes;

    if (onnx_has(node, "split"))
        return onnx_int_list(node, "split", &pieces->sizes, &pieces->n);
    if (!onnx_input(node, 1))
        return even_pieces(node, extent, onnx_int(node, "num_outputs", node->n_outputs), pieces);
    if (!onnx_constant(node, 1, &tensor))
        return false;
    if (!dtype_is_integer(tensor.type.dtype) || tensor.type.rank > 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input 1 is %s, expected a list of integers",
                          type_text(&node->ctx->perm, &tensor.type));
    pieces->n = type_elements(&tensor.type);
    pieces->sizes = sizes = arena_array(&node->ctx->scratch, int64_t, pieces->n);
    for (int64_t i = 0; i < pieces->n; i++)
        sizes[i] = tensor_int_at(&tensor, i);
    return true;
}

/* More pieces than the operator has room for: a slice for each. */
static bool split_by_slices(struct onnx_node *node, struct value *x, int axis,
                            const struct pieces *pieces)
{
    union attrs attrs = { .slice = { .begin = ints_fill(x->type.rank, 0),
                                     .strides = ints_fill(x->type.rank, 1),
                                     .size = ints_of(x->type.rank, x->type.dim) } };
    int64_t begin = 0;

    for (int64_t i = 0; i < pieces->n; i++) {
        const int64_t size = piece_size(pieces, i);

        if (size < 0 || size > x->type.dim[axis] - begin)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "piece %lld has the extent %lld, of %lld there are %lld left",
                              (long long)i, (long long)size, (long long)x->type.dim[axis],
                              (long long)(x->type.dim[axis] - begin));
        attrs.slice.begin.at[axis] = begin;
        attrs.slice.size.at[axis] = size;
        if (i < node->n_outputs && *node->output_names[i]) {
            node->outputs[i] = build(node->fn, OP_STRIDED_SLICE, &attrs, node->output_names[i],
                                     node->origin, NULL, 1, &x);
            if (!node->outputs[i])
                return false;
        }
        begin += size;
    }
    if (begin != x->type.dim[axis])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the pieces have an extent of %lld together, wanted %lld",
                          (long long)begin, (long long)x->type.dim[axis]);
    return true;
}

bool convert_split(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .split = { 0 } };
    struct pieces pieces = { 0 };

    if (!onnx_check_inputs(node, 1, node->opset < 13 ? 1 : 2))
        return false;
    attrs.split.axis = normal_axis_attr(node, 0, x->type.rank);
    if (attrs.split.axis < 0 || !read_pieces(node, x->type.dim[attrs.split.axis], &pieces) ||
        !onnx_ok(node))
        return false;
    if (pieces.n < node->n_outputs)
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                          "the node has %d outputs for %lld pieces", node->n_outputs,
                          (long long)pieces.n);
    if (pieces.n > MAX_INTS)
        return split_by_slices(node, x, (int)attrs.split.axis, &pieces);
    attrs.split.sizes.n = (int)pieces.n;
    for (int64_t i = 0; i < pieces.n; i++)
        attrs.split.sizes.at[i] = piece_size(&pieces, i);
    return output_node(node, OP_SPLIT, &attrs, 1, &x, attrs.split.sizes.n);
}

/* The shape broadcasts in both directions: a 1 in it keeps x's extent. */
bool convert_expand(struct onnx_node *node)
{
    union attrs attrs = { .shape = { .shape = { 0 } } };

    if (!onnx_check_inputs(node, 2, 2))
        return false;
    if (!onnx_is_known(node, 1) && !onnx_is_inside(node))
        return expand_open(node);
    return onnx_constant_ints(node, 1, &attrs.shape.shape) &&
           onnx_output(node, 0,
                       onnx_build1(node, OP_BROADCAST_TO, &attrs, "", onnx_input(node, 0)));
}

bool convert_tile(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    union attrs attrs = { .shape = { .shape = { 0 } } };

    if (!onnx_check_inputs(node, 2, 2))
        return false;
    if (!onnx_is_known(node, 1) && !onnx_is_inside(node))
        return tile_open(node);
    if (!onnx_constant_ints(node, 1, &attrs.shape.shape))
        return false;
    if (attrs.shape.shape.n != x->type.rank)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "there are %d repeats for %d dimensions", attrs.shape.shape.n,
                          x->type.rank);
    return onnx_output(node, 0, onnx_build1(node, OP_TILE, &attrs, "", onnx_input(node, 0)));
}

/* The elements of a block of a channel become neighbouring channels. */
static bool space_to_depth_by_channels(struct onnx_node *node, int64_t size)
{
    struct value *x = onnx_input(node, 0);
    const int64_t *dim = x->type.dim;
    const struct ints blocks = { 6, { dim[0], dim[1], dim[2] / size, size, dim[3] / size, size } };
    const struct ints order = { 6, { 0, 1, 3, 5, 2, 4 } };
    const struct ints shape = { 4, { dim[0], dim[1] * size * size, dim[2] / size, dim[3] / size } };

    if (dim[2] % size || dim[3] % size)
        return bad_attribute(node, "blocks of %lld do not divide the shape %s", (long long)size,
                             shape_text(&node->ctx->perm, &x->type));
    x = reshape_to(node, x, &blocks, "blocks");
    x = x ? transpose_to(node, x, &order, "channels") : NULL;
    return x && onnx_output(node, 0, reshape_to(node, x, &shape, ""));
}

/* DepthToSpace, SpaceToDepth */
bool convert_depth_space(struct onnx_node *node)
{
    const char *mode = onnx_word(node, "mode", "DCR");
    const int64_t size = onnx_int(node, "blocksize", 0);
    union attrs attrs = { .block = { .block_size = ints_fill(2, size),
                                     .mode = strcmp(mode, "CRD") == 0 ? "CRD" : "DCR" } };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 4, 4) || !onnx_ok(node))
        return false;
    if (strcmp(mode, attrs.block.mode) != 0)
        return bad_attribute(node, "attribute mode is neither DCR nor CRD");
    if (size < 1 || size > 1 << 15)
        return bad_attribute(node, "attribute blocksize is %lld, wanted 1 or more",
                             (long long)size);
    if (node->arg == OP_SPACE_TO_DEPTH && strcmp(mode, "CRD") == 0)
        return space_to_depth_by_channels(node, size);
    return onnx_output(node, 0,
                       onnx_build1(node, (enum op)node->arg, &attrs, "", onnx_input(node, 0)));
}
