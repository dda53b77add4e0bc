/* convert_linear.c - LinearClassifier, LinearRegressor: a product with weights, and what is done to the scores. */
#include "frontend/onnx/ml.h"

/* rows * coefficients^T + intercepts: [rows, n]. The intercepts may be missing. */
static struct value *linear(struct onnx_node *node, struct value *x, int64_t n,
                            struct ml_reals coefficients, struct ml_reals intercepts)
{
    struct value *y;

    if (!x)
        return NULL;
    if (n <= 0 || coefficients.n != n * x->type.dim[1] || (intercepts.n && intercepts.n != n)) {
        bad_attribute(node,
                      "%lld coefficients and %lld intercepts for %lld results of %lld features",
                      (long long)coefficients.n, (long long)intercepts.n, (long long)n,
                      (long long)x->type.dim[1]);
        return NULL;
    }
    y = apply2(node, OP_DENSE, "product", x,
               ml_constant(node, DTYPE_F32, n, x->type.dim[1], coefficients.at, "coefficients"));
    return intercepts.n ? apply2(node, OP_ADD, "linear", y,
                                 ml_constant(node, DTYPE_F32, n, 0, intercepts.at, "intercepts"))
                        : y;
}

bool convert_linear_regressor(struct onnx_node *node)
{
    const int64_t targets = onnx_int(node, "targets", 1);
    const struct ml_reals coefficients = ml_reals(node, "coefficients");
    const struct ml_reals intercepts = ml_reals(node, "intercepts");
    struct value *x, *y;
    enum ml_post post;

    if (!onnx_check_inputs(node, 1, 1) || !ml_post(node, &post))
        return false;
    x = ml_rows(node, 0, DTYPE_F32);
    y = linear(node, x, targets, coefficients, intercepts);
    if (targets > 1 || post == ML_PROBIT)
        y = ml_transform(node, post, y);
    return ml_output(node, 0, y);
}

/* One score for two classes. */
static bool classify_by_one(struct onnx_node *node, const struct ml_classes *classes,
                            enum ml_post post, struct value *score)
{
    if (classes->n != 2)
        return onnx_unsupported(node, "one score for %lld classes", (long long)classes->n);
    return ml_output_labels(node, classes, ml_above(node, score, 0)) &&
           ml_output(node, 1, ml_two_columns(node, post, true, score));
}

bool convert_linear_classifier(struct onnx_node *node)
{
    const struct ml_reals coefficients = ml_reals(node, "coefficients");
    const struct ml_reals intercepts = ml_reals(node, "intercepts");
    struct ml_classes classes;
    struct value *x, *scores;
    enum ml_post post;
    int64_t n;

    if (!onnx_check_inputs(node, 1, 1) || !ml_post(node, &post) ||
        !ml_classes(node, "classlabels_ints", "classlabels_strings", &classes))
        return false;
    x = ml_rows(node, 0, DTYPE_F32);
    if (!x)
        return false;
    n = intercepts.n ? intercepts.n : coefficients.n / (x->type.dim[1] ? x->type.dim[1] : 1);
    scores = linear(node, x, n, coefficients, intercepts);
    if (!scores)
        return false;
    if (n == 1)
        return classify_by_one(node, &classes, post, scores);
    if (n != classes.n)
        return bad_attribute(node, "%lld scores for %lld classes", (long long)n,
                             (long long)classes.n);
    return ml_output_labels(node, &classes, ml_argmax(node, scores)) &&
           ml_output(node, 1, ml_transform(node, post, scores));
}
