/* reduce.c - sum, mean and prod over any axes, in the order of the elements. Where the innermost of
 * the axes longer than 1 is reduced, and its runs are read as rows: first each of these
 * (runtime/embed/row_sum_f32.h), then their sums. */
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"
#include "runtime/embed/row_sum_f32.h"
#include "simulate/operators.h"

/* How many elements of x in a row are reduced to one. */
static int64_t row_length(const struct type *x, const struct ints *axes)
{
    int64_t len = 1;

    for (int i = x->rank - 1; i >= 0 && (x->dim[i] == 1 || ints_has(axes, i)); i--)
        len *= x->dim[i];
    return len;
}

bool simulate_reduce(const struct simulation *sim, const struct node *node,
                     const struct tensor *const *in, struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const int64_t len = row_length(&in[0]->type, &node->attrs.reduce.axis);
    const bool by_rows = node->op != OP_PROD && adds_by_rows(sim, node, len);
    struct reduction r = reduction_begin(&in[0]->type, &node->attrs.reduce.axis);
    const float *x = in[0]->data;
    float *y = out->data;

    for (int64_t i = 0; i < n; i++, walk_next(&r.kept)) {
        float result = node->op == OP_PROD ? 1 : 0;

        for (int64_t k = 0; k < r.n; k++, walk_next(&r.reduced)) {
            const float *at = x + r.kept.offset[0] + r.reduced.offset[0];

            if (node->op == OP_PROD)
                result *= *at;
            else if (!by_rows)
                result += *at;
            else if (k % len == 0)
                result += row_sum_f32(at, (int)len);
        }
        y[i] = node->op == OP_MEAN ? result / (float)r.n : result;
    }
    return true;
}
