/* sample.c - grid_sample of dequantized numbers, at dequantized places, right before a
 * qnn.quantize. */
#include "relay_ir/ops/grid_sample.h"

#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

/* quantize(grid_sample(dequantize(x), dequantize(grid))) -> qnn.grid_sample(x, grid), in the scale
 * of x. A finer scale behind it would show how it rounds; cubic samples overshoot, which the type
 * of x bounds. */
struct value *grid_sample_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *x, *grid;
    struct affine in, places, out;
    struct value *y;

    if (!node || node->op != OP_GRID_SAMPLE || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    grid = dequantize_of(rewrite, node->inputs[1], &places);
    if (!x || !grid || in.scale > out.scale ||
        (strcmp(node->attrs.grid_sample.method, "cubic") == 0 && !affine_equal(&in, &out)) ||
        !qnn_grid_sample_takes(node, places.dtype, places.scale))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, grid);
    rule_covers(rewrite, node);
    y = rule_build(rewrite, OP_QNN_GRID_SAMPLE, &node->attrs, 5,
                   (struct value *[]){ x->inputs[0], grid->inputs[0], in.zero_value,
                                       places.scale_value, places.zero_value });
    return y ? requantized_to(rewrite, y, &in, &out) : NULL;
}
