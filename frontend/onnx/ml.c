/* ml.c - ml.h. Results are those of ONNX Runtime, where the text of ai.onnx.ml leaves them open. */
#include "frontend/onnx/ml.h"

#include <string.h>

struct value *ml_rows(struct onnx_node *node, int i, enum dtype dtype)
{
    struct value *x = onnx_input(node, i);
    struct ints row;

    if (!onnx_check_kind(node, i, TAKES_NUMBER) || !onnx_check_rank(node, i, 1, 2))
        return NULL;
    row = ints_of(2, (const int64_t[]){ 1, x->type.dim[0] });
    if (x->type.rank == 1)
        x = reshape_to(node, x, &row, "row");
    return cast_to(node, x, dtype, "real");
}

struct value *ml_constant(struct onnx_node *node, enum dtype dtype, int64_t n, int64_t width,
                          const float *at, const char *suffix)
{
    const int64_t dims[] = { n, width };
    struct tensor tensor = { .type = type_make(dtype, width ? 2 : 1, dims) };
    const int64_t all = n * (width ? width : 1);
    struct value *value;

    if (!onnx_granted(node, dtype, (double)all))
        return NULL;
    tensor.data = constant_alloc(node->fn, &tensor.type);
    for (int64_t i = 0; i < all; i++)
        dtype_store(dtype, tensor.data, i, (double)at[i]);
    value = onnx_from_tensor(node, &tensor, suffix);
    return value;
}

/* --- classes ---------------------------------------------------------------------------------- */

bool ml_classes(struct onnx_node *node, const char *ints, const char *words, struct ml_classes *out)
{
    out->ints = ml_ints(node, ints);
    out->words = ml_words(node, words);
    out->n = out->words.n ? out->words.n : out->ints.n;
    if (!onnx_ok(node))
        return false;
    if (out->n > 0 && (!out->ints.n || !out->words.n))
        return true;
    return bad_attribute(node, "%s and %s: expected is one list of the classes", ints, words);
}

static bool counts_from_zero(const struct ml_classes *classes)
{
    for (int64_t i = 0; i < classes->ints.n; i++)
        if (classes->ints.at[i] != i)
            return false;
    return classes->ints.n > 0;
}

bool ml_output_labels(struct onnx_node *node, const struct ml_classes *classes,
                      struct value *number)
{
    const union attrs axis = { .axis = { .axis = 0 } };

    if (!number)
        return false;
    if (classes->words.n)
        ml_set_strings(node, number, classes->words);
    else if (!counts_from_zero(classes))
        number =
            onnx_build2(node, OP_TAKE, &axis, "",
                        onnx_from_ints(node, classes->ints.at, classes->ints.n, "classes"), number);
    return onnx_output(node, 0, number);
}

struct value *ml_argmax(struct onnx_node *node, struct value *scores)
{
    const union attrs attrs = { .arg = { .axis = 1 } };

    return scores ? onnx_build1(node, OP_ARGMAX, &attrs, "number", scores) : NULL;
}

struct value *ml_above(struct onnx_node *node, struct value *score, double limit)
{
    struct ints shape;

    if (!score)
        return NULL;
    shape = ints_of(1, score->type.dim);
    return cast_to(node,
                   reshape_to(node,
                              apply2(node, OP_GREATER, "above", score,
                                     scalar_like(node, score, limit, "limit")),
                              &shape, "one"),
                   DTYPE_I64, "number");
}

struct value *ml_columns(struct onnx_node *node, struct value *x, int64_t first, int64_t n,
                         const char *suffix)
{
    union attrs attrs = { .slice = { .begin = ints_of(2, (const int64_t[]){ 0, first }),
                                     .strides = ints_fill(2, 1) } };

    if (!x || (first == 0 && n == x->type.dim[1]))
        return x;
    attrs.slice.size = ints_of(2, (const int64_t[]){ x->type.dim[0], n });
    return onnx_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

/* --- scores ----------------------------------------------------------------------------------- */

bool ml_post(struct onnx_node *node, enum ml_post *out)
{
    static const char *const names[] = { "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" };
    const char *word = onnx_word(node, "post_transform", "NONE");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            *out = (enum ml_post)i;
            return onnx_ok(node);
        }
    return bad_attribute(node, "post_transform is none of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO "
                               "and PROBIT");
}

