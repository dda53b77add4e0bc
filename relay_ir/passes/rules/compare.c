/* compare.c - comparisons of decoded numbers, and truth as numbers, in integers.
 *
 * What is compared is brought to places: among the numbers that the codes of one operand stand for,
 * in ascending order, the k-th has the place 2 * k + 1, and what lies between two of them an even
 * one. So any number compares with that operand as their places do: of 8 bits they come from a
 * table (qnn.lut), of constants they are computed here. They are those of f32, in which the
 * operators would have compared; NaN among the codes counts as 0 (relay_ir/ops/exact.h).
 *
 * These rules come last: where an operator that reads the comparison is part of a table, all of it
 * is. */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/passes/rules/exact.h"
#include "relay_ir/passes/rules/quantized.h"

enum { CODES = 256 };

struct operand {
    const struct node *decoder; /* NULL: a constant */
    float numbers[CODES];       /* of the codes, counted as qnn.lut counts them */
};

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* `sorted` may hold numbers twice: their places are the same. */
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

/* The root of places, those among the numbers of the first operand with codes. */
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

/* greater, equal ... of dequantize(x), and of dequantize(y) or constants */
struct value *compare_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct operand operands[2] = { { .decoder = NULL } };
    struct affine affine[2];

    for (int i = 0; i < 2; i++) {
        operands[i].decoder = dequantize_of(rewrite, root->inputs[i], &affine[i]);
        if (!operands[i].decoder && !is_constant(root->inputs[i]))
            return NULL;
    }
    if (!operands[0].decoder && !operands[1].decoder)
        return NULL;
    if (operands[0].decoder && operands[1].decoder && affine_equal(&affine[0], &affine[1]) &&
        affine[0].scale >= 0x1p-100) { /* differences must not vanish */
        rule_covers(rewrite, operands[0].decoder);
        rule_covers(rewrite, operands[1].decoder);
        return rule_build2(rewrite, root->op, NULL, operands[0].decoder->inputs[0],
                           operands[1].decoder->inputs[0]);
    }
    for (int i = 0; i < 2; i++) {
        if (operands[i].decoder && dtype_bytes(affine[i].dtype) != 1)
            return NULL;
        for (int k = 0; k < CODES && operands[i].decoder; k++)
            operands[i].numbers[k] =
                (float)((least_stored(affine[i].dtype) + k - (double)affine[i].zero) *
                        affine[i].scale);
    }
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

/* --- truth as numbers -------------------------------------------------------------------------
 */

/* encode(cast(bool)) -> where(bool, code of 1, code of 0); quantized to integers or to FP8 */
struct value *encode_of_bool(struct rewrite *rewrite, struct node *root)
{
    const struct node *cast = defined_by(root->inputs[0], OP_CAST);
    const struct type one = type_scalar(DTYPE_F32);
    struct value *inputs[3] = { NULL };

    if (!cast || cast->inputs[0]->type.dtype != DTYPE_BOOL ||
        cast->outputs[0]->type.dtype != DTYPE_F32)
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
