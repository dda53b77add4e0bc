/* ml.h - what converters of ai.onnx.ml share: rows of features, lists of any length, class labels and the
 * functions of scores (post_transform). */
#ifndef FRONTEND_ONNX_ML_H
#define FRONTEND_ONNX_ML_H

#include "frontend/onnx/convert_helpers.h"

/* Lists of any length; n = 0 if missing. Floats are borrowed. */
struct ml_reals {
    const float *at;
    int64_t n;
};
struct ml_ints {
    const int64_t *at;
    int64_t n;
};
struct ml_words {
    const char *const *at;
    int64_t n;
};
struct ml_reals ml_reals(struct onnx_node *node, const char *attr);
struct ml_ints ml_ints(struct onnx_node *node, const char *attr);
struct ml_words ml_words(struct onnx_node *node, const char *attr);

/* Input i as rows of numbers of this type: [rows, features], where a list is one row. NULL after an
 * error. */
struct value *ml_rows(struct onnx_node *node, int i, enum dtype dtype);

/* A constant of this type, [n] or, if width > 0, [n, width], of floats. */
struct value *ml_constant(struct onnx_node *node, enum dtype dtype, int64_t n, int64_t width,
                          const float *at, const char *suffix);

/* --- strings (strings.c) ---------------------------------------------------------------------- */

/* The value's elements are numbers (i64) of these strings. */
void ml_set_strings(struct onnx_node *node, const struct value *value, struct ml_words words);

/* The strings of a value; n < 0 = it has none. */
struct ml_words ml_strings_of(const struct onnx_node *node, const struct value *value);

/* --- classes ---------------------------------------------------------------------------------- */

struct ml_classes {
    int64_t n;
    struct ml_ints ints;   /* else */
    struct ml_words words; /* strings */
};

/* From two attributes, of which one is there. */
bool ml_classes(struct onnx_node *node, const char *ints, const char *words,
                struct ml_classes *out);

/* Makes output 0 of the numbers of classes (i64): the classes' integers, or their numbers, known as
 * strings. */
bool ml_output_labels(struct onnx_node *node, const struct ml_classes *classes,
                      struct value *number);

/* The number of the class with the highest score of each row; 1 or 0 as score > limit. */
struct value *ml_argmax(struct onnx_node *node, struct value *scores);
struct value *ml_above(struct onnx_node *node, struct value *score, double limit);

/* Column `first` to `first + n` of a matrix. */
struct value *ml_columns(struct onnx_node *node, struct value *x, int64_t first, int64_t n,
                         const char *suffix);

/* --- scores ----------------------------------------------------------------------------------- */

enum ml_post { ML_NONE, ML_SOFTMAX, ML_LOGISTIC, ML_SOFTMAX_ZERO, ML_PROBIT };

/* Attribute post_transform, a word. */
bool ml_post(struct onnx_node *node, enum ml_post *out);

/* The scores of at least two classes, or of one number, transformed. */
struct value *ml_transform(struct onnx_node *node, enum ml_post post, struct value *scores);

/* Two columns of one score, as ONNX Runtime does: LOGISTIC of -s and s; else 1 - s and s if
 * `is_share`, -s and s if not. */
struct value *ml_two_columns(struct onnx_node *node, enum ml_post post, bool is_share,
                             struct value *score);

/* x as output i, where that is wanted; f32. */
bool ml_output(struct onnx_node *node, int i, struct value *x);

#endif