static struct value *by(struct onnx_node *node, enum op op, struct value *x, double number,
                        const char *suffix)
{
    return x ? apply2(node, op, suffix, x, scalar_like(node, x, number, "constant")) : NULL;
}

/* sqrt(2) * erfinv(2 x - 1) by Winitzki's formula, with ONNX Runtime's constants. */
static struct value *probit(struct onnx_node *node, struct value *x)
{
    const double a = 0.147;
    struct value *e = by(node, OP_SUBTRACT, by(node, OP_MULTIPLY, x, 2, "twice"), 1, "centred");
    struct value *log, *v, *root;

    log = apply2(node, OP_MULTIPLY, "product",
                 e ? apply2(node, OP_SUBTRACT, "left", scalar_like(node, e, 1, "one"), e) : NULL,
                 by(node, OP_ADD, e, 1, "right"));
    log = apply1(node, OP_LOG, "log", log);
    v = by(node, OP_ADD, by(node, OP_MULTIPLY, log, 0.5, "half"), 2 / (3.14159 * a), "v");
    root = apply2(node, OP_SUBTRACT, "under", apply2(node, OP_MULTIPLY, "square", v, v),
                  by(node, OP_MULTIPLY, log, 1 / a, "scaled"));
    root = apply2(node, OP_SUBTRACT, "inner", apply1(node, OP_SQRT, "root", root), v);
    root = apply1(node, OP_SQRT, "magnitude", root);
    /* The sign of 0 is +, but there the magnitude is 0. */
    e = apply2(node, OP_MULTIPLY, "signed", apply1(node, OP_SIGN, "sign", e), root);
    return by(node, OP_MULTIPLY, e, 1.41421356, "scores");
}

/* softmax, where what is 0 stays out of the sum and gets 0. */
static struct value *softmax_zero(struct onnx_node *node, struct value *x)
{
    const struct ints axis = ints_of(1, (const int64_t[]){ 1 });
    struct value *highest = reduce_with(node, OP_MAX, x, &axis, true, "highest");
    struct value *parts[3], *sum;

    parts[0] = by(node, OP_GREATER, apply1(node, OP_ABS, "size", x), (double)0.0000001f, "counts");
    parts[1] = apply1(node, OP_EXP, "power", apply2(node, OP_SUBTRACT, "shifted", x, highest));
    parts[2] = x ? scalar_like(node, x, 0, "zero") : NULL;
    if (!parts[0] || !parts[1] || !parts[2])
        return NULL;
    sum = reduce_with(node, OP_SUM, onnx_build(node, OP_WHERE, NULL, "counted", 3, parts), &axis,
                      true, "sum");
    parts[2] = apply2(node, OP_MULTIPLY, "near_zero", x,
                      apply1(node, OP_EXP, "scale", apply1(node, OP_NEGATIVE, "below", highest)));
    return parts[2] ? apply2(node, OP_DIVIDE, "scores",
                             onnx_build(node, OP_WHERE, NULL, "power_or_zero", 3, parts), sum)
                    : NULL;
}

struct value *ml_transform(struct onnx_node *node, enum ml_post post, struct value *scores)
{
    const union attrs axis = { .axis = { .axis = 1 } };

    if (!scores || post == ML_NONE)
        return scores;
    if (post == ML_PROBIT)
        return probit(node, scores);
    if (post == ML_LOGISTIC)
        return apply1(node, OP_SIGMOID, "scores", scores);
    return post == ML_SOFTMAX ? onnx_build1(node, OP_SOFTMAX, &axis, "scores", scores)
                              : softmax_zero(node, scores);
}

struct value *ml_two_columns(struct onnx_node *node, enum ml_post post, bool is_share,
                             struct value *score)
{
    struct value *other;

    if (!score)
        return NULL;
    if (post == ML_PROBIT) {
        onnx_unsupported(node, "PROBIT of one score for two classes");
        return NULL;
    }
    other = is_share && post != ML_LOGISTIC
                ? apply2(node, OP_SUBTRACT, "other", scalar_like(node, score, 1, "one"), score)
                : apply1(node, OP_NEGATIVE, "other", score);
    score = concat_with(node, 1, other, score, "both");
    return post == ML_LOGISTIC ? ml_transform(node, post, score) : score;
}

bool ml_output(struct onnx_node *node, int i, struct value *x)
{
    return x && onnx_output(node, i, cast_to(node, x, DTYPE_F32, "f32"));
}
