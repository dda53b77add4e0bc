/* view.c - reshapes, and transposes that are none. */
#include "relay_ir/passes/rules/rules.h"

/* squeeze, expand_dims -> reshape: one view operator is enough for everyone behind. */
struct value *view_to_reshape(struct rewrite *rewrite, struct node *root)
{
    return rule_reshape(rewrite, root->inputs[0], &root->outputs[0]->type);
}

/* reshape(reshape(x)) -> reshape(x) */
struct value *merge_reshapes(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = defined_by(root->inputs[0], OP_RESHAPE);

    if (!inner)
        return NULL;
    rule_covers(rewrite, inner);
    return rule_reshape(rewrite, inner->inputs[0], &root->outputs[0]->type);
}

struct value *drop_reshape(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return type_same_shape(&root->inputs[0]->type, &root->outputs[0]->type) ? root->inputs[0]
                                                                            : NULL;
}

/* A transpose that keeps the order of all dims longer than 1 moves nothing. */
struct value *drop_transpose(struct rewrite *rewrite, struct node *root)
{
    const struct type *in = &root->inputs[0]->type;
    const struct ints *axes = &root->attrs.axes.axes;
    int64_t last = -1;

    for (int i = 0; i < axes->n; i++) {
        if (in->dim[axes->at[i]] == 1)
            continue;
        if (axes->at[i] < last)
            return NULL;
        last = axes->at[i];
    }
    if (type_same_shape(in, &root->outputs[0]->type))
        return root->inputs[0];
    return rule_reshape(rewrite, root->inputs[0], &root->outputs[0]->type);
}

/* transpose(transpose(x)) -> transpose(x) */
struct value *merge_transposes(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = defined_by(root->inputs[0], OP_TRANSPOSE);
    const struct ints *axes = &root->attrs.axes.axes;
    union attrs attrs = { .axes = { { 0 } } };

    if (!inner)
        return NULL;
    attrs.axes.axes.n = axes->n;
    for (int i = 0; i < axes->n; i++)
        attrs.axes.axes.at[i] = inner->attrs.axes.axes.at[axes->at[i]];
    rule_covers(rewrite, inner);
    return rule_build1(rewrite, OP_TRANSPOSE, &attrs, inner->inputs[0]);
}

/* The matrix [m,n] behind a reshape to [..,n], when a chain of element-wise nodes leads to it from
 * a matrix product: then the element-wise work belongs before the reshape, where it fuses. */
static struct value *flattened_product(const struct value *value)
{
    const struct node *reshape = only_defined_by(value, OP_RESHAPE);
    struct value *matrix = reshape ? reshape->inputs[0] : NULL;
    const struct value *at = matrix;

    if (!matrix || matrix->type.rank != 2 || value->type.rank <= 2 ||
        value->type.dim[value->type.rank - 1] != matrix->type.dim[1])
        return NULL;
    for (int i = 0; i < 8 && at->def && op_is_elementwise(at->def->op); i++)
        at = at->def->inputs[0];
    return at->def && at->def->op == OP_DENSE ? matrix : NULL;
}

/* The other operand seen as an operand of the matrix: a scalar or one number per column as it is,
 * a tensor of the whole shape reshaped. NULL if it is neither. */
static struct value *matrix_operand(struct rewrite *rewrite, struct value *other,
                                    const struct type *shape, const struct value *matrix)
{
    const int last = other->type.rank - 1;
    struct type row = { .rank = 1 };

    if (type_same_shape(&other->type, shape))
        return rule_reshape(rewrite, other, &matrix->type);
    if (!is_per_axis(&other->type, shape, shape->rank - 1))
        return NULL;
    row.dtype = other->type.dtype;
    row.dim[0] = last < 0 ? 1 : other->type.dim[last];
    if (other->type.rank == 1)
        return other;
    return other->kind == VALUE_CONSTANT ? rule_constant_like(rewrite, other, &row, other->data)
                                         : rule_reshape(rewrite, other, &row);
}

/* f(reshape(matrix), other) -> reshape(f(matrix, other)) */
struct value *sink_unflatten(struct rewrite *rewrite, struct node *root)
{
    const struct type *shape = &root->outputs[0]->type;
    struct value *inputs[3], *y;

    if (!op_is_elementwise(root->op) || root->op == OP_BIAS_ADD || root->n_inputs > 2)
        return NULL;
    for (int i = 0; i < root->n_inputs; i++) {
        struct value *const matrix = flattened_product(root->inputs[i]);

        if (!matrix || !type_same_shape(&root->inputs[i]->type, shape))
            continue;
        inputs[i] = matrix;
        if (root->n_inputs == 2)
            inputs[1 - i] = matrix_operand(rewrite, root->inputs[1 - i], shape, matrix);
        y = root->n_inputs == 1
                ? rule_build1(rewrite, root->op, &root->attrs, inputs[0])
                : rule_build2(rewrite, root->op, &root->attrs, inputs[0], inputs[1]);
        return rule_reshape(rewrite, y, shape);
    }
    return NULL;
}
