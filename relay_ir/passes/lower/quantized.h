/* quantized.h - shared by the rules of fake_quant_to_integer.c: values real = scale * (q - zero)
 * between qnn.dequantize and qnn.quantize. */
#ifndef RELAY_IR_PASSES_LOWER_QUANTIZED_H
#define RELAY_IR_PASSES_LOWER_QUANTIZED_H

#include "relay_ir/passes/rules.h"

/* One constant scale and zero point. */
struct affine {
    enum dtype dtype; /* of q */
    double scale;     /* positive, finite */
    int64_t zero;
    struct value *scale_value, *zero_value;
};

/* Affine of a qnn.quantize (`of` its output) or a qnn.dequantize (`of` its input 0): i8, u8, i16 or
 * u16. False for several scales, or if they are not constant. */
bool affine_of(struct rewrite *rewrite, const struct node *node, const struct value *of,
               struct affine *affine);
bool affine_from(struct rewrite *rewrite, enum dtype dtype, struct value *scale, struct value *zero,
                 struct affine *affine);
bool affine_equal(const struct affine *a, const struct affine *b);

/* The qnn.dequantize that computes the value, and its affine; else NULL. */
struct node *dequantize_of(struct rewrite *rewrite, const struct value *value,
                           struct affine *affine);

/* True if the only readers of the value are `root`, a qnn.quantize, and equal ones: exporters write
 * one per reader, and common_subexpr merges them later. */
bool only_quantized(struct rewrite *rewrite, const struct value *value, const struct node *root);

/* Greatest |q - zero|. */
int64_t affine_reach(const struct affine *affine);

/* Payload of a value known at compile time; in *bulk, or the constant's own. */
bool static_tensor(struct rewrite *rewrite, const struct value *value, struct bulk *bulk,
                   struct tensor *tensor);

/* x, quantised as `from`, requantised to `to`; x itself if they are equal. */
struct value *requantized_to(struct rewrite *rewrite, struct value *x, const struct affine *from,
                             const struct affine *to);

/* True if the rules may replace the computation of the value by integers. */
bool may_become_integer(const struct value *value);

/* Result of qnn.quantize for one real number. */
double stored_number(const struct affine *affine, double real);

/* Scalar constants "name.suffix", i32 and i64. */
struct value *int32_constant(struct rewrite *rewrite, int32_t number, const char *suffix);
struct value *int64_constant(struct rewrite *rewrite, int64_t number, const char *suffix);

/* Makes constants "name.scale" and "name.zero" if the affine has none yet. */
void make_affine_values(struct rewrite *rewrite, struct affine *affine);

/* Moves topk and max_pool_indices before the dequantisation (pairs.c): each reads the integers from
 * `ordered` (in the order of the root's input; NULL leaves the node), and `decoded` converts the
 * chosen ones to floats. False after an error. */
typedef struct value *ordered_values(struct rewrite *rewrite, const struct node *root);
typedef struct value *decoded_values(struct rewrite *rewrite, const struct node *root,
                                     struct value *values);
bool pairs_before(struct module *module, ordered_values *ordered, decoded_values *decoded,
                  bool *changed);

/* hardmax as one_hot of the argmax of `quantized`, which are ordered as root's input; dtype's value
 * `one` stands for 1, and 0 for 0. */
struct value *one_hot_of_greatest(struct rewrite *rewrite, const struct node *root,
                                  struct value *quantized, enum dtype dtype, unsigned one);

/* nn.global_avg_pool as a quantised average over one window, which backends support: operator and
 * attributes. A mean above three dimensions. */
enum op global_average_as_pool(const struct node *node, union attrs *attrs);

/* Range of a type. */
double least_stored(enum dtype dtype);
double greatest_stored(enum dtype dtype);

#endif
