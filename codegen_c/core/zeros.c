/* zeros.c - see zeros.h. A value is followed back to the operator that made it, over what moves
 * numbers and through calls of regions. */
#include "codegen_c/core/zeros.h"

/* The call whose callee a value belongs to; NULL = main. */
struct caller {
    const struct node *call;
    const struct caller *outer;
};

enum { MOST_STEPS = 64 }; /* back along one value: more are no layer's surroundings */

static bool has_many(const struct value *value, const struct caller *caller, int steps)
{
    const struct node *node = value->def;

    if (steps == 0)
        return false;
    if (value->kind == VALUE_PARAM && caller)
        return has_many(caller->call->inputs[value->index], caller->outer, steps - 1);
    if (!node)
        return false;
    if (op_row(node->op)->pattern == PATTERN_VIEW)
        return has_many(node->inputs[0], caller, steps - 1);
    switch (node->op) {
    case OP_RELU:
    case OP_THRESHOLDED_RELU: return true;
    case OP_CLIP: return node->attrs.clip.a_min == 0;
    case OP_MAX_POOL1D:
    case OP_MAX_POOL2D:
    case OP_MAX_POOL3D:
    case OP_TRANSPOSE: return has_many(node->inputs[0], caller, steps - 1);
    case OP_CALL:
        return has_many(node->callee->ret->inputs[value->index],
                        &(struct caller){ .call = node, .outer = caller }, steps - 1);
    default: return false;
    }
}

bool zeros_are_many(const struct region *region, int param)
{
    return has_many(region->call->inputs[param], NULL, MOST_STEPS);
}
