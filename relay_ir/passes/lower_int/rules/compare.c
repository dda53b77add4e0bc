/* compare.c - comparisons of decoded numbers, and truth as numbers, in integers.
 *
 * What is compared is brought to ranks: among the numbers that the quantised values of one operand
 * stand for, in ascending order, the k-th has the rank 2 * k + 1, and what lies between two of them
 * an even one. So any number compares with that operand as their ranks do: of 8 bits they come from
 * a table (qnn.lut), of constants they are computed here. They are those of f32, in which the
 * operators would have compared; NaN among the quantised values counts as 0 (relay_ir/ops/exact.h).
 *
 * Of 16 bits there is no table. Quantised values that are compared with constants have the rank 2 *
 * code, and the constants are brought among them. Two values in two scales are compared as what
 * they are, whole numbers times whole factors (a scale of f32 has 24 bits), in 64 bits: exactly,
 * where f32 rounds both products, so that the two may differ where numbers are equal but for 2^-24
 * of them.
 *
 * These rules come last: where an operator that reads the comparison is part of a table, all of it
 * is. */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

enum { CODES = 256 };

struct operand {
    const struct node *decoder; /* NULL: a constant */
    float numbers[CODES];       /* of the quantised values, counted as qnn.lut counts them */
};

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* `sorted` may hold numbers twice: their ranks are the same. */
static int place_of(const float sorted[CODES], double number)
{
    int n = 0;

    while (n < CODES && (double)sorted[n] < number)
        n++;
    return 2 * n + (n < CODES && (double)sorted[n] == number);
}

/* Of a constant of this shape: its type, and its elements. */
static int16_t *places_new(struct rewrite *rewrite, const struct type *shape, struct type *type)
{
    *type = type_make(DTYPE_I16, shape->rank, shape->dim);
    return constant_alloc(rewrite->fn, type);
}

static struct value *code_places(struct rewrite *rewrite, const struct operand *x,
                                 const float sorted[CODES])
{
    const int64_t n = CODES;
    const struct type shape = type_make(DTYPE_I16, 1, &n);
    const union attrs lut = { .axis = { 0 } };
    struct type type;
    int16_t *places = places_new(rewrite, &shape, &type);

    for (int i = 0; i < CODES; i++)
        places[i] = (int16_t)place_of(sorted, (double)x->numbers[i]);
    rule_covers(rewrite, x->decoder);
    return rule_build(
        rewrite, OP_QNN_LUT, &lut, 4,
        (struct value *[]){
            x->decoder->inputs[0],
            constant_new(rewrite->fn,
                         arena_printf(&rewrite->ctx->scratch, "%s.places", rewrite->name), &type,
                         places),
            scale_operand(rewrite, 1), zero_operand(rewrite, DTYPE_I16) });
}

/* NULL where one is no number. */
static struct value *constant_places(struct rewrite *rewrite, struct value *constant,
                                     const float sorted[CODES])
{
    const struct tensor numbers = value_tensor(constant);
    struct type type;
    int16_t *places = places_new(rewrite, &constant->type, &type);

    for (int64_t i = 0; i < type_elements(&type); i++) {
        const double number = tensor_at(&numbers, i);

        if (isnan(number))
            return NULL;
        places[i] = (int16_t)place_of(sorted, number);
    }
    return rule_constant_like(rewrite, constant, &type, places);
}

/* The root of ranks, those among the numbers of the first operand with quantised values. */
static struct value *of_places(struct rewrite *rewrite, struct node *root,
                               const struct operand operands[2])
{
    const int first = operands[0].decoder ? 0 : 1;
    struct value *inputs[2];
    float sorted[CODES];

    for (int i = 0; i < CODES; i++)
        sorted[i] = operands[first].numbers[i];
    qsort(sorted, CODES, sizeof *sorted, ascending);
    for (int i = 0; i < 2; i++) {
        inputs[i] = operands[i].decoder ? code_places(rewrite, &operands[i], sorted)
                                        : constant_places(rewrite, root->inputs[i], sorted);
        if (!inputs[i])
            return NULL;
    }
    return rule_build2(rewrite, root->op, NULL, inputs[0], inputs[1]);
}

static bool is_constant(const struct value *value)
{
    return value->kind == VALUE_CONSTANT && value->type.dtype == DTYPE_F32;
}

