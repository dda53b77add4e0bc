/* dense.c - nn.dense and nn.matmul.
 *
 * dense: x (..., k), w (n, k), y (..., n). matmul: NumPy's: the last two dimensions are matrices,
 * the others broadcast; an operand of rank 1 is a row (a) or a column (b) whose extra dimension the
 * result does not have. transpose_a and transpose_b swap the last two dimensions of a matrix.
 * Integers are exact modulo the width of their type. Sums of FP8 inputs: as in conv.c. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/walk.h"

/* y[m][n] = sum over k of a[m][k] * b[k][n], y row-major. Steps are in elements. */
struct product {
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column;
};

/* A row of y when the rows of b lie densely: whole rows of b are added. */
static void add_rows(const struct product *p, const double *a, const double *b,
                     double *restrict acc)
{
    for (int64_t n = 0; n < p->n; n++)
        acc[n] = 0;
    for (int64_t k = 0; k < p->k; k++) {
        const double factor = a[k * p->a_column];
        const double *restrict row = b + k * p->b_row;

        for (int64_t n = 0; n < p->n; n++)
            acc[n] += factor * row[n];
    }
}

/* A row of y otherwise. Four sums, so that an addition does not wait for the one before. */
static void dot_columns(const struct product *p, const double *a, const double *b, double *acc)
{
    for (int64_t n = 0; n < p->n; n++) {
        const double *column = b + n * p->b_column;
        double sum[4] = { 0 };

        for (int64_t k = 0; k < p->k; k++)
            sum[k % 4] += a[k * p->a_column] * column[k * p->b_row];
        acc[n] = sum[0] + sum[1] + sum[2] + sum[3];
    }
}

static void multiply_reals(const struct product *p, const double *a, const double *b, double *acc,
                           struct tensor *y, int64_t y_at)
{
    for (int64_t m = 0; m < p->m; m++) {
        if (p->b_column == 1)
            add_rows(p, a + m * p->a_row, b, acc);
        else
            dot_columns(p, a + m * p->a_row, b, acc);
        doubles_store(y, y_at + m * p->n, acc, p->n);
    }
}

static void multiply_integers(const struct product *p, const struct tensor *a, int64_t a_at,
                              const struct tensor *b, int64_t b_at, struct tensor *y, int64_t y_at)
{
    for (int64_t m = 0; m < p->m; m++)
        for (int64_t n = 0; n < p->n; n++) {
            uint64_t sum = 0;

            for (int64_t k = 0; k < p->k; k++)
                sum += (uint64_t)tensor_int_at(a, a_at + m * p->a_row + k * p->a_column) *
                       (uint64_t)tensor_int_at(b, b_at + k * p->b_row + n * p->b_column);
            dtype_store_int(y->type.dtype, y->data, y_at + m * p->n + n, (int64_t)sum);
        }
}

/* The products of all pairs of matrices that `pairs` walks over. */
static void multiply_all(const struct product *p, struct walk *pairs, int64_t n_pairs,
                         const struct tensor *a, const struct tensor *b, struct tensor *y)
{
    struct bulk bulk = { NULL, 0 };
    const bool real = dtype_is_float(y->type.dtype);
    const double *a_real = real ? doubles_of(&bulk, a) : NULL;
    const double *b_real = real ? doubles_of(&bulk, b) : NULL;
    double *acc = bulk_alloc(&bulk, (size_t)p->n * sizeof *acc);

    for (int64_t i = 0; i < n_pairs; i++, walk_next(pairs)) {
        const int64_t a_at = pairs->offset[0], b_at = pairs->offset[1];

        if (real)
            multiply_reals(p, a_real + a_at, b_real + b_at, acc, y, i * p->m * p->n);
        else
            multiply_integers(p, a, a_at, b, b_at, y, i * p->m * p->n);
    }
    bulk_release(&bulk);
}

bool dense_shape(struct ctx *ctx, struct node *node, struct type *y)
{
    const struct type *x = input_type(node, 0), *w = input_type(node, 1);

    if (!check_rank(ctx, node, 0, 1, MAX_RANK) || !check_rank(ctx, node, 1, 2, 2))
        return false;
    if (w->dim[1] != x->dim[x->rank - 1])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: weight of shape %s expects %lld inputs, x of shape %s has %lld",
                          op_name(node->op), shape_text(&ctx->perm, w), (long long)w->dim[1],
                          shape_text(&ctx->perm, x), (long long)x->dim[x->rank - 1]);
    *y = *x;
    y->dim[y->rank - 1] = w->dim[0];
    return true;
}

