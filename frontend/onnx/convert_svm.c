/* convert_svm.c - SVMClassifier, SVMRegressor: kernels of the rows with support vectors, products with
 * coefficients, votes of pairs of classes.
 *
 * The kernel rbf is exp(-gamma |x - s|^2) with |x - s|^2 = |x|^2 - 2 x s + |s|^2, so that it is a product
 * of matrices. The mean of the support vectors is subtracted from x and s first, or else numbers that are
 * large beside their differences would leave few digits. */
#include <string.h>

#include "frontend/onnx/ml.h"

struct svm {
    struct onnx_node *node;
    struct value *x; /* f32 [rows, features] */
    int64_t features, n_vectors;
    struct ml_reals vectors, coefficients, rho, params;
    const char *kernel; /* "LINEAR", "POLY", "RBF", "SIGMOID" */
};

static struct value *by(struct onnx_node *node, enum op op, struct value *x, double number,
                        const char *suffix)
{
    return x ? apply2(node, op, suffix, x, scalar_like(node, x, number, "constant")) : NULL;
}

/* rows * matrix^T, the matrix [n, width] of floats. */
static struct value *product(struct onnx_node *node, struct value *x, int64_t n, int64_t width,
                             const float *matrix, const char *suffix)
{
    return x ? apply2(node, OP_DENSE, suffix, x,
                      ml_constant(node, DTYPE_F32, n, width, matrix, "matrix"))
             : NULL;
}

static bool read_svm(struct svm *svm)
{
    static const char *const kernels[] = { "LINEAR", "POLY", "RBF", "SIGMOID" };
    struct onnx_node *node = svm->node;
    bool known = false;

    svm->x = onnx_check_inputs(node, 1, 1) ? ml_rows(node, 0, DTYPE_F32) : NULL;
    svm->vectors = ml_reals(node, "support_vectors");
    svm->coefficients = ml_reals(node, "coefficients");
    svm->rho = ml_reals(node, "rho");
    svm->params = ml_reals(node, "kernel_params");
    svm->kernel = onnx_word(node, "kernel_type", "LINEAR");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        known = known || strcmp(svm->kernel, kernels[i]) == 0;
    if (!svm->x || !onnx_ok(node))
        return false;
    if (!known || (svm->params.n && svm->params.n != 3))
        return bad_attribute(node, "kernel_type is none of LINEAR, POLY, RBF and SIGMOID, or "
                                   "kernel_params has not 3 numbers");
    svm->features = svm->x->type.dim[1];
    if (svm->rho.n == 0)
        return bad_attribute(node, "rho is missing");
    return svm->vectors.n == svm->n_vectors * svm->features ||
           bad_attribute(node,
                         "support_vectors has %lld numbers, %lld vectors of %lld features "
                         "need %lld",
                         (long long)svm->vectors.n, (long long)svm->n_vectors,
                         (long long)svm->features, (long long)(svm->n_vectors * svm->features));
}

