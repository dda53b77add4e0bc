/* activation.c - activation functions that a framework exported as their definitions.
 *
 * A product is matched as the set of its factors, because exporters write them in any order. */
#include <math.h>

#include "relay_ir/passes/rules.h"

enum { MAX_FACTORS = 4 };

struct product {
    double number; /* all uniform constants together */
    int n;
    struct value *factor[MAX_FACTORS];
};

static const double sqrt_half = 0.70710678118654752440;
static const double sqrt_2_over_pi = 0.79788456080286535588;

/* The numbers in a file are f32, and were products of f32 numbers. */
static bool is_about(double found, double wanted)
{
    return fabs(found - wanted) <= 2e-6 * fabs(wanted);
}

static double rounded(enum dtype half, double number)
{
    uint16_t bits;

    dtype_store(half, &bits, 0, number);
    return dtype_load(half, &bits, 0);
}

/* Or such a number, or what divides, was rounded to a half: of a model that calculates with these.
 */
static bool is_near(double found, double wanted)
{
    static const enum dtype halves[] = { DTYPE_F16, DTYPE_BF16 };

    for (int i = 0; i < 2; i++)
        if (is_about(found, rounded(halves[i], wanted)) ||
            is_about(1 / found, rounded(halves[i], 1 / wanted)))
            return true;
    return is_about(found, wanted);
}

/* Multiplies the value's factors into *product. False when they are too many. */
static bool add_factors(struct rewrite *rewrite, struct value *value, int depth,
                        struct product *product)
{
    const struct node *node = value->def;
    double number;

    if (value_uniform(value, &number)) {
        product->number *= number;
        return true;
    }
    if (node && depth > 0 && node->op == OP_MULTIPLY) {
        rule_covers(rewrite, node);
        return add_factors(rewrite, node->inputs[0], depth - 1, product) &&
               add_factors(rewrite, node->inputs[1], depth - 1, product);
    }
    if (node && depth > 0 && node->op == OP_DIVIDE && value_uniform(node->inputs[1], &number)) {
        rule_covers(rewrite, node);
        product->number /= number;
        return add_factors(rewrite, node->inputs[0], depth - 1, product);
    }
    if (node && depth > 0 && node->op == OP_POWER && is_number(node->inputs[1], 3)) {
        rule_covers(rewrite, node);
        for (int i = 0; i < 3; i++)
            if (!add_factors(rewrite, node->inputs[0], 0, product))
                return false;
        return true;
    }
    if (product->n == MAX_FACTORS)
        return false;
    product->factor[product->n++] = value;
    return true;
}

static bool factors_of(struct rewrite *rewrite, struct value *value, struct product *product)
{
    *product = (struct product){ .number = 1 };
    return add_factors(rewrite, value, 4, product);
}

/* Whether the value is `number` times x. */
static bool is_multiple(struct rewrite *rewrite, struct value *value, const struct value *x,
                        double number)
{
    struct product product;

    return factors_of(rewrite, value, &product) && product.n == 1 && product.factor[0] == x &&
           is_near(product.number, number);
}

/* The operand x of x + number, NULL if the value is something else. */
static struct value *without_addend(struct rewrite *rewrite, const struct value *value,
                                    double number)
{
    const struct node *add = defined_by(value, OP_ADD);

    for (int i = 0; add && i < 2; i++)
        if (is_number(add->inputs[i], number)) {
            rule_covers(rewrite, add);
            return add->inputs[1 - i];
        }
    return NULL;
}

/* The operand of f(x), NULL if the value is something else. */
static struct value *argument_of(struct rewrite *rewrite, const struct value *value, enum op f)
{
    const struct node *node = defined_by(value, f);

    if (!node)
        return NULL;
    rule_covers(rewrite, node);
    return node->inputs[0];
}

static struct value *replace_by(struct rewrite *rewrite, enum op op, const union attrs *attrs,
                                struct value *x)
{
    const struct value *old = rewrite->root->outputs[0];

    if (!type_same_storage(&x->type, &old->type) || !dtype_is_float(x->type.dtype))
        return NULL;
    return rule_build1(rewrite, op, attrs, x);
}

/* x * sigmoid(x) */
struct value *find_silu(struct rewrite *rewrite, struct node *root)
{
    for (int i = 0; i < 2; i++) {
        const struct node *gate = defined_by(root->inputs[i], OP_SIGMOID);

        if (!gate || gate->inputs[0] != root->inputs[1 - i])
            continue;
        rule_covers(rewrite, gate);
        return replace_by(rewrite, OP_SILU, NULL, gate->inputs[0]);
    }
    return NULL;
}

/* 1 / (1 + exp(-x)), as divide or reciprocal */
struct value *find_sigmoid(struct rewrite *rewrite, struct node *root)
{
    struct value *x;

    if (root->op == OP_DIVIDE && !is_number(root->inputs[0], 1))
        return NULL;
    x = without_addend(rewrite, root->inputs[root->op == OP_DIVIDE], 1);
    x = x ? argument_of(rewrite, x, OP_EXP) : NULL;
    x = x ? argument_of(rewrite, x, OP_NEGATIVE) : NULL;
    return x ? replace_by(rewrite, OP_SIGMOID, NULL, x) : NULL;
}

/* The argument t of half * x * (1 + f(t)); *x is x. */
static struct value *half_product(struct rewrite *rewrite, struct node *root, enum op f,
                                  struct value **x)
{
    struct product product;

    if (!factors_of(rewrite, root->outputs[0], &product) || product.n != 2 ||
        !is_near(product.number, 0.5))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct origin *const before = rewrite->origin;
        const struct value *sum = without_addend(rewrite, product.factor[i], 1);
        struct value *t = sum ? argument_of(rewrite, sum, f) : NULL;

