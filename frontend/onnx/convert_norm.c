/* convert_norm.c - the normalisations: in their inference form, but for a batch that gives its own
 * statistics. */
#include "frontend/onnx/convert_helpers.h"

/* A vector of one number per channel of x. */
static bool check_channels(struct onnx_node *node, int input, int64_t n)
{
    const struct value *v = onnx_input(node, input);

    if (v->type.rank == 1 && v->type.dim[0] == n)
        return true;
    return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                      "input %d has shape %s, wanted %lld, a "
                      "number per channel",
                      input, shape_text(&node->ctx->perm, &v->type), (long long)n);
}

static bool check_no_statistics(struct onnx_node *node, int first)
{
    for (int i = first; i < node->n_outputs; i++)
        if (wants_output(node, i)) {
            onnx_unsupported(node, "output %d holds statistics for training", i);
            diag_help(node->ctx, "export the model for inference");
            return false;
        }
    return true;
}

/* What becomes of running statistics: a part of what they were, and the rest of what was found. */
static bool output_running(struct onnx_node *node, int i, struct value *before, struct value *found)
{
    const double momentum = onnx_real(node, "momentum", (double)0.9F);

    if (!wants_output(node, i) || !found)
        return found != NULL;
    before = cast_to(node, before, found->type.dtype, "before");
    before =
        apply2(node, OP_MULTIPLY, "kept", before, scalar_like(node, found, momentum, "momentum"));
    found =
        apply2(node, OP_MULTIPLY, "taken", found, scalar_like(node, found, 1 - momentum, "rest"));
    return onnx_output(node, i, apply2(node, OP_ADD, i == 1 ? "mean" : "variance", before, found));
}

/* training_mode=1: means and variances are those of x, over all but the channels. Exporters keep it
 * where a network normalises its weights so, which are constants then (weight standardisation). */
static bool batch_statistics(struct onnx_node *node, struct value *inputs[5])
{
    struct value *const x = inputs[0], *mean, *variance;
    const struct ints flat = { 1, { x->type.dim[1] } };
    struct ints axes = { .n = 0 };

    for (int i = 0; i < x->type.rank; i++)
        if (i != 1)
            axes.at[axes.n++] = i;
    mean = reduce_with(node, OP_MEAN, x, &axes, true, "batch_mean");
    variance = apply2(node, OP_SUBTRACT, "centered", x, mean);
    variance = reduce_with(node, OP_MEAN, apply2(node, OP_MULTIPLY, "square", variance, variance),
                           &axes, false, "batch_variance");
    mean = reshape_to(node, mean, &flat, "means");
    if (!output_running(node, 1, inputs[3], mean) || !output_running(node, 2, inputs[4], variance))
        return false;
    inputs[3] = mean;
    inputs[4] = variance;
    return true;
}

bool convert_batch_norm(struct onnx_node *node)
{
    const bool own = node->opset >= 14 && onnx_int(node, "training_mode", 0) != 0;
    union attrs attrs = { .batch_norm = { .axis = 1,
                                          .epsilon = onnx_real(node, "epsilon", (double)1e-5F) } };
    struct value *inputs[5];
    bool ok = true;

    if (!onnx_check_inputs(node, 5, 5) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, MAX_RANK) || (!own && !check_no_statistics(node, 1)))
        return false;
    if (node->opset < 9 && onnx_int(node, "spatial", 1) == 0)
        return onnx_unsupported(node, "attribute spatial=0 normalises each element by itself");
    inputs[0] = onnx_input(node, 0);
    for (int i = 1; i < 5; i++) {
        ok = check_channels(node, i, inputs[0]->type.dim[1]) && ok;
        inputs[i] = cast_to(node, onnx_input(node, i), inputs[0]->type.dtype, "parameter");
        ok = inputs[i] && ok;
    }
    return ok && onnx_ok(node) && (!own || batch_statistics(node, inputs)) &&
           onnx_output(node, 0, onnx_build(node, OP_BATCH_NORM, &attrs, "", 5, inputs));
}

bool convert_instance_norm(struct onnx_node *node)
{
    union attrs attrs = { .norm = { .axis = 1,
                                    .epsilon = onnx_real(node, "epsilon", (double)1e-5F) } };
    struct value *const inputs[] = { onnx_input(node, 0), onnx_input(node, 1),
                                     onnx_input(node, 2) };

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, MAX_RANK) ||
        !check_channels(node, 1, inputs[0]->type.dim[1]) ||
        !check_channels(node, 2, inputs[0]->type.dim[1]))
        return false;
    return onnx_ok(node) &&
           onnx_output(node, 0, onnx_build(node, OP_INSTANCE_NORM, &attrs, "", 3, inputs));
}