bool infer_dense(struct ctx *ctx, struct node *node)
{
    enum dtype dtype;
    struct type y;

    if (!check_product_types(ctx, node, KINDS_NUMBER, &node->attrs.dense.out_dtype, &dtype) ||
        !dense_shape(ctx, node, &y))
        return false;
    set_output(node, 0, dtype, &y);
    return true;
}

bool eval_dense(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const int last = out->type.rank - 1;
    const int64_t k = in[1]->type.dim[1];
    const struct product product = { .m = type_span(&out->type, 0, last),
                                     .n = out->type.dim[last],
                                     .k = k,
                                     .a_row = k,
                                     .a_column = 1,
                                     .b_row = 1,
                                     .b_column = k };
    struct walk pairs = walk_begin(0, NULL);

    (void)ctx;
    (void)node;
    multiply_all(&product, &pairs, 1, in[0], in[1], out);
    return true;
}

/* An operand of matmul: a matrix, seen untransposed, and how many of each there are. */
struct matrix {
    int64_t rows, columns, row_step, column_step;
    struct type batch; /* the dimensions before the matrix */
};

static struct matrix matrix_of(const struct type *type, bool transpose, bool is_column)
{
    const int rank = type->rank;
    const int64_t last = type->dim[rank - 1];
    struct matrix matrix;

    if (rank == 1)
        return is_column ? (struct matrix){ last, 1, 1, 1, type_scalar(type->dtype) }
                         : (struct matrix){ 1, last, last, 1, type_scalar(type->dtype) };
    matrix = (struct matrix){ type->dim[rank - 2], last, last, 1,
                              type_make(type->dtype, rank - 2, type->dim) };
    if (transpose)
        matrix = (struct matrix){ last, type->dim[rank - 2], 1, last, matrix.batch };
    return matrix;
}

/* All dims of a shape to the right of its batch dims, `matrix` elements each. */
static void walk_add_matrices(struct walk *walk, const struct matrix *matrix)
{
    int64_t step[MAX_RANK];

    shape_broadcast_strides(&matrix->batch, walk->rank, step);
    for (int i = 0; i < walk->rank; i++)
        step[i] *= matrix->rows * matrix->columns;
    walk_add(walk, step);
}

bool matmul_shape(struct ctx *ctx, struct node *node, struct type *y)
{
    const struct type *a = input_type(node, 0), *b = input_type(node, 1);
    struct matrix left, right;

    if (!check_rank(ctx, node, 0, 1, MAX_RANK) || !check_rank(ctx, node, 1, 1, MAX_RANK))
        return false;
    left = matrix_of(a, node->attrs.matmul.transpose_a, false);
    right = matrix_of(b, node->attrs.matmul.transpose_b, true);
    if (left.columns != right.rows)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: a of shape %s%s has %lld columns, b of shape %s%s has %lld rows",
                          op_name(node->op), shape_text(&ctx->perm, a),
                          node->attrs.matmul.transpose_a ? " (transposed)" : "",
                          (long long)left.columns, shape_text(&ctx->perm, b),
                          node->attrs.matmul.transpose_b ? " (transposed)" : "",
                          (long long)right.rows);
    if (!shape_broadcast(&left.batch, &right.batch, y))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shapes %s and %s do not broadcast before their last two dimensions",
                          op_name(node->op), shape_text(&ctx->perm, a), shape_text(&ctx->perm, b));
    if (a->rank > 1)
        y->dim[y->rank++] = left.rows;
    if (b->rank > 1)
        y->dim[y->rank++] = right.columns;
    return true;
}

bool infer_matmul(struct ctx *ctx, struct node *node)
{
    enum dtype dtype;
    struct type y;

    if (!check_product_types(ctx, node, KINDS_NUMBER, &node->attrs.matmul.out_dtype, &dtype) ||
        !matmul_shape(ctx, node, &y))
        return false;
    set_output(node, 0, dtype, &y);
    return true;
}

bool eval_matmul(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const struct matrix a = matrix_of(&in[0]->type, node->attrs.matmul.transpose_a, false);
    const struct matrix b = matrix_of(&in[1]->type, node->attrs.matmul.transpose_b, true);
    const struct product product = { a.rows,        b.columns,  a.columns,    a.row_step,
                                     a.column_step, b.row_step, b.column_step };
    const int rank = a.batch.rank > b.batch.rank ? a.batch.rank : b.batch.rank;
    struct walk pairs = walk_begin(rank, out->type.dim);

    (void)ctx;
    walk_add_matrices(&pairs, &a);
    walk_add_matrices(&pairs, &b);
    multiply_all(&product, &pairs, type_span(&out->type, 0, rank), in[0], in[1], out);
    return true;
}