        *x = product.factor[1 - i];
        if (t)
            return t;
        rewrite->origin = before;
    }
    return NULL;
}

/* 0.5 x (1 + erf(x / sqrt(2))) */
struct value *find_gelu_erf(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .gelu = { "none" } };
    struct value *x, *const t = half_product(rewrite, root, OP_ERF, &x);

    return t && is_multiple(rewrite, t, x, sqrt_half) ? replace_by(rewrite, OP_GELU, &attrs, x)
                                                      : NULL;
}

/* Whether the value is x + 0.044715 x^3. */
static bool is_gelu_cubic(struct rewrite *rewrite, const struct value *value, const struct value *x)
{
    const struct node *add = defined_by(value, OP_ADD);
    struct product cube;

    for (int i = 0; add && i < 2; i++)
        if (add->inputs[i] == x && factors_of(rewrite, add->inputs[1 - i], &cube) && cube.n == 3 &&
            is_near(cube.number, 0.044715) && cube.factor[0] == x && cube.factor[1] == x &&
            cube.factor[2] == x) {
            rule_covers(rewrite, add);
            return true;
        }
    return false;
}

/* Whether the value is 1 + 0.044715 x^2. */
static bool is_gelu_quadratic(struct rewrite *rewrite, const struct value *value,
                              const struct value *x)
{
    struct value *term = without_addend(rewrite, value, 1);
    struct product square;

    return term && factors_of(rewrite, term, &square) && square.n == 2 &&
           is_near(square.number, 0.044715) && square.factor[0] == x && square.factor[1] == x;
}

/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the polynomial also as x (1 + 0.044715 x^2) */
struct value *find_gelu_tanh(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .gelu = { "tanh" } };
    struct value *x, *const t = half_product(rewrite, root, OP_TANH, &x);
    struct product inner;
    bool ok;

    if (!t || !factors_of(rewrite, t, &inner) || !is_near(inner.number, sqrt_2_over_pi))
        return NULL;
    ok = inner.n == 1 && is_gelu_cubic(rewrite, inner.factor[0], x);
    for (int i = 0; inner.n == 2 && i < 2; i++)
        ok = ok || (inner.factor[i] == x && is_gelu_quadratic(rewrite, inner.factor[1 - i], x));
    return ok ? replace_by(rewrite, OP_GELU, &attrs, x) : NULL;
}

/* The x of clip(x + 3, 0, 6). */
static struct value *shifted_relu6(struct rewrite *rewrite, const struct value *value)
{
    const struct node *clip = defined_by(value, OP_CLIP);

    if (!clip || clip->attrs.clip.a_min != 0 || clip->attrs.clip.a_max != 6)
        return NULL;
    rule_covers(rewrite, clip);
    return without_addend(rewrite, clip->inputs[0], 3);
}

/* clip(x + 3, 0, 6) / 6 */
struct value *find_hard_sigmoid(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .alpha_beta = { 1.0 / 6, 0.5 } };
    struct product product;
    struct value *x;

    if (!factors_of(rewrite, root->outputs[0], &product) || product.n != 1 ||
        !is_near(product.number, 1.0 / 6))
        return NULL;
    x = shifted_relu6(rewrite, product.factor[0]);
    return x ? replace_by(rewrite, OP_HARD_SIGMOID, &attrs, x) : NULL;
}

/* x clip(x + 3, 0, 6) / 6 and x hard_sigmoid(x, 1/6, 1/2) */
struct value *find_hard_swish(struct rewrite *rewrite, struct node *root)
{
    struct product product;

    if (!factors_of(rewrite, root->outputs[0], &product) || product.n != 2)
        return NULL;
    for (int i = 0; i < 2; i++) {
        struct value *const x = product.factor[1 - i];
        const struct node *gate = defined_by(product.factor[i], OP_HARD_SIGMOID);
        const struct origin *const before = rewrite->origin;

        if (is_near(product.number, 1.0 / 6) && shifted_relu6(rewrite, product.factor[i]) == x)
            return replace_by(rewrite, OP_HARD_SWISH, NULL, x);
        if (product.number == 1 && gate && gate->inputs[0] == x &&
            is_near(gate->attrs.alpha_beta.alpha, 1.0 / 6) && gate->attrs.alpha_beta.beta == 0.5) {
            rule_covers(rewrite, gate);
            return replace_by(rewrite, OP_HARD_SWISH, NULL, x);
        }
        rewrite->origin = before;
    }
    return NULL;
}

/* x tanh(softplus(x)) */
struct value *find_mish(struct rewrite *rewrite, struct node *root)
{
    for (int i = 0; i < 2; i++) {
        const struct node *tanh = defined_by(root->inputs[i], OP_TANH);
        const struct node *inner = tanh ? defined_by(tanh->inputs[0], OP_SOFTPLUS) : NULL;

        if (!inner || inner->inputs[0] != root->inputs[1 - i])
            continue;
        rule_covers(rewrite, tanh);
        rule_covers(rewrite, inner);
        return replace_by(rewrite, OP_MISH, NULL, inner->inputs[0]);
    }
    return NULL;
}

/* x / (1 + |x|) */
struct value *find_softsign(struct rewrite *rewrite, struct node *root)
{
    const struct value *sum = without_addend(rewrite, root->inputs[1], 1);

    if (!sum || argument_of(rewrite, sum, OP_ABS) != root->inputs[0])
        return NULL;
    return replace_by(rewrite, OP_SOFTSIGN, NULL, root->inputs[0]);
}