/* A number per group becomes one per channel. */
static struct value *spread_groups(struct onnx_node *node, struct value *v, int64_t groups,
                                   int64_t channels)
{
    const union attrs spread = { .shape = { .shape = { 2, { groups, channels / groups } } } };
    const struct ints column = { 2, { groups, 1 } }, flat = { 1, { channels } };

    v = reshape_to(node, v, &column, "groups");
    v = v ? onnx_build1(node, OP_BROADCAST_TO, &spread, "spread", v) : NULL;
    return reshape_to(node, v, &flat, "per_channel");
}

/* Scale and bias are per group before opset 21, per channel from there on. */
bool convert_group_norm(struct onnx_node *node)
{
    union attrs attrs = { .norm = { .axis = 1,
                                    .epsilon = onnx_real(node, "epsilon", (double)1e-5F) } };
    struct value *inputs[3];
    int64_t groups = onnx_int(node, "num_groups", 0), channels;

    if (!onnx_check_inputs(node, 3, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, MAX_RANK) || !onnx_ok(node))
        return false;
    channels = onnx_input(node, 0)->type.dim[1];
    if (groups < 1 || channels % groups != 0)
        return bad_attribute(node,
                             "attribute num_groups is %lld, wanted a divisor of %lld channels",
                             (long long)groups, (long long)channels);
    attrs.norm.groups = groups;
    for (int i = 0; i < 3; i++)
        inputs[i] = onnx_input(node, i);
    for (int i = 1; i < 3; i++) {
        if (!check_channels(node, i, node->opset < 21 ? groups : channels))
            return false;
        if (node->opset < 21)
            inputs[i] = spread_groups(node, inputs[i], groups, channels);
        if (!inputs[i])
            return false;
    }
    return onnx_output(node, 0, onnx_build(node, OP_GROUP_NORM, &attrs, "", 3, inputs));
}

/* Scale or bias of a layer normalisation with all the dims that are normalised. */
static struct value *whole_parameter(struct onnx_node *node, struct value *v, const struct type *x,
                                     int axis)
{
    union attrs attrs = { .shape = { .shape = ints_of(x->rank - axis, x->dim + axis) } };
    struct ints old = ints_of_shape(&v->type);

    v = cast_to(node, v, x->dtype, "parameter");
    if (!v || ints_equal(&old, &attrs.shape.shape))
        return v;
    return onnx_build1(node, OP_BROADCAST_TO, &attrs, "parameter", v);
}

/* Mean and 1 / sqrt(variance + epsilon), for who reads them. */
static bool output_statistics(struct onnx_node *node, int axis, double epsilon)
{
    struct value *x = cast_to(node, onnx_input(node, 0), DTYPE_F32, "real"), *mean, *y;
    struct ints axes = { .n = 0 };

    for (int i = axis; x && i < x->type.rank; i++)
        axes.at[axes.n++] = i;
    mean = reduce_with(node, OP_MEAN, x, &axes, true, "mean");
    if (wants_output(node, 1) && !onnx_output(node, 1, mean))
        return false;
    if (!wants_output(node, 2))
        return mean != NULL;
    y = apply2(node, OP_SUBTRACT, "centered", x, mean);
    y = reduce_with(node, OP_MEAN, apply2(node, OP_MULTIPLY, "square", y, y), &axes, true,
                    "variance");
    y = apply2(node, OP_ADD, "shifted", y, scalar_like(node, y, epsilon, "epsilon"));
    return onnx_output(node, 2, apply1(node, OP_RSQRT, "inverse_deviation", y));
}

bool convert_layer_norm(struct onnx_node *node)
{
    union attrs attrs = { .norm = { .epsilon = onnx_real(node, "epsilon", (double)1e-5F) } };
    struct value *inputs[3] = { onnx_input(node, 0), NULL, NULL };
    int axis, n_inputs = onnx_input(node, 2) ? 3 : 2;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    axis = normal_axis_attr(node, -1, inputs[0]->type.rank);
    if (axis < 0)
        return false;
    for (int i = 1; i < n_inputs; i++) {
        inputs[i] = whole_parameter(node, onnx_input(node, i), &inputs[0]->type, axis);
        if (!inputs[i])
            return false;
    }
    attrs.norm.axis = axis;
    if ((wants_output(node, 1) || wants_output(node, 2)) &&
        !output_statistics(node, axis, attrs.norm.epsilon))
        return false;
    return onnx_output(node, 0, onnx_build(node, OP_LAYER_NORM, &attrs, "", n_inputs, inputs));
}

