/* quantized.h - what the rules of fake_quant_to_integer.c share: numbers real = scale * (stored -
 * zero) between qnn.dequantize and qnn.quantize. */
#ifndef RELAY_IR_PASSES_LOWER_QUANTIZED_H
#define RELAY_IR_PASSES_LOWER_QUANTIZED_H

#include "relay_ir/passes/rules.h"

/* One scale and one zero point, both known. */
struct affine {
    enum dtype dtype; /* of the stored numbers */
    double scale;     /* positive, finite */
    int64_t zero;
    struct value *scale_value, *zero_value;
};

/* Of what a qnn.quantize makes (`of` its output) or a qnn.dequantize takes (`of` its input 0): i8,
 * u8, i16 or u16. False when there is more than one scale, or not all of it is known. */
bool affine_of(struct rewrite *rewrite, const struct node *node, const struct value *of,
               struct affine *affine);
bool affine_from(struct rewrite *rewrite, enum dtype dtype, struct value *scale, struct value *zero,
                 struct affine *affine);
bool affine_equal(const struct affine *a, const struct affine *b);

/* The qnn.dequantize that computes the value, with its affine; else NULL. */
struct node *dequantize_of(struct rewrite *rewrite, const struct value *value,
                           struct affine *affine);

/* Whether nobody reads the value but `root`, a qnn.quantize, and others that do the same: exporters
 * write one for each reader, and common_subexpr makes one of them again. */
bool only_quantized(struct rewrite *rewrite, const struct value *value, const struct node *root);

/* The greatest |stored - zero|. */
int64_t affine_reach(const struct affine *affine);

/* The payload of what is known at compile time; in *bulk, or the constant's own. */
bool static_tensor(struct rewrite *rewrite, const struct value *value, struct bulk *bulk,
                   struct tensor *tensor);

/* The stored numbers x of `from` as those of `to`: x itself, or requantized. */
struct value *requantized_to(struct rewrite *rewrite, struct value *x, const struct affine *from,
                             const struct affine *to);

/* Whether the rules may make integers of what the value is computed by. */
bool may_become_integer(const struct value *value);

/* What qnn.quantize makes of a number. */
double stored_number(const struct affine *affine, double real);

/* A constant "name.suffix" of i32; of i64. */
struct value *int32_constant(struct rewrite *rewrite, int32_t number, const char *suffix);
struct value *int64_constant(struct rewrite *rewrite, int64_t number, const char *suffix);

/* Constants "name.scale" and "name.zero" of an affine that has none yet. */
void make_affine_values(struct rewrite *rewrite, struct affine *affine);

/* pairs.c: every topk and max_pool_indices reads the integers that `ordered` gives (in the order of
 * what the root reads; NULL = this one stays), and `decoded` makes floats of those that it chose.
 * False after an error. */
typedef struct value *ordered_codes(struct rewrite *rewrite, const struct node *root);
typedef struct value *decoded_values(struct rewrite *rewrite, const struct node *root,
                                     struct value *values);
bool pairs_before(struct module *module, ordered_codes *ordered, decoded_values *decoded,
                  bool *changed);

/* The hardmax `root` of integers that are in the order of what it reads: one_hot of their argmax,
 * of `dtype`, where `one` stands for 1, and 0 for 0. */
struct value *one_hot_of_greatest(struct rewrite *rewrite, const struct node *root,
                                  struct value *codes, enum dtype dtype, unsigned one);

/* A nn.global_avg_pool as an average over one window, which targets have: its operator of codes,
 * and the attributes. Of more than three dimensions a mean. */
enum op global_average_as_pool(const struct node *node, union attrs *attrs);

/* The numbers that a type holds. */
double least_stored(enum dtype dtype);
double greatest_stored(enum dtype dtype);

#endif
