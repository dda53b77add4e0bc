/* convert_features.c - ai.onnx.ml's operators on features: Scaler, Normalizer, Binarizer, Imputer, OneHotEncoder,
 * ArrayFeatureExtractor, FeatureVectorizer and ZipMap. LabelEncoder: convert_labels.c. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/ml.h"

/* x in f32, unless it is f64. */
static struct value *real(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK))
        return NULL;
    return cast_to(node, x, x->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32, "real");
}

static int64_t last_extent(const struct value *x)
{
    return x->type.dim[x->type.rank - 1];
}

/* One number for all features, or one for each. */
static struct value *per_feature(struct onnx_node *node, const struct value *x, const char *attr,
                                 struct ml_reals list)
{
    if (list.n == 1 || list.n == last_extent(x))
        return ml_constant(node, x->type.dtype, list.n, 0, list.at, attr);
    bad_attribute(node, "%s has %lld numbers for %lld features", attr, (long long)list.n,
                  (long long)last_extent(x));
    return NULL;
}

bool convert_scaler(struct onnx_node *node)
{
    const struct ml_reals offset = ml_reals(node, "offset"), scale = ml_reals(node, "scale");
    struct value *x = real(node);

    if (x && offset.n)
        x = apply2(node, OP_SUBTRACT, "shifted", x, per_feature(node, x, "offset", offset));
    if (x && scale.n)
        x = apply2(node, OP_MULTIPLY, "scaled", x, per_feature(node, x, "scale", scale));
    return onnx_ok(node) && ml_output(node, 0, x);
}

/* Rows divided by their greatest number, the sum of their magnitudes or their length; a row for which that
 * is 0 stays as it is. */
bool convert_normalizer(struct onnx_node *node)
{
    const char *norm = onnx_word(node, "norm", "MAX");
    struct value *x = real(node), *y, *parts[3];
    struct ints axis;

    if (!x || !onnx_ok(node))
        return false;
    axis = ints_of(1, (const int64_t[]){ x->type.rank - 1 });
    if (strcmp(norm, "MAX") == 0)
        y = reduce_with(node, OP_MAX, x, &axis, true, "norm");
    else if (strcmp(norm, "L1") == 0)
        y = reduce_with(node, OP_SUM, apply1(node, OP_ABS, "size", x), &axis, true, "norm");
    else if (strcmp(norm, "L2") == 0)
        y = apply1(node, OP_SQRT, "norm",
                   reduce_with(node, OP_SUM, apply2(node, OP_MULTIPLY, "square", x, x), &axis, true,
                               "sum"));
    else
        return bad_attribute(node, "norm is none of MAX, L1 and L2");
    parts[0] = y ? apply2(node, OP_EQUAL, "is_zero", y, scalar_like(node, x, 0, "zero")) : NULL;
    parts[1] = scalar_like(node, x, 1, "one");
    parts[2] = y;
    if (!parts[0])
        return false;
    y = onnx_build(node, OP_WHERE, NULL, "divisor", 3, parts);
    return ml_output(node, 0, apply2(node, OP_DIVIDE, "normal", x, y));
}

bool convert_binarizer(struct onnx_node *node)
{
    const double threshold = onnx_real(node, "threshold", 0);
    struct value *x = onnx_input(node, 0);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER) || !onnx_ok(node))
        return false;
    if (dtype_is_integer(x->type.dtype) && threshold != floor(threshold))
        return onnx_unsupported(node, "a threshold of %g for integers", threshold);
    return onnx_output(
        node, 0,
        cast_to(node,
                apply2(node, OP_GREATER, "above", x, scalar_like(node, x, threshold, "threshold")),
                x->type.dtype, ""));
}

/* The numbers that replace what is missing, and whether an element is. */
static struct value *imputed(struct onnx_node *node, struct value *x, struct value **is_missing)
{
    const bool integers = dtype_is_integer(x->type.dtype);
    const struct ml_reals reals = ml_reals(node, "imputed_value_floats");
    const struct ml_ints ints = ml_ints(node, "imputed_value_int64s");
    const double missing = integers ? (double)onnx_int(node, "replaced_value_int64", 0)
                                    : onnx_real(node, "replaced_value_float", 0);
    const int64_t n = integers ? ints.n : reals.n;

