/* prod.c - the product of a few numbers that are reduced (the area of a box, say), in integers: of
 * distances from the zero point, or of steps of FP8, in i64, which holds 7 numbers of 8 bits, 3 of
 * E4M3 (18 bits) or of 16 bits. It is exact, and rounded once; between two of them nothing has to
 * be calibrated. */
#include <math.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

/* The numbers that make one of the result. */
static int64_t terms_of(const struct node *node)
{
    const int64_t n = type_elements(&node->outputs[0]->type);

    return n > 0 ? type_elements(&node->inputs[0]->type) / n : 0;
}

/* Whether 63 bits hold the product of numbers up to `reach`, and f32 says its unit. */
static bool fits(int64_t terms, double reach, double unit)
{
    return terms > 0 && (double)terms * log2(reach) <= 62 &&
           fabs((double)terms * log2(unit)) <= 120;
}

/* Integers of 64 bits in units as those of `scale`: quantised values of a type with exact_greatest,
 * or i64. */
static struct value *rounded(struct rewrite *rewrite, struct value *products, double unit,
                             double scale, enum dtype dtype)
{
    const union attrs attrs = { .requantize = { .rounding = "single" } };

    return rule_build(
        rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
        (struct value *[]){ products, scale_operand(rewrite, unit), zero_operand(rewrite, dtype),
                            scale_operand(rewrite, scale), zero_operand(rewrite, dtype) });
}

/* Whole steps of the result, i64, as quantised values. */
static struct value *as_quantized(struct rewrite *rewrite, struct value *steps,
                                  const struct affine *out)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    const union attrs attrs = { .requantize = { .rounding = "single" } };

    steps = rule_build2(rewrite, OP_MAXIMUM, NULL, steps,
                        int64_constant(rewrite, -((int64_t)1 << 30), "least"));
    steps = rule_build2(rewrite, OP_MINIMUM, NULL, steps,
                        int64_constant(rewrite, (int64_t)1 << 30, "most"));
    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
                      (struct value *[]){ rule_build1(rewrite, OP_CAST, &cast, steps),
                                          out->scale_value, int32_constant(rewrite, 0, "in_zero"),
                                          out->scale_value, out->zero_value });
}

/* quantize(prod(dequantize(x))) -> requantize(prod of i64) */
struct value *prod_to_integer(struct rewrite *rewrite, struct node *root)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I64, .saturate = true } };
    const struct node *node = defined_by(root->inputs[0], OP_PROD), *x;
    struct affine in, out;
    struct value *y;
    int64_t n;

    if (!node || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    n = terms_of(node);
    if (!x || !fits(n, (double)affine_reach(&in), in.scale))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    y = rule_build1(rewrite, OP_CAST, &cast, x->inputs[0]);
    if (in.zero != 0)
        y = rule_build2(rewrite, OP_SUBTRACT, NULL, y, int64_constant(rewrite, in.zero, "zero"));
    y = rule_build1(rewrite, OP_PROD, &node->attrs, y);
    return as_quantized(rewrite,
                        rounded(rewrite, y, pow(in.scale, (double)n), out.scale, DTYPE_I64), &out);
}

/* encode(prod(decode(x))) -> requantize(prod of steps) */
struct value *exact_prod(struct rewrite *rewrite, struct node *root)
{
    struct exact_behind behind;
    const struct node *node, *decoder;
    struct small in;
    double step;
    int64_t n;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (node->op != OP_PROD)
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder)
        return NULL;
    n = terms_of(node);
    step = ldexp(in.scale, exact_unit(in.format));
    if (!fits(n, (double)exact_greatest(in.format), step))
        return NULL;
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    return exact_bounded(
        rewrite, &behind, root,
        rounded(rewrite,
                rule_build1(rewrite, OP_PROD, &node->attrs,
                            exact_numbers_of(rewrite, decoder->inputs[0], &in, step)),
                pow(step, (double)n), behind.out.scale, behind.out.dtype));
}