/* --- 16 bits ---------------------------------------------------------------------------------- */

/* Twice the code of the number, or what lies between two of them. */
static int32_t doubled_place(const struct affine *affine, double number)
{
    const double least = least_stored(affine->dtype), greatest = greatest_stored(affine->dtype);
    double code = floor(number / affine->scale) + (double)affine->zero - 2;
    double at;

    code = fmin(fmax(code, least), greatest);
    for (;; code++) { /* the first code that is not below */
        at = (double)(float)((code - (double)affine->zero) * affine->scale);
        if (code > greatest || at >= number)
            break;
    }
    return (int32_t)(2 * code) - (code > greatest || at != number);
}

/* The root of twice the quantised values of `side`, and the constant's ranks among them. */
static struct value *of_wide_and_constant(struct rewrite *rewrite, struct node *root,
                                          const struct operand operands[2],
                                          const struct affine *affine, int side)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    struct value *constant = root->inputs[1 - side], *inputs[2];
    const struct type type = type_make(DTYPE_I32, constant->type.rank, constant->type.dim);
    const struct tensor numbers = value_tensor(constant);
    int32_t *places = constant_alloc(rewrite->fn, &type);

    for (int64_t i = 0; i < type_elements(&type); i++) {
        const double number = tensor_at(&numbers, i);

        if (isnan(number))
            return NULL;
        places[i] = doubled_place(affine, number);
    }
    rule_covers(rewrite, operands[side].decoder);
    inputs[side] =
        rule_build2(rewrite, OP_MULTIPLY, NULL,
                    rule_build1(rewrite, OP_CAST, &cast, operands[side].decoder->inputs[0]),
                    int32_constant(rewrite, 2, "two"));
    inputs[1 - side] = rule_constant_like(rewrite, constant, &type, places);
    return rule_build2(rewrite, root->op, NULL, inputs[0], inputs[1]);
}

/* (code - zero) * factor, in i64. */
static struct value *times(struct rewrite *rewrite, const struct operand *operand,
                           const struct affine *affine, int64_t factor)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I64, .saturate = true } };
    struct value *x = rule_build1(rewrite, OP_CAST, &cast, operand->decoder->inputs[0]);

    rule_covers(rewrite, operand->decoder);
    if (affine->zero != 0)
        x = rule_build2(rewrite, OP_SUBTRACT, NULL, x,
                        int64_constant(rewrite, affine->zero, "zero"));
    return rule_build2(rewrite, OP_MULTIPLY, NULL, x, int64_constant(rewrite, factor, "factor"));
}

/* The root of both, in units of the last bit of the finer scale. */
static struct value *of_two_scales(struct rewrite *rewrite, struct node *root,
                                   const struct operand operands[2], const struct affine affine[2])
{
    enum { MANTISSA = 24, MOST = 20 }; /* 17 + 24 + 20 bits */
    struct value *inputs[2];
    int64_t factors[2];
    int exponents[2];

    for (int i = 0; i < 2; i++)
        factors[i] = (int64_t)ldexp(frexp(affine[i].scale, &exponents[i]), MANTISSA);
    for (int i = 0; i < 2; i++) {
        const int more = exponents[i] - exponents[1 - i];

        if (more > MOST)
            return NULL;
        if (more > 0)
            factors[i] <<= more;
    }
    for (int i = 0; i < 2; i++)
        inputs[i] = times(rewrite, &operands[i], &affine[i], factors[i]);
    return rule_build2(rewrite, root->op, NULL, inputs[0], inputs[1]);
}

