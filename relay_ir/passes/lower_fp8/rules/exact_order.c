/* exact_order.c - what compares FP8 numbers, in integers: argmax, argmin, topk, hardmax, max, min,
 * maximum and minimum; and where, which chooses by something else. A table (qnn.lut) makes of each
 * code its rank among all numbers of the format, -127 .. 127, which is in their order; another one
 * makes quantised values of ranks. Both zeros have the rank 0, and so has NaN, as in all exact arithmetic
 * (relay_ir/ops/exact.h). Without a sign a rank is the code less 128. */
#include <math.h>
#include <string.h>

#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

enum { CODES = 256, NEGATIVE = 128 };

/* x through a table, as numbers of `dtype` in `scale`. */
static struct value *through(struct rewrite *rewrite, struct value *x, enum dtype dtype,
                             double scale, const uint8_t table[CODES], const char *suffix)
{
    const int64_t n = CODES;
    const struct type type = type_make(dtype, 1, &n);
    const union attrs lut = { .axis = { 0 } };
    uint8_t *data = constant_alloc(rewrite->fn, &type);
    struct value *value;

    for (int i = 0; i < CODES; i++)
        data[i] = table[i];
    value = constant_new(rewrite->fn,
                         arena_printf(&rewrite->ctx->scratch, "%s.%s", rewrite->name, suffix),
                         &type, data);
    return rule_build(rewrite, OP_QNN_LUT, &lut, 4,
                      (struct value *[]){ x, value, scale_operand(rewrite, scale),
                                          zero_operand(rewrite, dtype) });
}

/* The ranks of quantised values. */
static struct value *places_of(struct rewrite *rewrite, const struct minifloat *format,
                               struct value *quantized)
{
    uint8_t table[CODES];

    for (unsigned code = 0; code < CODES; code++) {
        const int place = (int)(code & (NEGATIVE - 1));

        table[code] = format->sign == MINIFLOAT_UNSIGNED      ? (uint8_t)(code ^ NEGATIVE)
                      : isnan(minifloat_decode(format, code)) ? 0
                      : code & NEGATIVE                       ? (uint8_t)(int8_t)-place
                                                              : (uint8_t)place;
    }
    return through(rewrite, quantized, DTYPE_I8, 1, table, "place");
}

/* The quantised values at ranks, which are i8, counted from -128 in a table. */
static struct value *quantized_at(struct rewrite *rewrite, const struct small *small,
                                  struct value *places)
{
    uint8_t table[CODES];

    for (int i = 0; i < CODES; i++) {
        const int place = i > 0 ? i - NEGATIVE : 0;

        table[i] = small->format->sign == MINIFLOAT_UNSIGNED
                       ? (uint8_t)i
                       : (uint8_t)(place < 0 ? NEGATIVE - place : place);
    }
    return through(rewrite, places, small->dtype, small->scale, table, "code");
}

/* The ranks of the quantised values that the root reads; NULL where it reads none. */
static struct value *places(struct rewrite *rewrite, const struct node *root)
{
    struct small small;
    const struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);

    if (!decoder || small.scale < 0x1p-60) /* differences must not vanish */
        return NULL;
    rule_covers(rewrite, decoder);
    return places_of(rewrite, small.format, decoder->inputs[0]);
}

/* argmax(decode(x)) -> argmax(ranks of x) */
struct value *arg_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct value *x = places(rewrite, root);

    return x ? rule_build1(rewrite, root->op, &root->attrs, x) : NULL;
}

/* hardmax(decode(x)) -> decode(one_hot(argmax(ranks of x)) of FP8) */
struct value *hardmax_before_decode(struct rewrite *rewrite, struct node *root)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    struct small small;
    struct value *x = type_elements(&root->inputs[0]->type) ? places(rewrite, root) : NULL,
                 *quantized;

    if (!x || !decoder_of(rewrite, root->inputs[0], &small))
        return NULL;
    quantized =
        one_hot_of_greatest(rewrite, root, x, small.dtype, minifloat_encode(small.format, 1, true));
    return quantized ? rule_build1(rewrite, OP_CAST, &cast, quantized) : NULL;
}

