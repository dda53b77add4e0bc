/* exact.h - shared by the rules of fake_quant_to_exact.c: FP8 values real = scale * code between a
 * decoder (qnn.dequantize, or a cast to f32 if the scale is 1) and an encoder (qnn.quantize,
 * cast). */
#ifndef RELAY_IR_PASSES_LOWER_EXACT_H
#define RELAY_IR_PASSES_LOWER_EXACT_H

#include "relay_ir/passes/rules.h"

/* Quantisation by an 8-bit format with exact arithmetic (relay_ir/ops/exact.h) and one scale. */
struct small {
    enum dtype dtype;
    const struct minifloat *format;
    double scale;              /* positive, finite */
    struct value *scale_value; /* NULL = 1, from a cast */
};

bool small_equal(const struct small *a, const struct small *b);

/* Quantisation that the node encodes to, and that of the decoder that computes `value`; false and
 * NULL unless there is one scale. */
bool encodes(struct rewrite *rewrite, const struct node *node, struct small *small);
struct node *decoder_of(struct rewrite *rewrite, const struct value *value, struct small *small);

/* Decodes `quantized` as the decoder `like` does. */
struct value *decode_like(struct rewrite *rewrite, const struct node *like,
                          struct value *quantized);

/* True if a and b are one value, or decode one value with equal scales: each reader has its own
 * decoder. */
bool same_numbers(struct rewrite *rewrite, const struct value *a, const struct value *b);

/* Constants: an f32 scale, a zero of the dtype. */
struct value *scale_operand(struct rewrite *rewrite, double scale);
struct value *zero_operand(struct rewrite *rewrite, enum dtype dtype);

/* True if `reader` is the only reader, and reads it once. */
bool read_once(const struct value *value, const struct node *reader);

/* Chain of relu and clip (ascending bounds) between `value` and `encoder`, each read once. Returns
 * the chain's input; *n is its length. */
enum { MAX_BOUNDS = 4 };
struct value *behind_bounds(const struct value *value, const struct node *encoder,
                            const struct node *bounds[MAX_BOUNDS], int *n);

/* Replaces element-wise operators between decoder and encoder by one table from `from` to `to`.
 * `value` is encoded, `leaf` is the decoded value that it depends on; equal ones change scale or
 * format only. NULL if the operators read anything else. */
struct value *through_table(struct rewrite *rewrite, struct value *quantized,
                            const struct small *from, const struct value *leaf,
                            const struct value *value, const struct small *to);

/* through_table with constants along one axis of the leaf: one table per channel. */
struct value *through_tables(struct rewrite *rewrite, struct value *quantized,
                             const struct small *from, const struct value *leaf,
                             const struct value *value, const struct small *to);

/* Decoded values in units of `unit`, to nearest, below 2^31, by a table: i64. */
struct value *exact_numbers_of(struct rewrite *rewrite, struct value *quantized,
                               const struct small *small, double unit);

/* Clamps between a value and its encoder. They become a table of quantised values: encoding is monotonic, so
 * the order of clamping and encoding does not matter. */
struct exact_behind {
    struct small out;
    struct value *value; /* before the clamps */
    int n_bounds;
    const struct node *bounds[MAX_BOUNDS];
};

bool exact_find_behind(struct rewrite *rewrite, const struct node *root,
                       struct exact_behind *behind);

/* Applies the clamps to the quantised values of behind->value. */
struct value *exact_bounded(struct rewrite *rewrite, const struct exact_behind *behind,
                            const struct node *root, struct value *quantized);

#endif
