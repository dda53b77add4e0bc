/* clamp.c - relu, clip, and minimum and maximum with a constant, as one clip or relu.
 *
 * All of these pass NaN on, so that merging them does not change where it goes. */
#include <math.h>

#include "relay_ir/passes/rules.h"

static bool is_float(const struct node *node)
{
    return dtype_is_float(node->outputs[0]->type.dtype);
}

/* clip(x, 0, inf) -> relu(x); clip(x, -inf, inf) -> x */
struct value *clip_to_relu(struct rewrite *rewrite, struct node *root)
{
    const struct clip_attrs *clip = &root->attrs.clip;

    if (!is_float(root) || clip->a_max != (double)INFINITY)
        return NULL;
    if (clip->a_min == -(double)INFINITY)
        return root->inputs[0];
    return clip->a_min == 0 ? rule_build1(rewrite, OP_RELU, NULL, root->inputs[0]) : NULL;
}

/* The bounds of a relu or clip. */
static bool bounds(const struct node *node, double *low, double *high)
{
    *low = node->op == OP_CLIP ? node->attrs.clip.a_min : 0;
    *high = node->op == OP_CLIP ? node->attrs.clip.a_max : (double)INFINITY;
    return (node->op == OP_CLIP || node->op == OP_RELU) && *low <= *high;
}

/* clip(relu(x)), relu(clip(x)), relu(relu(x)), clip(clip(x)) -> clip(x) */
struct value *merge_clips(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = root->inputs[0]->def;
    double inner_low, inner_high, low, high;
    union attrs attrs = { .clip = { 0 } };

    if (!is_float(root) || !inner || !bounds(root, &low, &high) ||
        !bounds(inner, &inner_low, &inner_high))
        return NULL;
    attrs.clip.a_min = fmin(fmax(inner_low, low), high);
    attrs.clip.a_max = fmax(fmin(inner_high, high), low);
    rule_covers(rewrite, inner);
    return rule_build1(rewrite, OP_CLIP, &attrs, inner->inputs[0]);
}

static struct value *to_clip(struct rewrite *rewrite, struct node *root, bool is_maximum)
{
    union attrs attrs = { .clip = { -(double)INFINITY, (double)INFINITY } };
    double bound;

    if (!is_float(root) || root->inputs[1]->kind != VALUE_CONSTANT ||
        !type_same_storage(&root->inputs[0]->type, &root->outputs[0]->type) ||
        !value_uniform(root->inputs[1], &bound) || isnan(bound))
        return NULL;
    *(is_maximum ? &attrs.clip.a_min : &attrs.clip.a_max) = bound;
    return rule_build1(rewrite, OP_CLIP, &attrs, root->inputs[0]);
}

/* maximum(x, c) -> clip(x, c, inf) */
struct value *maximum_to_clip(struct rewrite *rewrite, struct node *root)
{
    return to_clip(rewrite, root, true);
}

/* minimum(x, c) -> clip(x, -inf, c) */
struct value *minimum_to_clip(struct rewrite *rewrite, struct node *root)
{
    return to_clip(rewrite, root, false);
}
