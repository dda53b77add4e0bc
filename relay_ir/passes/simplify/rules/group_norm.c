/* group_norm.c - group norm as PyTorch exports it: an instance norm of the groups, each laid out as
 * one channel, between two reshapes; then every channel's scale and shift. */
#include "relay_ir/passes/rules.h"

/* One number per group, as one per channel. */
static struct value *per_channel(struct rewrite *rewrite, struct value *of_groups, int64_t channels)
{
    const struct type type = type_make(of_groups->type.dtype, 1, &channels);
    const int64_t of_a_group = channels / of_groups->type.dim[0];
    void *data = constant_alloc(rewrite->fn, &type);

    for (int64_t c = 0; c < channels; c++)
        dtype_store(type.dtype, data, c, dtype_load(type.dtype, of_groups->data, c / of_a_group));
    return rule_constant_like(rewrite, of_groups, &type, data);
}

/* reshape(instance_norm(reshape(x))), of groups of x's channels as channels -> group_norm(x) */
struct value *find_group_norm(struct rewrite *rewrite, struct node *root)
{
    const struct node *norm = only_defined_by(root->inputs[0], OP_INSTANCE_NORM);
    const struct node *groups = norm ? only_defined_by(norm->inputs[0], OP_RESHAPE) : NULL;
    const struct type *x = groups ? &groups->inputs[0]->type : NULL;
    const struct type *grouped = groups ? &groups->outputs[0]->type : NULL;
    union attrs attrs = { .norm = { .axis = 1 } };
    struct value *scale, *bias;

    if (!groups || norm->attrs.norm.axis != 1 || x->rank < 3 ||
        !type_same_storage(x, &root->outputs[0]->type) || grouped->dim[0] != x->dim[0] ||
        grouped->dim[1] < 1 || x->dim[1] % grouped->dim[1] ||
        norm->inputs[1]->kind != VALUE_CONSTANT || norm->inputs[2]->kind != VALUE_CONSTANT)
        return NULL;
    attrs.norm.groups = grouped->dim[1];
    attrs.norm.epsilon = norm->attrs.norm.epsilon;
    rule_covers(rewrite, groups);
    rule_covers(rewrite, norm);
    scale = per_channel(rewrite, norm->inputs[1], x->dim[1]);
    bias = per_channel(rewrite, norm->inputs[2], x->dim[1]);
    return rule_build3(rewrite, OP_GROUP_NORM, &attrs, groups->inputs[0], scale, bias);
}

/* The group or instance norm, channels first with a scale and a bias that are known, which the root
 * alone reads, and multiplies with or adds to a constant per channel; NULL if it is something else.
 */
static const struct node *norm_of_channels(const struct node *root)
{
    const struct node *norm = value_only_user(root->inputs[0]) ? root->inputs[0]->def : NULL;
    const struct value *number = root->inputs[1];

    if (!norm || (norm->op != OP_GROUP_NORM && norm->op != OP_INSTANCE_NORM) ||
        norm->attrs.norm.axis != 1 || norm->inputs[1]->kind != VALUE_CONSTANT ||
        norm->inputs[2]->kind != VALUE_CONSTANT || number->kind != VALUE_CONSTANT ||
        !type_same_storage(&root->inputs[0]->type, &root->outputs[0]->type) ||
        !is_per_axis(&number->type, &root->outputs[0]->type, 1))
        return NULL;
    return norm;
}

static double number_of_channel(const struct value *number, int64_t c)
{
    return dtype_load(number->type.dtype, number->data, type_elements(&number->type) == 1 ? 0 : c);
}

/* `old`, one number per channel, times `number` or plus it. */
static struct value *changed(struct rewrite *rewrite, struct value *old, struct value *number,
                             bool adds, struct value *like)
{
    const struct type *type = &old->type;
    void *data = constant_alloc(rewrite->fn, type);

    for (int64_t c = 0; c < type->dim[0]; c++) {
        const double was = number_of_channel(old, c), by = number_of_channel(number, c);

        dtype_store(type->dtype, data, c, adds ? was + by : was * by);
    }
    return rule_constant_like(rewrite, like, type, data);
}

/* norm(x, scale, bias) * c -> norm(x, scale c, bias c) */
struct value *scale_of_group_norm(struct rewrite *rewrite, struct node *root)
{
    const struct node *norm = norm_of_channels(root);
    struct value *const c = root->inputs[1], *scale, *bias;

    if (!norm)
        return NULL;
    rule_covers(rewrite, norm);
    scale = changed(rewrite, norm->inputs[1], c, false, c);
    bias = changed(rewrite, norm->inputs[2], c, false, norm->inputs[2]);
    return rule_build3(rewrite, norm->op, &norm->attrs, norm->inputs[0], scale, bias);
}

/* norm(x, scale, bias) + c -> norm(x, scale, bias + c) */
struct value *shift_of_group_norm(struct rewrite *rewrite, struct node *root)
{
    const struct node *norm = norm_of_channels(root);
    struct value *const c = root->inputs[1];

    if (!norm)
        return NULL;
    rule_covers(rewrite, norm);
    return rule_build3(rewrite, norm->op, &norm->attrs, norm->inputs[0], norm->inputs[1],
                       changed(rewrite, norm->inputs[2], c, true, c));
}
