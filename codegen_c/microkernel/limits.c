/* limits.c - see limits.h. */
#include "codegen_c/microkernel/limits.h"

#include <math.h>

#include "codegen_c/expr/vector.h"

static bool is_bias(const struct region *region, const struct node *node)
{
    return node && node->op == OP_BIAS_ADD && node->inputs[0] == region->anchor->outputs[0] &&
           node->attrs.axis.axis == node->outputs[0]->type.rank - 1 &&
           node->inputs[1]->kind == VALUE_CONSTANT;
}

/* Whether the node is a relu or clip of `x`; narrows the limits if so. */
static bool narrows(const struct node *node, const struct value *x, struct limits *limits)
{
    if (node->inputs[0] != x || (node->op != OP_RELU && node->op != OP_CLIP))
        return false;
    if (node->op == OP_RELU)
        limits->low = 0;
    if (node->op == OP_CLIP) {
        limits->high = isnan(node->attrs.clip.a_max) ? INFINITY : node->attrs.clip.a_max;
        limits->low = isnan(node->attrs.clip.a_min) ? -INFINITY : node->attrs.clip.a_min;
        if (limits->low > limits->high)
            limits->low = limits->high;
    }
    return true;
}

bool region_limits(const struct region *region, struct limits *out)
{
    const struct node *ret = region->fn->ret, *node = region->anchor->next;
    const struct value *last = region->anchor->outputs[0];

    *out = (struct limits){ .low = -INFINITY, .high = INFINITY };
    if (is_bias(region, node)) {
        out->bias = node->inputs[1];
        last = node->outputs[0];
        node = node->next;
    }
    if (node && narrows(node, last, out)) {
        last = node->outputs[0];
        node = node->next;
    }
    return !node && ret->n_inputs == 1 && ret->inputs[0] == last && last->type.dtype == DTYPE_F32;
}

bool vectors_are_compared(const struct machine *machine)
{
    switch (machine->arch) {
    case ARCH_ANY:
    case ARCH_AARCH64:
    case ARCH_WASM32:
    case ARCH_X86_64: return machine->lanes != 1;
    default: return false;
    }
}

void bind_limits(struct bind *bind, const struct limits *limits)
{
    const bool low = limits->low > -INFINITY, high = limits->high < INFINITY;

    bind_text(bind, "bias", "%s", limits->bias ? bind_operand(bind, limits->bias) : "");
    bind_text(bind, "low", "%s", low ? bind_literal(bind, DTYPE_F32, limits->low) : "");
    bind_text(bind, "high", "%s", high ? bind_literal(bind, DTYPE_F32, limits->high) : "");
}

const char *limit_text(struct bind *bind, const struct limits *limits, const char *type,
                       const char *v)
{
    if (limits->low > -INFINITY)
        v = arena_printf(bind->arena, "%s(%s, low)", bind_vector_fn(bind, "at_least", type), v);
    if (limits->high < INFINITY)
        v = arena_printf(bind->arena, "%s(%s, high)", bind_vector_fn(bind, "at_most", type), v);
    return v;
}
