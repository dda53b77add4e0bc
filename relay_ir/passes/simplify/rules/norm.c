/* norm.c - softmax and layer norm from their definitions. */
#include "relay_ir/passes/rules.h"

/* The node reduces exactly the dims from `axis` to the last and keeps them as 1; -1 if not. */
static int reduces_from(const struct node *node)
{
    const struct type *in = &node->inputs[0]->type;
    const struct ints *axes = &node->attrs.reduce.axis;
    unsigned set = 0;

    if (!node->attrs.reduce.keepdims || axes->n == 0)
        return -1;
    for (int i = 0; i < axes->n; i++) {
        const int axis = type_axis(in, axes->at[i]);

        if (axis < 0)
            return -1;
        set |= 1U << axis;
    }
    for (int axis = 0; axis < in->rank; axis++)
        if (set == (1U << in->rank) - (1U << axis))
            return axis;
    return -1;
}

/* The single axis that is reduced and kept as 1; -1 if it is not so. */
static int reduces_one(const struct node *node)
{
    if (!node->attrs.reduce.keepdims || node->attrs.reduce.axis.n != 1)
        return -1;
    return type_axis(&node->inputs[0]->type, node->attrs.reduce.axis.at[0]);
}

/* exp(x - max(x)) / sum(exp(x - max(x))), max and sum along one axis. Without the maximum it stays:
 * it may overflow where softmax does not. */
struct value *find_softmax(struct rewrite *rewrite, struct node *root)
{
    const struct node *exponential = defined_by(root->inputs[0], OP_EXP);
    const struct node *sum = defined_by(root->inputs[1], OP_SUM);
    const struct node *shifted =
        exponential ? defined_by(exponential->inputs[0], OP_SUBTRACT) : NULL;
    const struct node *max = shifted ? defined_by(shifted->inputs[1], OP_MAX) : NULL;
    union attrs attrs = { .axis = { 0 } };

    if (!max || !sum || sum->inputs[0] != root->inputs[0] || max->inputs[0] != shifted->inputs[0] ||
        reduces_one(sum) < 0 || reduces_one(sum) != reduces_one(max) ||
        !dtype_is_float(root->outputs[0]->type.dtype))
        return NULL;
    attrs.axis.axis = reduces_one(sum);
    rule_covers(rewrite, max);
    rule_covers(rewrite, shifted);
    rule_covers(rewrite, exponential);
    rule_covers(rewrite, sum);
    return rule_build1(rewrite, OP_SOFTMAX, &attrs, shifted->inputs[0]);
}

/* What find_layer_norm collects on its way up. */
struct layer_norm {
    struct value *x;
    int axis; /* the mean is over the dims from here on */
    double epsilon;
};

/* d * d or power(d, 2) */
static bool is_square(const struct node *node, const struct value *d)
{
    return (node->op == OP_MULTIPLY && node->inputs[0] == d && node->inputs[1] == d) ||
           (node->op == OP_POWER && node->inputs[0] == d && is_number(node->inputs[1], 2));
}

/* d = x - mean(x) */
static bool match_centered(struct rewrite *rewrite, const struct value *d, struct layer_norm *norm)
{
    const struct node *subtract = defined_by(d, OP_SUBTRACT);
    const struct node *mean = subtract ? defined_by(subtract->inputs[1], OP_MEAN) : NULL;

    if (!mean || mean->inputs[0] != subtract->inputs[0] || reduces_from(mean) < 0)
        return false;
    norm->x = mean->inputs[0];
    norm->axis = reduces_from(mean);
    rule_covers(rewrite, mean);
    rule_covers(rewrite, subtract);
    return true;
}

/* mean(d * d) + epsilon */
static bool match_variance(struct rewrite *rewrite, const struct value *value,
                           const struct value *d, struct layer_norm *norm)
{
    const struct node *add = defined_by(value, OP_ADD);

    for (int i = 0; add && i < 2; i++) {
        const struct node *mean = defined_by(add->inputs[i], OP_MEAN);
        const struct node *square = mean ? mean->inputs[0]->def : NULL;

        if (!square || !is_square(square, d) || reduces_from(mean) != norm->axis ||
            !value_uniform(add->inputs[1 - i], &norm->epsilon) || !(norm->epsilon >= 0))
            continue;
        rule_covers(rewrite, square);
        rule_covers(rewrite, mean);
        rule_covers(rewrite, add);
        return true;
    }
    return false;
}