/* greater, equal ... of dequantize(x), and of dequantize(y) or constants */
struct value *compare_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct operand operands[2] = { { .decoder = NULL } };
    struct affine affine[2];
    bool wide = false;

    for (int i = 0; i < 2; i++) {
        operands[i].decoder = dequantize_of(rewrite, root->inputs[i], &affine[i]);
        if (!operands[i].decoder && !is_constant(root->inputs[i]))
            return NULL;
        if (operands[i].decoder && affine[i].scale < 0x1p-100) /* differences must not vanish */
            return NULL;
        wide = wide || (operands[i].decoder && dtype_bytes(affine[i].dtype) != 1);
    }
    if (!operands[0].decoder && !operands[1].decoder)
        return NULL;
    if (operands[0].decoder && operands[1].decoder && affine_equal(&affine[0], &affine[1])) {
        rule_covers(rewrite, operands[0].decoder);
        rule_covers(rewrite, operands[1].decoder);
        return rule_build2(rewrite, root->op, NULL, operands[0].decoder->inputs[0],
                           operands[1].decoder->inputs[0]);
    }
    if (wide && operands[0].decoder && operands[1].decoder)
        return of_two_scales(rewrite, root, operands, affine);
    if (wide)
        return of_wide_and_constant(rewrite, root, operands, &affine[operands[0].decoder ? 0 : 1],
                                    operands[0].decoder ? 0 : 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < CODES && operands[i].decoder; k++)
            operands[i].numbers[k] =
                (float)((least_stored(affine[i].dtype) + k - (double)affine[i].zero) *
                        affine[i].scale);
    return of_places(rewrite, root, operands);
}

/* The same of FP8. */
struct value *compare_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct operand operands[2] = { { .decoder = NULL } };

    for (int i = 0; i < 2; i++) {
        struct small small;

        operands[i].decoder = decoder_of(rewrite, root->inputs[i], &small);
        if (!operands[i].decoder && !is_constant(root->inputs[i]))
            return NULL;
        for (unsigned code = 0; code < CODES && operands[i].decoder; code++) {
            const double number = (double)minifloat_decode(small.format, code);

            operands[i].numbers[code] = isnan(number) ? 0 : (float)(number * small.scale);
        }
    }
    return operands[0].decoder || operands[1].decoder ? of_places(rewrite, root, operands) : NULL;
}

/* --- isnan, isinf, isfinite -------------------------------------------------------------------
 * Numbers with a scale are finite, and none of them is NaN (of FP8, which counts as 0). */

static struct value *known_truth(struct rewrite *rewrite, const struct node *root,
                                 const struct node *decoder)
{
    const struct type *shape = &root->outputs[0]->type;
    const struct type type = type_make(DTYPE_BOOL, shape->rank, shape->dim);
    void *data = constant_alloc(rewrite->fn, &type);

    rule_covers(rewrite, decoder);
    for (int64_t i = 0; i < type_elements(&type); i++)
        dtype_store_int(DTYPE_BOOL, data, i, root->op == OP_ISFINITE);
    return constant_new(
        rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.truth", rewrite->name), &type, data);
}

/* isnan, isinf, isfinite (dequantize(x)) -> a constant */
struct value *predicate_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine affine;
    const struct node *decoder = dequantize_of(rewrite, root->inputs[0], &affine);

    return decoder && affine.scale < 0x1p100 ? known_truth(rewrite, root, decoder) : NULL;
}

/* The same of FP8. */
struct value *predicate_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct small small;
    const struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);

    return decoder && small.scale < 0x1p80 ? known_truth(rewrite, root, decoder) : NULL;
}

/* --- truth as numbers ------------------------------------------------------------------------- */

/* encode(cast(bool)) -> where(bool, code of 1, code of 0); quantized to integers or to FP8 */
struct value *encode_of_bool(struct rewrite *rewrite, struct node *root)
{
    const struct node *cast = defined_by(root->inputs[0], OP_CAST);
    const struct type one = type_scalar(DTYPE_F32);
    struct value *inputs[3] = { NULL };

    if (!cast || cast->inputs[0]->type.dtype != DTYPE_BOOL ||
        cast->outputs[0]->type.dtype != DTYPE_F32 ||
        dtype_is_half(root->outputs[0]->type.dtype)) /* C only moves and casts them */
        return NULL;
    rule_covers(rewrite, cast);
    for (int i = 0; i < 2; i++) {
        struct value *encoded[3] = { NULL, root->n_inputs > 1 ? root->inputs[1] : NULL,
                                     root->n_inputs > 2 ? root->inputs[2] : NULL };
        float *number = constant_alloc(rewrite->fn, &one);

        *number = i == 0;
        encoded[0] = constant_new(
            rewrite->fn,
            arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, i ? "false" : "true"),
            &one, number);
        inputs[1 + i] = rule_build(rewrite, root->op, &root->attrs, root->n_inputs, encoded);
    }
    inputs[0] = cast->inputs[0];
    return rule_build(rewrite, OP_WHERE, NULL, 3, inputs);
}
