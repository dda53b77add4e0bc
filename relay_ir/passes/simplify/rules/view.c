/* view.c - reshapes, and transposes that are none. */
#include "relay_ir/passes/rules.h"

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

/* Of each dim of x the dim of its view y that it is, or -1 where only x has one, of 1. False unless
 * they differ in dims of 1 only. */
static bool match_dims(const struct type *x, const struct type *y, int *dim_of_y)
{
    int j = 0;

    for (int i = 0; i < x->rank; i++) {
        while (j < y->rank && y->dim[j] == 1 && x->dim[i] != 1)
            j++;
        dim_of_y[i] = j < y->rank && y->dim[j] == x->dim[i] ? j++ : -1;
        if (dim_of_y[i] < 0 && x->dim[i] != 1)
            return false;
    }
    while (j < y->rank && y->dim[j] == 1)
        j++;
    return j == y->rank;
}

/* transpose(softmax(x)) -> softmax(transpose(x)), where the sums run along the last axis then, of
 * numbers side by side: so einsum is written, in attention, with dims of 1 added in between. */
struct value *softmax_behind_transpose(struct rewrite *rewrite, struct node *root)
{
    const struct node *view = only_defined_by(root->inputs[0], OP_RESHAPE), *softmax;
    struct value *y = view ? view->inputs[0] : root->inputs[0];
    const struct type *seen = &root->inputs[0]->type;
    const int last = seen->rank - 1;
    int dim_of_seen[MAX_RANK];
    union attrs attrs;

    softmax = only_defined_by(y, OP_SOFTMAX);
    if (!softmax)
        softmax = only_defined_by(y, OP_LOG_SOFTMAX);
    if (!softmax || !match_dims(&y->type, seen, dim_of_seen) ||
        dim_of_seen[type_axis(&y->type, softmax->attrs.axis.axis)] !=
            root->attrs.axes.axes.at[last])
        return NULL;
    attrs = softmax->attrs;
    attrs.axis.axis = last;
    rule_covers(rewrite, softmax);
    if (view)
        rule_covers(rewrite, view);
    return rule_build1(rewrite, softmax->op, &attrs,
                       rule_build1(rewrite, OP_TRANSPOSE, &root->attrs,
                                   rule_reshape(rewrite, softmax->inputs[0], seen)));
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

/* Whether a region that a node behind it could join ends in this value, some nodes before it. */
static bool ends_region(const struct value *value, int n_before)
{
    const struct node *node = value->def;

    if (!node || !op_is_elementwise(node->op))
        return node &&
               (op_spatial_rank(node->op) > 0 || node->op == OP_DENSE || node->op == OP_MATMUL);
    for (int i = 0; i < node->n_inputs && n_before > 0; i++)
        if (node->inputs[i] && ends_region(node->inputs[i], n_before - 1))
            return true;
    return false;
}

/* What stands beside a view y of x, seen like x: what repeats along dims only where views squeeze,
 * what is of y's shape, and a number; else NULL. */
static struct value *seen_alike(struct rewrite *rewrite, struct value *other, const struct type *y,
                                const struct type *x)
{
    const int missing = y->rank - other->type.rank;
    struct type type = other->type;
    int dim_of_y[MAX_RANK];

    if (type_elements(&other->type) == 1 && other->type.rank <= x->rank)
        return other;
    type.rank = x->rank;
    for (int i = 0; i < x->rank; i++)
        type.dim[i] = x->dim[i];
    if (!type_same_shape(&other->type, y)) {
        if (!match_dims(x, y, dim_of_y))
            return NULL;
        for (int i = 0; i < x->rank; i++)
            type.dim[i] = dim_of_y[i] < missing ? 1 : other->type.dim[dim_of_y[i] - missing];
    }
    return other->kind == VALUE_CONSTANT ? rule_constant_like(rewrite, other, &type, other->data)
                                         : rule_reshape(rewrite, other, &type);
}

static struct value *sink_view(struct rewrite *rewrite, struct node *root, bool squeezes)
{
    enum { N_BEFORE = 8 };
    const struct type *shape = &root->outputs[0]->type;
    int dim_of_y[MAX_RANK];

    if (!op_is_elementwise(root->op) || root->op == OP_BIAS_ADD || root->n_inputs > 2 ||
        str_starts(op_name(root->op), "qnn."))
        return NULL;
    for (int i = 0; i < root->n_inputs; i++) {
        const struct node *view = only_defined_by(root->inputs[i], OP_RESHAPE);
        struct value *x = view ? view->inputs[0] : NULL, *inputs[2] = { x, x };

        if (!x || !type_same_shape(&view->outputs[0]->type, shape) || !ends_region(x, N_BEFORE) ||
            !value_only_user(x) || (squeezes && !match_dims(&x->type, shape, dim_of_y)))
            continue;
        if (root->n_inputs == 2)
            inputs[1 - i] = seen_alike(rewrite, root->inputs[1 - i], shape, &x->type);
        return rule_reshape(rewrite,
                            root->n_inputs == 1 ? rule_build1(rewrite, root->op, &root->attrs, x)
                                                : rule_build2(rewrite, root->op, &root->attrs,
                                                              inputs[0], inputs[1]),
                            shape);
    }
    return NULL;
}

/* f(reshape(x), other) -> reshape(f(x, other)), where f joins the region of x. */
struct value *view_behind_elementwise(struct rewrite *rewrite, struct node *root)
{
    return sink_view(rewrite, root, false);
}

/* The same of views that only add or drop dims of 1: bias and batch norm of a convolution over time
 * that is written as one over an image of one row. */
struct value *squeeze_behind_elementwise(struct rewrite *rewrite, struct node *root)
{
    return sink_view(rewrite, root, true);
}