/* d / sqrt(variance), d * rsqrt(variance), d * reciprocal(sqrt(variance)) */
static bool match_normalized(struct rewrite *rewrite, const struct value *value,
                             struct layer_norm *norm)
{
    const struct node *top = value->def;

    for (int i = 0; top && i < 2; i++) {
        const struct node *root = NULL;

        if (top->op == OP_DIVIDE && i == 0)
            root = defined_by(top->inputs[1], OP_SQRT);
        if (top->op == OP_MULTIPLY) {
            const struct node *inverse = defined_by(top->inputs[1 - i], OP_RECIPROCAL);

            root = defined_by(inverse ? inverse->inputs[0] : top->inputs[1 - i],
                              inverse ? OP_SQRT : OP_RSQRT);
        }
        if (root && match_centered(rewrite, top->inputs[i], norm) &&
            match_variance(rewrite, root->inputs[0], top->inputs[i], norm)) {
            rule_covers(rewrite, root);
            rule_covers(rewrite, top);
            return true;
        }
    }
    return false;
}

/* A constant that fits the normalised dims, with exactly their shape; NULL if it does not. */
static struct value *norm_parameter(struct rewrite *rewrite, struct value *constant,
                                    const struct layer_norm *norm)
{
    const struct type *shape = &norm->x->type;
    const struct type type =
        type_make(constant->type.dtype, shape->rank - norm->axis, shape->dim + norm->axis);

    if (constant->kind != VALUE_CONSTANT ||
        type_elements(&constant->type) != type_elements(&type) || constant->type.rank < type.rank ||
        constant->type.rank > shape->rank)
        return NULL;
    for (int i = 1; i <= type.rank; i++)
        if (constant->type.dim[constant->type.rank - i] != type.dim[type.rank - i])
            return NULL;
    return constant->type.rank == type.rank
               ? constant
               : rule_constant_like(rewrite, constant, &type, constant->data);
}

/* (x - mean) / sqrt(variance + epsilon) * gamma -> layer_norm(x, gamma) */
struct value *find_layer_norm(struct rewrite *rewrite, struct node *root)
{
    for (int i = 0; i < 2; i++) {
        union attrs attrs = { .norm = { .groups = 1 } };
        struct layer_norm norm;
        struct value *gamma;

        if (root->inputs[i]->kind != VALUE_CONSTANT ||
            !match_normalized(rewrite, root->inputs[1 - i], &norm))
            continue;
        gamma = norm_parameter(rewrite, root->inputs[i], &norm);
        attrs.norm.axis = norm.axis;
        attrs.norm.epsilon = norm.epsilon;
        if (gamma && type_same_storage(&norm.x->type, &root->outputs[0]->type))
            return rule_build2(rewrite, OP_LAYER_NORM, &attrs, norm.x, gamma);
    }
    return NULL;
}

/* layer_norm(x, gamma) + beta -> layer_norm(x, gamma, beta) */
struct value *layer_norm_beta(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = only_defined_by(root->inputs[0], OP_LAYER_NORM);
    struct layer_norm norm;
    struct value *beta;

    if (!inner || inner->n_inputs > 2 ||
        !type_same_storage(&root->inputs[0]->type, &root->outputs[0]->type))
        return NULL;
    norm.x = inner->inputs[0];
    norm.axis = type_axis(&norm.x->type, inner->attrs.norm.axis);
    beta = norm_parameter(rewrite, root->inputs[1], &norm);
    if (!beta)
        return NULL;
    rule_covers(rewrite, inner);
    return rule_build3(rewrite, OP_LAYER_NORM, &inner->attrs, norm.x, inner->inputs[1], beta);
}