static double param(const struct svm *svm, int i)
{
    return svm->params.n ? (double)svm->params.at[i] : 0;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* The vectors without their mean, which is subtracted from x; squares[i] is |vector i|^2. */
static void centre(struct svm *svm, float *mean, float *centred, float *squares)
{
    for (int64_t f = 0; f < svm->features; f++) {
        double sum = 0;

        for (int64_t i = 0; i < svm->n_vectors; i++)
            sum += (double)svm->vectors.at[i * svm->features + f];
        mean[f] = (float)(sum / (double)svm->n_vectors);
    }
    for (int64_t i = 0; i < svm->n_vectors; i++) {
        double sum = 0;

        for (int64_t f = 0; f < svm->features; f++) {
            const int64_t at = i * svm->features + f;

            centred[at] = svm->vectors.at[at] - mean[f];
            sum += (double)centred[at] * (double)centred[at];
        }
        squares[i] = (float)sum;
    }
}

static struct value *rbf(struct svm *svm)
{
    const int64_t n = svm->n_vectors, features = svm->features;
    const struct ints axis = ints_of(1, (const int64_t[]){ 1 });
    struct arena *arena = &svm->node->ctx->scratch;
    struct onnx_node *node = svm->node;
    float *mean = arena_array(arena, float, features);
    float *centred = arena_array(arena, float, n *features),
          *squares = arena_array(arena, float, n);
    struct value *x, *y;

    centre(svm, mean, centred, squares);
    x = apply2(node, OP_SUBTRACT, "centred", svm->x,
               ml_constant(node, DTYPE_F32, features, 0, mean, "mean"));
    y = by(node, OP_MULTIPLY, product(node, x, n, features, centred, "dot"), -2, "cross");
    y = apply2(node, OP_ADD, "distance_less", y,
               reduce_with(node, OP_SUM, apply2(node, OP_MULTIPLY, "square", x, x), &axis, true,
                           "length"));
    y = apply2(node, OP_ADD, "distance", y, ml_constant(node, DTYPE_F32, n, 0, squares, "lengths"));
    y = apply1(node, OP_RELU, "no_less_than_0", y);
    return apply1(node, OP_EXP, "kernel", by(node, OP_MULTIPLY, y, -param(svm, 0), "exponent"));
}

/* The kernel of each row with each support vector. */
static struct value *kernels(struct svm *svm)
{
    struct onnx_node *node = svm->node;
    struct value *y;

    if (strcmp(svm->kernel, "RBF") == 0)
        return rbf(svm);
    y = product(node, svm->x, svm->n_vectors, svm->features, svm->vectors.at, "dot");
    if (strcmp(svm->kernel, "LINEAR") == 0)
        return y;
    y = by(node, OP_ADD, by(node, OP_MULTIPLY, y, param(svm, 0), "scaled"), param(svm, 1),
           "shifted");
    return strcmp(svm->kernel, "POLY") == 0 ? by(node, OP_POWER, y, param(svm, 2), "kernel")
                                            : apply1(node, OP_TANH, "kernel", y);
}

/* --- regressor -------------------------------------------------------------------------------- */

bool convert_svm_regressor(struct onnx_node *node)
{
    struct svm svm = { .node = node, .n_vectors = onnx_int(node, "n_supports", 0) };
    const bool one_class = onnx_int(node, "one_class", 0) != 0;
    struct value *y, *parts[3];
    enum ml_post post;
    int64_t width;

    if (svm.n_vectors < 0 || svm.n_vectors > INT32_MAX)
        return bad_attribute(node, "n_supports is %lld", (long long)svm.n_vectors);
    if (!ml_post(node, &post) || !read_svm(&svm))
        return false;
    width = svm.n_vectors ? svm.n_vectors : svm.features;
    if (svm.coefficients.n != width || svm.rho.n < 1)
        return bad_attribute(node, "%lld coefficients, expected are %lld",
                             (long long)svm.coefficients.n, (long long)width);
    if (post != ML_NONE)
        return onnx_unsupported(node, "post_transform of SVMRegressor");
    y = svm.n_vectors ? kernels(&svm) : svm.x;
    y = by(node, OP_ADD, product(node, y, 1, width, svm.coefficients.at, "sum"),
           (double)svm.rho.at[0], "score");
    if (!one_class)
        return ml_output(node, 0, y);
    if (!y)
        return false;
    parts[0] = by(node, OP_GREATER, y, 0, "inside");
    parts[1] = scalar_like(node, y, 1, "one");
    parts[2] = scalar_like(node, y, -1, "minus_one");
    return parts[0] && ml_output(node, 0, onnx_build(node, OP_WHERE, NULL, "side", 3, parts));
}

/* --- classifier ------------------------------------------------------------------------------- */

struct pairs {
    int64_t n_classes, n; /* pairs (i, j), i < j, in this order */
    float *coefficients;  /* [n, n_vectors] */
    float *ballots;       /* [n_classes, n]: what class c gains if the score is above 0 … */
    float *others;        /* [n_classes] … and what it has before */
};

/* Vectors stand by class; vector v of class i has, for the pair with j, the coefficient in row j - 1
 * if i < j, and in row j else. */
static void fill_pairs(const struct svm *svm, struct ml_ints per_class, struct pairs *pairs)
{
    const int64_t n_vectors = svm->n_vectors;
    int64_t pair = 0, first_i = 0, first_j;

    for (int64_t i = 0; i < pairs->n_classes; first_i += per_class.at[i++]) {
        first_j = first_i + per_class.at[i];
        for (int64_t j = i + 1; j < pairs->n_classes; first_j += per_class.at[j++], pair++) {
            float *row = pairs->coefficients + pair * n_vectors;

            for (int64_t v = first_i; v < first_i + per_class.at[i]; v++)
                row[v] = svm->coefficients.at[(j - 1) * n_vectors + v];
            for (int64_t v = first_j; v < first_j + per_class.at[j]; v++)
                row[v] = svm->coefficients.at[i * n_vectors + v];
            pairs->ballots[i * pairs->n + pair] = 1;
            pairs->ballots[j * pairs->n + pair] = -1;
            pairs->others[j]++;
        }
    }
}

static bool read_pairs(const struct svm *svm, struct ml_ints per_class, struct pairs *pairs)
{
    struct arena *arena = &svm->node->ctx->scratch;
    const int64_t n = pairs->n_classes;

    pairs->n = n * (n - 1) / 2;
    if (per_class.n != n || svm->coefficients.n != (n - 1) * svm->n_vectors ||
        svm->rho.n < pairs->n)
        return bad_attribute(
            svm->node,
            "%lld classes, %lld numbers of vectors, %lld coefficients and %lld rho "
            "do not fit together",
            (long long)n, (long long)per_class.n, (long long)svm->coefficients.n,
            (long long)svm->rho.n);
    if (!onnx_granted(svm->node, DTYPE_F32,
                      (double)pairs->n * ((double)svm->n_vectors + (double)n)))
        return false;
    pairs->coefficients = arena_array(arena, float, pairs->n * svm->n_vectors);
    pairs->ballots = arena_array(arena, float, n * pairs->n);
    pairs->others = arena_array(arena, float, n);
    fill_pairs(svm, per_class, pairs);
    return true;
}

/* The number of the class with the most votes of pairs; of equals the first. */
static struct value *elect(struct onnx_node *node, const struct pairs *pairs, struct value *scores)
{
    struct value *votes =
        cast_to(node, by(node, OP_GREATER, scores, 0, "first_wins"), DTYPE_F32, "wins");

    votes = product(node, votes, pairs->n_classes, pairs->n, pairs->ballots, "gains");
    return ml_argmax(
        node, apply2(node, OP_ADD, "votes", votes,
                     ml_constant(node, DTYPE_F32, pairs->n_classes, 0, pairs->others, "before")));
}

/* The probabilities of the classes, of each pair's score by a sigmoid, coupled as libsvm does. */
static struct value *probabilities(struct onnx_node *node, const struct pairs *pairs,
                                   struct value *scores)
{
    const struct ml_reals a = ml_reals(node, "prob_a"), b = ml_reals(node, "prob_b");
    const union attrs clip = { .clip = { .a_min = 1e-7, .a_max = (double)(1 - 1e-7f) } };
    const union attrs couple = { .coupling = { .n_classes = pairs->n_classes } };

    if (a.n < pairs->n || b.n < pairs->n) {
        bad_attribute(node, "%lld prob_a and %lld prob_b for %lld pairs", (long long)a.n,
                      (long long)b.n, (long long)pairs->n);
        return NULL;
    }
    scores = apply2(node, OP_MULTIPLY, "by_a", scores,
                    ml_constant(node, DTYPE_F32, pairs->n, 0, a.at, "a"));
    scores = apply2(node, OP_ADD, "exponent", scores,
                    ml_constant(node, DTYPE_F32, pairs->n, 0, b.at, "b"));
    scores = apply1(node, OP_SIGMOID, "wins_pair", apply1(node, OP_NEGATIVE, "minus", scores));
    scores = scores ? onnx_build1(node, OP_CLIP, &clip, "pair", scores) : NULL;
    return scores ? onnx_build1(node, OP_COUPLING, &couple, "probabilities", scores) : NULL;
}

static bool classify_pairs(struct svm *svm, const struct ml_classes *classes,
                           struct ml_ints per_class, enum ml_post post)
{
    struct onnx_node *node = svm->node;
    struct pairs pairs = { .n_classes = classes->n };
    struct value *scores;

    if (!read_pairs(svm, per_class, &pairs))
        return false;
    scores = product(node, kernels(svm), pairs.n, svm->n_vectors, pairs.coefficients, "sums");
    scores = apply2(node, OP_ADD, "pairs", scores,
                    ml_constant(node, DTYPE_F32, pairs.n, 0, svm->rho.at, "rho"));
    if (!ml_output_labels(node, classes, elect(node, &pairs, scores)))
        return false;
    if (onnx_has(node, "prob_a"))
        scores = ml_transform(node, post, probabilities(node, &pairs, scores));
    else if (classes->n == 2) /* as ONNX Runtime */
        scores = ml_two_columns(node, post, post != ML_NONE, scores);
    else
        scores = ml_transform(node, post, scores);
    return ml_output(node, 1, scores);
}

/* Without support vectors: one product. */
static bool classify_linear(struct svm *svm, const struct ml_classes *classes, enum ml_post post)
{
    struct onnx_node *node = svm->node;
    struct value *scores;

    if (svm->coefficients.n != classes->n * svm->features)
        return bad_attribute(node, "%lld coefficients for %lld classes of %lld features",
                             (long long)svm->coefficients.n, (long long)classes->n,
                             (long long)svm->features);
    if (classes->n == 2)
        return onnx_unsupported(node, "two classes without support vectors");
    scores = by(node, OP_ADD,
                product(node, svm->x, classes->n, svm->features, svm->coefficients.at, "sums"),
                (double)svm->rho.at[0], "linear");
    return ml_output_labels(node, classes, ml_argmax(node, scores)) &&
           ml_output(node, 1, ml_transform(node, post, scores));
}

bool convert_svm_classifier(struct onnx_node *node)
{
    const struct ml_ints per_class = ml_ints(node, "vectors_per_class");
    struct svm svm = { .node = node };
    struct ml_classes classes;
    enum ml_post post;

    for (int64_t i = 0; i < per_class.n; i++) {
        if (per_class.at[i] < 0 || per_class.at[i] > INT32_MAX)
            return bad_attribute(node, "vectors_per_class has the number %lld",
                                 (long long)per_class.at[i]);
        svm.n_vectors += per_class.at[i];
    }
    if (svm.n_vectors > INT32_MAX ||
        !ml_classes(node, "classlabels_ints", "classlabels_strings", &classes) ||
        !ml_post(node, &post) || !read_svm(&svm))
        return false;
    if (classes.n < 2)
        return onnx_unsupported(node, "a classifier of one class");
    return svm.n_vectors ? classify_pairs(&svm, &classes, per_class, post)
                         : classify_linear(&svm, &classes, post);
}
