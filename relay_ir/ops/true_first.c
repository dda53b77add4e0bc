/* true_first.c - the indices of a list of booleans, those of true elements in front.
 *
 * x (n) bool, first (k) i64: the first k of the indices of true elements, ascending, and then of false ones,
 * ascending. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"

bool infer_true_first(struct ctx *ctx, struct node *node)
{
    const int64_t k = node->attrs.true_first.k;
    const struct type list = { .rank = 1, .dim = { k } };

    if (!check_kinds(ctx, node, 0, KINDS_BOOL) || !check_rank(ctx, node, 0, 1, 1))
        return false;
    if (k < 0 || k > input_type(node, 0)->dim[0])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: the first %lld of %lld elements",
                          op_name(node->op), (long long)k, (long long)input_type(node, 0)->dim[0]);
    set_output(node, 0, DTYPE_I64, &list);
    return true;
}

bool eval_true_first(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const int64_t n = in[0]->type.dim[0], k = node->attrs.true_first.k;
    const uint8_t *is_true = in[0]->data;
    int64_t *first = out->data, count = 0;

    (void)ctx;
    for (int wanted = 1; wanted >= 0; wanted--)
        for (int64_t i = 0; i < n && count < k; i++)
            if (is_true[i] == wanted)
                first[count++] = i;
    return true;
}