/* x * scale / sqrt(mean(x * x) + epsilon); an extension of ONNX Runtime in the default domain. */
bool convert_rms_norm(struct onnx_node *node)
{
    double epsilon = onnx_real(node, "epsilon", (double)1e-5F);
    struct value *x = onnx_input(node, 0), *y;
    struct ints axes = { .n = 0 };
    int axis;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !check_no_statistics(node, 1))
        return false;
    axis = normal_axis_attr(node, -1, x->type.rank);
    if (axis < 0)
        return false;
    for (int i = axis; i < x->type.rank; i++)
        axes.at[axes.n++] = i;
    y = reduce_with(node, OP_MEAN, apply2(node, OP_MULTIPLY, "square", x, x), &axes, true,
                    "mean_square");
    y = apply2(node, OP_ADD, "shifted", y, scalar_like(node, x, epsilon, "epsilon"));
    y = apply2(node, OP_MULTIPLY, "normal", x, apply1(node, OP_RSQRT, "factor", y));
    return onnx_output(node, 0, apply2(node, OP_MULTIPLY, "", y, onnx_input(node, 1)));
}

/* com.microsoft: layer_norm(x + skip + bias), and that sum as output 3. */
bool convert_skip_layer_norm(struct onnx_node *node)
{
    union attrs attrs = { .norm = { .epsilon = onnx_real(node, "epsilon", (double)1e-12F) } };
    struct value *inputs[3] = { NULL, onnx_input(node, 2), onnx_input(node, 3) }, *sum;

    if (!onnx_check_inputs(node, 3, 5) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK) || !onnx_ok(node))
        return false;
    if (wants_output(node, 1) || wants_output(node, 2))
        return onnx_unsupported(node, "outputs mean and inv_std_var are not computed");
    sum = apply2(node, OP_ADD, "sum", onnx_input(node, 0), onnx_input(node, 1));
    if (onnx_input(node, 4))
        sum = apply2(node, OP_ADD, "biased", sum, onnx_input(node, 4));
    if (!sum)
        return false;
    inputs[0] = sum;
    attrs.norm.axis = sum->type.rank - 1;
    if (wants_output(node, 3) && !onnx_output(node, 3, sum))
        return false;
    return onnx_output(node, 0,
                       onnx_build(node, OP_LAYER_NORM, &attrs, "", inputs[2] ? 3 : 2, inputs));
}

/* com.microsoft: rms_norm(x + skip + bias) * gamma, and that sum as output 3. */
bool convert_skip_rms_norm(struct onnx_node *node)
{
    struct value *inputs[2] = { NULL, onnx_input(node, 2) };

    if (!onnx_check_inputs(node, 3, 4) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK) || !onnx_ok(node))
        return false;
    if (wants_output(node, 1) || wants_output(node, 2))
        return onnx_unsupported(node, "outputs mean and inv_std_var are not computed");
    inputs[0] = apply2(node, OP_ADD, "sum", onnx_input(node, 0), onnx_input(node, 1));
    if (onnx_input(node, 3))
        inputs[0] = apply2(node, OP_ADD, "biased", inputs[0], onnx_input(node, 3));
    if (!inputs[0] || (wants_output(node, 3) && !onnx_output(node, 3, inputs[0])))
        return false;
    return onnx_output(node, 0, onnx_inner(node, convert_rms_norm, 0, 23, 2, inputs, ""));
}

/* The rows of a table, [rows, size], that an input names. */
static struct value *embedded(struct onnx_node *node, int table, struct value *rows,
                              const char *suffix)
{
    static const union attrs attrs = { .axis = { .axis = 0 } };

    return rows && onnx_input(node, table)
               ? onnx_build2(node, OP_TAKE, &attrs, suffix, onnx_input(node, table), rows)
               : NULL;
}

/* com.microsoft: ids, segments, tables of words, positions and segments, gamma, beta, mask, positions:
 * the layer norm of the sum of their rows; the number of unmasked ids; that sum. */
