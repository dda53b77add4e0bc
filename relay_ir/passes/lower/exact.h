/* exact.h - what the rules of fake_quant_to_exact.c share: FP8 numbers real = scale * code between
 * what decodes them (qnn.dequantize, or cast to f32 where the scale is 1) and what encodes them
 * (qnn.quantize, cast). */
#ifndef RELAY_IR_PASSES_LOWER_EXACT_H
#define RELAY_IR_PASSES_LOWER_EXACT_H

#include "relay_ir/passes/rules.h"

/* Codes of 8 bits of a format with exact arithmetic (relay_ir/ops/exact.h). */
struct small {
    enum dtype dtype;
    const struct minifloat *format;
    double scale;              /* positive, finite */
    struct value *scale_value; /* NULL = 1, said by a cast */
};

bool small_equal(const struct small *a, const struct small *b);

/* What the node encodes, resp. decodes, has one scale for all. */
bool encodes(struct rewrite *rewrite, const struct node *node, struct small *small);
struct node *decoder_of(struct rewrite *rewrite, const struct value *value, struct small *small);

/* The codes as numbers again, as the decoder `like` does it. */
struct value *decode_like(struct rewrite *rewrite, const struct node *like, struct value *codes);

/* Whether both are one value, or decode the same codes alike: each reader has its own decoder. */
bool same_numbers(struct rewrite *rewrite, const struct value *a, const struct value *b);

/* Constants: a scale in f32, a zero of the dtype. */
struct value *scale_operand(struct rewrite *rewrite, double scale);
struct value *zero_operand(struct rewrite *rewrite, enum dtype dtype);

/* A value that nobody but `reader` reads, and once. */
bool read_once(const struct value *value, const struct node *reader);

/* relu and clip (numbers in ascending order) that stand behind one another between `value` and
 * `encoder`, each read once. Gives what they begin with; *n is their number. */
enum { MAX_BOUNDS = 4 };
struct value *behind_bounds(const struct value *value, const struct node *encoder,
                            const struct node *bounds[MAX_BOUNDS], int *n);

/* Codes of `from` through element-wise operators as codes of `to`: one table, computed here.
 * `value` is what is encoded, `leaf` the decoded number that it is computed from; both the same:
 * another scale, or format. NULL when the operators read anything else. */
struct value *through_table(struct rewrite *rewrite, struct value *codes, const struct small *from,
                            const struct value *leaf, const struct value *value,
                            const struct small *to);

/* The same where constants lie along one axis of the leaf: a table for each of its channels. */
struct value *through_tables(struct rewrite *rewrite, struct value *codes, const struct small *from,
                             const struct value *leaf, const struct value *value,
                             const struct small *to);

/* The codes' numbers in units of `unit`, to nearest, below 2^31, through a table: i64. */
struct value *exact_numbers_of(struct rewrite *rewrite, struct value *codes,
                               const struct small *small, double unit);

/* What is between a value and its encoder. Bounds become a table of codes: encoding is monotonous,
 * so that it does not matter which comes first. */
struct exact_behind {
    struct small out;
    struct value *value; /* in front of the bounds */
    int n_bounds;
    const struct node *bounds[MAX_BOUNDS];
};

bool exact_find_behind(struct rewrite *rewrite, const struct node *root,
                       struct exact_behind *behind);

/* The codes, made of what stood in front of the bounds, with them. */
struct value *exact_bounded(struct rewrite *rewrite, const struct exact_behind *behind,
                            const struct node *root, struct value *codes);

#endif
