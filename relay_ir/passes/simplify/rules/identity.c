/* identity.c - nodes that change nothing are removed. */
#include <string.h>

#include "relay_ir/passes/rules.h"

static bool same_shape(const struct node *node)
{
    return type_same_shape(&node->inputs[0]->type, &node->outputs[0]->type);
}

static bool all_are(const struct ints *ints, int64_t value)
{
    for (int i = 0; i < ints->n; i++)
        if (ints->at[i] != value)
            return false;
    return true;
}

/* Results that need memory of their own get it back in fuse_ops. */
struct value *drop_copy(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return root->inputs[0];
}

struct value *drop_cast(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return type_same_storage(&root->inputs[0]->type, &root->outputs[0]->type) ? root->inputs[0]
                                                                              : NULL;
}

/* With step 1 and the whole extent there is one begin only. */
struct value *drop_slice(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return same_shape(root) && all_are(&root->attrs.slice.strides, 1) ? root->inputs[0] : NULL;
}

/* Whether nothing but slices reads the value, and all together no more than it has: what these copy
 * can come from where it was sliced from. */
static bool is_cut_up(const struct value *value)
{
    int64_t left = type_elements(&value->type);

    for (const struct use *use = value->uses; use; use = use->next) {
        if (use->node->op != OP_STRIDED_SLICE)
            return false;
        left -= type_elements(&use->node->outputs[0]->type);
    }
    return left >= 0;
}

/* A slice of a slice is one of x: no copy of rows whose columns are taken then. */
struct value *merge_slices(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = defined_by(root->inputs[0], OP_STRIDED_SLICE);
    union attrs attrs = root->attrs;

    if (!inner || !is_cut_up(root->inputs[0]))
        return NULL;
    for (int i = 0; i < attrs.slice.begin.n; i++) {
        attrs.slice.begin.at[i] = inner->attrs.slice.begin.at[i] +
                                  inner->attrs.slice.strides.at[i] * root->attrs.slice.begin.at[i];
        attrs.slice.strides.at[i] =
            root->attrs.slice.size.at[i] > 1
                ? inner->attrs.slice.strides.at[i] * root->attrs.slice.strides.at[i]
                : 1;
    }
    rule_covers(rewrite, inner);
    return rule_build1(rewrite, OP_STRIDED_SLICE, &attrs, inner->inputs[0]);
}

/* The same shape is not enough: padding may be negative at one end. */
struct value *drop_pad(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return all_are(&root->attrs.pad.pad_before, 0) && all_are(&root->attrs.pad.pad_after, 0)
               ? root->inputs[0]
               : NULL;
}

struct value *drop_concatenate(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return root->n_inputs == 1 ? root->inputs[0] : NULL;
}

static struct node *inner_concatenate(const struct node *root, int i)
{
    struct node *inner = only_defined_by(root->inputs[i], OP_CONCATENATE);

    return inner && inner->attrs.axis.axis == root->attrs.axis.axis ? inner : NULL;
}

/* concatenate(a, concatenate(b, c)) -> concatenate(a, b, c), along one axis */
struct value *flatten_concatenate(struct rewrite *rewrite, struct node *root)
{
    struct value **flat;
    int n = 0;

    for (int i = 0; i < root->n_inputs; i++)
        n += inner_concatenate(root, i) ? inner_concatenate(root, i)->n_inputs : 1;
    if (n == root->n_inputs)
        return NULL;
    flat = arena_array(&rewrite->ctx->scratch, struct value *, n);
    n = 0;
    for (int i = 0; i < root->n_inputs; i++) {
        const struct node *inner = inner_concatenate(root, i);

        if (!inner) {
            flat[n++] = root->inputs[i];
            continue;
        }
        rule_covers(rewrite, inner);
        for (int j = 0; j < inner->n_inputs; j++)
            flat[n++] = inner->inputs[j];
    }
    return rule_build(rewrite, OP_CONCATENATE, &root->attrs, n, flat);
}

/* concatenate(split(x)) -> x, when all parts come back in order along the same axis */
struct value *join_split(struct rewrite *rewrite, struct node *root)
{
    const struct node *split = defined_by(root->inputs[0], OP_SPLIT);

    (void)rewrite;
    if (!split || split->n_outputs != root->n_inputs ||
        !type_same_storage(&split->inputs[0]->type, &root->outputs[0]->type) ||
        split->attrs.split.axis != root->attrs.axis.axis)
        return NULL;
    for (int i = 0; i < root->n_inputs; i++)
        if (root->inputs[i] != split->outputs[i])
            return NULL;
    return split->inputs[0];
}

struct value *drop_split(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return same_shape(root) ? root->inputs[0] : NULL;
}

/* broadcast_to and tile to the same shape */
struct value *drop_broadcast(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return same_shape(root) ? root->inputs[0] : NULL;
}

/* Every coordinate is hit exactly in these modes; a region of interest is not looked at in them. */
struct value *drop_resize(struct rewrite *rewrite, struct node *root)
{
    static const char *const modes[] = { "half_pixel", "asymmetric", "align_corners",
                                         "pytorch_half_pixel", "half_pixel_symmetric",
                                         "tflite_half_pixel", "tflite_align_corners",
                                         "tflite_asymmetric" };
    bool known = false;

    (void)rewrite;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        known = known || strcmp(root->attrs.resize.coordinate_transformation_mode, modes[i]) == 0;
    for (int i = 0; i < root->attrs.resize.scales.n; i++)
        known = known && root->attrs.resize.scales.at[i] == 1;
    return known && same_shape(root) ? root->inputs[0] : NULL;
}

/* Windows of one element; dilation has no meaning then. */
struct value *drop_pool(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return all_are(&root->attrs.pool.pool_size, 1) && all_are(&root->attrs.pool.strides, 1) &&
                   all_are(&root->attrs.pool.padding, 0) && same_shape(root)
               ? root->inputs[0]
               : NULL;
}

/* A sum, mean, product, minimum, maximum of one element each is a view. */
struct value *drop_reduction(struct rewrite *rewrite, struct node *root)
{
    const struct type *in = &root->inputs[0]->type, *out = &root->outputs[0]->type;

    if (type_elements(in) != type_elements(out) || in->dtype != out->dtype ||
        type_elements(in) == 0)
        return NULL;
    return same_shape(root) ? root->inputs[0] : rule_reshape(rewrite, root->inputs[0], out);
}

/* Of whole numbers, which equal themselves; NaN does not. Compilers warn of such C. */
struct value *compare_with_itself(struct rewrite *rewrite, struct node *root)
{
    const struct type *x = &root->inputs[0]->type, *y = &root->outputs[0]->type;
    const bool holds =
        root->op == OP_EQUAL || root->op == OP_LESS_EQUAL || root->op == OP_GREATER_EQUAL;
    bool *data;

    if (root->inputs[0] != root->inputs[1] ||
        !(dtype_is_integer(x->dtype) || x->dtype == DTYPE_BOOL))
        return NULL;
    data = constant_alloc(rewrite->fn, y);
    memset(data, holds, type_bytes(y));
    return constant_new(rewrite->fn,
                        arena_printf(&rewrite->ctx->scratch, "%s.known", rewrite->name), y, data);
}

/* The lesser of x and x, both of x and x. Compilers warn of such C. */
struct value *drop_own_twin(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return root->inputs[0] == root->inputs[1] ? root->inputs[0] : NULL;
}