bool convert_embed_layer_norm(struct onnx_node *node)
{
    union attrs attrs = { .norm = { .epsilon = onnx_real(node, "epsilon", (double)1e-12F),
                                    .axis = 2 } };
    struct value *ids = onnx_input(node, 0), *segments = onnx_input(node, 1);
    struct value *places = onnx_input(node, 8), *table = onnx_input(node, 3), *mask, *sum;
    const struct ints columns = { 1, { 1 } };
    int64_t length;

    for (int i = 0; i < 7; i++)
        if (i != 1 && (i != 4 || segments) && !onnx_input(node, i))
            return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input %d is missing", i);
    if (!onnx_check_rank(node, 0, 2, 2) || !onnx_check_kind(node, 0, TAKES_INTEGER) ||
        !onnx_check_rank(node, 3, 2, 2) || !onnx_ok(node))
        return false;
    length = ids->type.dim[1];
    if (!places && length > table->type.dim[0])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "%lld ids in a row, the table has %lld positions", (long long)length,
                          (long long)table->type.dim[0]);
    sum = apply2(node, OP_ADD, "sum", embedded(node, 2, ids, "words"),
                 places ? embedded(node, 3, places, "positions")
                        : slice_to(node, table, 0, 0, length, "positions"));
    if (sum && segments)
        sum = apply2(node, OP_ADD, "all", sum, embedded(node, 4, segments, "segments"));
    if (!sum || (wants_output(node, 2) && !onnx_output(node, 2, sum)))
        return false;
    if (wants_output(node, 1)) {
        mask = onnx_input(node, 7);
        mask = mask ? reduce_with(node, OP_SUM, cast_to(node, mask, DTYPE_I32, "mask"), &columns,
                                  false, "mask_index")
                    : full_of(node, DTYPE_I32, 0, &(struct ints){ 1, { ids->type.dim[0] } },
                              "mask_index");
        if (!onnx_output(node, 1, mask))
            return false;
    }
    return onnx_output(
        node, 0,
        onnx_build(node, OP_LAYER_NORM, &attrs, "", 3,
                   (struct value *[]){ sum, onnx_input(node, 5), onnx_input(node, 6) }));
}

bool convert_lp_norm(struct onnx_node *node)
{
    union attrs attrs = { .lp_normalize = { .p = onnx_int(node, "p", 2) } };
    struct value *x = onnx_input(node, 0);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    attrs.lp_normalize.axis = normal_axis_attr(node, -1, x->type.rank);
    if (attrs.lp_normalize.axis < 0)
        return false;
    if (attrs.lp_normalize.p != 1 && attrs.lp_normalize.p != 2)
        return bad_attribute(node, "attribute p is %lld, wanted 1 or 2",
                             (long long)attrs.lp_normalize.p);
    return onnx_output(node, 0, onnx_build1(node, OP_LP_NORMALIZE, &attrs, "", x));
}

/* (x - mean) / (deviation + 1e-9) */
bool convert_mean_variance_norm(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *centered, *y;
    struct ints axes = onnx_ints(node, "axes");

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_ok(node))
        return false;
    if (!onnx_has(node, "axes"))
        axes = (struct ints){ 3, { 0, 2, 3 } };
    if (!normal_axes(node, &axes, x->type.rank))
        return false;
    y = reduce_with(node, OP_MEAN, x, &axes, true, "mean");
    centered = apply2(node, OP_SUBTRACT, "centered", x, y);
    y = apply2(node, OP_MULTIPLY, "square", centered, centered);
    y = apply1(node, OP_SQRT, "deviation", reduce_with(node, OP_MEAN, y, &axes, true, "variance"));
    y = apply2(node, OP_ADD, "divisor", y, scalar_like(node, x, 1e-9, "epsilon"));
    return onnx_output(node, 0, apply2(node, OP_DIVIDE, "", centered, y));
}

bool convert_lrn(struct onnx_node *node)
{
    union attrs attrs = { .lrn = { .size = onnx_int(node, "size", 0),
                                   .alpha = onnx_real(node, "alpha", (double)1e-4F),
                                   .beta = onnx_real(node, "beta", (double)0.75F),
                                   .bias = onnx_real(node, "bias", 1) } };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, MAX_RANK) || !onnx_ok(node))
        return false;
    if (attrs.lrn.size < 1 || attrs.lrn.size > INT32_MAX)
        return bad_attribute(node, "attribute size is %lld, wanted 1 or more",
                             (long long)attrs.lrn.size);
    return onnx_output(node, 0, onnx_build1(node, OP_LRN, &attrs, "", onnx_input(node, 0)));
}
