/* exact_order.c - argmax, argmin, topk and hardmax of FP8 in integers: a table (qnn.lut) makes of
 * each code its place among all numbers of the format, -127 .. 127, which is in their order;
 * another one makes codes of places. Both zeros have the place 0, and so has NaN, as in all exact
 * arithmetic (relay_ir/ops/exact.h). */
#include <math.h>

#include "relay_ir/passes/rules/exact.h"
#include "relay_ir/passes/rules/quantized.h"

enum { CODES = 256, NEGATIVE = 128 };

static struct value *through(struct rewrite *rewrite, struct value *x, enum dtype dtype,
                             const uint8_t table[CODES], const char *suffix)
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
    return rule_build(
        rewrite, OP_QNN_LUT, &lut, 4,
        (struct value *[]){ x, value, scale_operand(rewrite, 1), zero_operand(rewrite, dtype) });
}

/* The places of the codes that the root reads; NULL where it reads none. */
static struct value *places(struct rewrite *rewrite, const struct node *root)
{
    uint8_t table[CODES];
    struct small small;
    const struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);

    if (!decoder || small.scale < 0x1p-60) /* differences must not vanish */
        return NULL;
    for (unsigned code = 0; code < CODES; code++) {
        const int place = (int)(code & (NEGATIVE - 1));

        table[code] = isnan(minifloat_decode(small.format, code)) ? 0
                      : code & NEGATIVE                           ? (uint8_t)(int8_t)-place
                                                                  : (uint8_t)place;
    }
    rule_covers(rewrite, decoder);
    return through(rewrite, decoder->inputs[0], DTYPE_I8, table, "place");
}

/* argmax(decode(x)) -> argmax(places of x) */
struct value *arg_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct value *x = places(rewrite, root);

    return x ? rule_build1(rewrite, root->op, &root->attrs, x) : NULL;
}

/* hardmax(decode(x)) -> decode(one_hot(argmax(places of x)) of FP8) */
struct value *hardmax_before_decode(struct rewrite *rewrite, struct node *root)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    struct small small;
    struct value *x = type_elements(&root->inputs[0]->type) ? places(rewrite, root) : NULL, *codes;

    if (!x || !decoder_of(rewrite, root->inputs[0], &small))
        return NULL;
    codes =
        one_hot_of_greatest(rewrite, root, x, small.dtype, minifloat_encode(small.format, 1, true));
    return codes ? rule_build1(rewrite, OP_CAST, &cast, codes) : NULL;
}

/* Places are i8, counted from -128 in a table. */
static struct value *decoded(struct rewrite *rewrite, const struct node *root, struct value *values)
{
    uint8_t table[CODES];
    struct small small;
    struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);
    struct value *codes;

    for (int i = 0; i < CODES; i++) {
        const int place = i > 0 ? i - NEGATIVE : 0;

        table[i] = (uint8_t)(place < 0 ? NEGATIVE - place : place);
    }
    codes = through(rewrite, values, small.dtype, table, "code");
    return codes ? decode_like(rewrite, decoder, codes) : NULL;
}

bool topk_before_decode(struct module *module, bool *changed)
{
    return topk_before(module, places, decoded, changed);
}