static struct value *decoded(struct rewrite *rewrite, const struct node *root, struct value *values)
{
    struct small small;
    struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);
    struct value *quantized = quantized_at(rewrite, &small, values);

    return quantized ? decode_like(rewrite, decoder, quantized) : NULL;
}

bool pairs_before_decode(struct module *module, bool *changed)
{
    return pairs_before(module, places, decoded, changed);
}

/* max, min or global_max_pool(decode(x)) -> decode(that of ranks of x, as quantised values) */
struct value *greatest_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct value *x = places(rewrite, root);

    x = x ? rule_build1(rewrite, root->op, &root->attrs, x) : NULL;
    return x ? decoded(rewrite, root, x) : NULL;
}

/* --- choices ---------------------------------------------------------------------------------- */

static bool is_operand(struct rewrite *rewrite, const struct value *value)
{
    struct small small;

    return value->kind == VALUE_CONSTANT ? value->type.dtype == DTYPE_F32
                                         : decoder_of(rewrite, value, &small) != NULL;
}

/* The operand encoded as the result is: quantised values as they are, through a table, or a constant that will
 * be folded. NULL where they cannot be. */
static struct value *encoded(struct rewrite *rewrite, struct value *operand,
                             const struct small *out)
{
    const union attrs encode = { .quantize = { .saturate = true } };
    struct small in;
    const struct node *decoder = decoder_of(rewrite, operand, &in);

    if (!decoder)
        return rule_build3(rewrite, OP_QNN_QUANTIZE, &encode, operand,
                           scale_operand(rewrite, out->scale), zero_operand(rewrite, out->dtype));
    rule_covers(rewrite, decoder);
    return small_equal(&in, out)
               ? decoder->inputs[0]
               : through_table(rewrite, decoder->inputs[0], &in, operand, operand, out);
}

/* scatter that computes nothing: of ranks, if it chooses the greatest or least. */
static bool is_scatter(const struct node *node)
{
    const char *reduction = node->attrs.scatter.reduction;

    return (node->op == OP_SCATTER_ELEMENTS || node->op == OP_SCATTER_ND) &&
           strcmp(reduction, "add") != 0 && strcmp(reduction, "mul") != 0;
}

static bool orders(const struct node *node)
{
    return node->op == OP_MAXIMUM || node->op == OP_MINIMUM ||
           (is_scatter(node) && (strcmp(node->attrs.scatter.reduction, "max") == 0 ||
                                 strcmp(node->attrs.scatter.reduction, "min") == 0));
}

/* encode(maximum, minimum, where, scatter or one_hot of decode(x) ... and constants) -> the same of
 * quantised values, or of their ranks: encoding is monotonous, so that it does not matter which comes
 * first. */
struct value *exact_choice(struct rewrite *rewrite, struct node *root)
{
    struct value *inputs[3], *y;
    struct exact_behind behind;
    const struct node *node;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (!orders(node) && node->op != OP_WHERE && node->op != OP_ONE_HOT && !is_scatter(node))
        return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]->type.dtype == DTYPE_F32 && !is_operand(rewrite, node->inputs[i]))
            return NULL;
    rule_covers(rewrite, node);
    for (int i = 0; i < node->n_inputs; i++) {
        inputs[i] = node->inputs[i];
        if (inputs[i]->type.dtype != DTYPE_F32)
            continue; /* a condition, indices */
        inputs[i] = encoded(rewrite, node->inputs[i], &behind.out);
        if (inputs[i] && orders(node))
            inputs[i] = places_of(rewrite, behind.out.format, inputs[i]);
        if (!inputs[i])
            return NULL;
    }
    y = rule_build(rewrite, node->op, &node->attrs, node->n_inputs, inputs);
    if (y && orders(node))
        y = quantized_at(rewrite, &behind.out, y);
    return exact_bounded(rewrite, &behind, root, y);
}