    if (!onnx_ok(node))
        return NULL;
    if (n != 1 && n != last_extent(x)) {
        bad_attribute(node, "imputed_value_%s has %lld numbers for %lld features",
                      integers ? "int64s" : "floats", (long long)n, (long long)last_extent(x));
        return NULL;
    }
    *is_missing = !integers && isnan(missing) ? apply1(node, OP_ISNAN, "missing", x)
                                              : apply2(node, OP_EQUAL, "missing", x,
                                                       scalar_like(node, x, missing, "replaced"));
    return integers ? cast_to(node, onnx_from_ints(node, ints.at, n, "imputed"), x->type.dtype,
                              "imputed_as")
                    : ml_constant(node, x->type.dtype, n, 0, reals.at, "imputed");
}

bool convert_imputer(struct onnx_node *node)
{
    struct value *parts[3];

    parts[2] = onnx_input(node, 0);
    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK))
        return false;
    parts[0] = NULL;
    parts[1] = imputed(node, parts[2], &parts[0]);
    return parts[0] && parts[1] &&
           onnx_output(node, 0, onnx_build(node, OP_WHERE, NULL, "", 3, parts));
}

/* x with a dim of 1 behind the others. */
static struct value *with_dim(struct onnx_node *node, struct value *x)
{
    struct ints shape = ints_of_shape(&x->type);

    shape.at[shape.n++] = 1;
    return reshape_to(node, x, &shape, "each");
}

bool convert_one_hot_encoder(struct onnx_node *node)
{
    const struct ml_ints cats = ml_ints(node, "cats_int64s");
    struct value *x = onnx_input(node, 0);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_rank(node, 0, 0, MAX_RANK - 1) || !onnx_ok(node))
        return false;
    if (!cats.n)
        return onnx_unsupported(node, "categories that are strings");
    x = cast_to(node, with_dim(node, x), DTYPE_I64, "whole");
    x = apply2(node, OP_EQUAL, "is", x, onnx_from_ints(node, cats.at, cats.n, "categories"));
    return onnx_output(node, 0, cast_to(node, x, DTYPE_F32, ""));
}

bool convert_array_feature_extractor(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0), *indices = onnx_input(node, 1), *y;
    union attrs attrs = { .axis = { 0 } };
    struct ints shape;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 1, TAKES_INTEGER) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK))
        return false;
    shape = ints_of(1, (const int64_t[]){ type_elements(&indices->type) });
    indices = reshape_to(node, indices, &shape, "indices");
    attrs.axis.axis = x->type.rank - 1;
    y = indices ? onnx_build2(node, OP_TAKE, &attrs, x->type.rank == 1 ? "list" : "", x, indices)
                : NULL;
    if (!y || x->type.rank > 1)
        return onnx_output(node, 0, y);
    shape = ints_of(2, (const int64_t[]){ 1, y->type.dim[0] });
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

bool convert_feature_vectorizer(struct onnx_node *node)
{
    const struct ml_ints dims = ml_ints(node, "inputdimensions");
    struct value *y = NULL;

    if (!onnx_check_inputs(node, 1, -1) || !onnx_ok(node))
        return false;
    if (dims.n != node->n_inputs)
        return bad_attribute(node, "inputdimensions has %lld numbers for %d inputs",
                             (long long)dims.n, node->n_inputs);
    for (int i = 0; i < node->n_inputs; i++) {
        struct value *x = onnx_input(node, i);

        if (!onnx_check_rank(node, i, 2, 2))
            return false;
        x = ml_rows(node, i, DTYPE_F32);
        if (!x)
            return false;
        if (x->type.dim[1] != dims.at[i])
            return onnx_unsupported(node, "input %d has %lld features, inputdimensions says %lld",
                                    i, (long long)x->type.dim[1], (long long)dims.at[i]);
        y = y ? concat_with(node, 1, y, x, i + 1 < node->n_inputs ? "joined" : "") : x;
    }
    return onnx_output(node, 0, y);
}

/* C has no maps: the values stay an array, with a column for each key. */
bool convert_zip_map(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    struct ml_classes classes;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 1, 2) ||
        !ml_classes(node, "classlabels_int64s", "classlabels_strings", &classes))
        return false;
    if (classes.n != last_extent(x))
        return bad_attribute(node, "%lld classes for %lld columns", (long long)classes.n,
                             (long long)last_extent(x));
    return onnx_output(node, 0, x);
}
