/* epilogue_lanes.c - whether a region's epilogue can be written for several channels at a time. */
#include "codegen_c/expr/epilogue.h"

#include <string.h>

#include "relay_ir/ops/qnn.h"

/* Whether an operand runs along with the result's elements, or with its channels. */
static bool goes_along(struct epilogue *e, const struct node *node, int input)
{
    const struct type *result = &e->bind->region->fn->ret->inputs[0]->type;
    const int axis = epilogue_axis(node, input);
    const struct value *value = node->inputs[input];
    const struct operand operand = operand_of(e->bind->region, value);
    enum operand_beside beside;

    if (map_get(&e->expressions, value->name) || epilogue_literal(e->bind, value))
        return true;
    if (axis >= 0)
        return axis == result->rank - 1 && operand.dim[0] == result->dim[axis];
    beside = operand_beside(&operand, result);
    return beside == OPERAND_ALONG || beside == OPERAND_CHANNEL;
}

/* A cast from 8 to 32 bits, which lanes hold anyway. */
static bool widens_bytes(const struct node *node)
{
    const enum dtype from = node->inputs[0]->type.dtype;

    return node->op == OP_CAST && (from == DTYPE_I8 || from == DTYPE_U8) &&
           node->outputs[0]->type.dtype == DTYPE_I32;
}

static bool node_takes_lanes(struct epilogue *e, const struct node *node, int lanes)
{
    const char *needs, *text;

    if (widens_bytes(node))
        return goes_along(e, node, 0);
    if (node->op != OP_BIAS_ADD && node->op != OP_QNN_REQUANTIZE && node->op != OP_QNN_ADD &&
        node->op != OP_QNN_SUBTRACT)
        return false;
    text = scalar_text(e->bind->arena, node, &needs);
    if (!text || (*needs && strcmp(needs, "requantize_down clamp_int") != 0 &&
                  !requantize_takes_float_lanes(node) &&
                  !(lanes >= EPILOGUE_LEAST_LANES && requantize_takes_lanes(node))))
        return false;
    for (int i = 0; i < node->n_inputs && i < SCALAR_OPERANDS - QNN_TABLES; i++)
        if (scalar_count(text, (char)('a' + i)) && !goes_along(e, node, i))
            return false;
    return !scalar_count(text, 'A') || qnn_vector_axis(node, 1) == e->position->rank - 1;
}

static bool takes_lanes(struct bind *bind, const struct position *position, int lanes)
{
    struct epilogue e = epilogue_begin(bind, position);
    const struct region *region = bind->region;
    const enum dtype dtype = region->fn->ret->inputs[0]->type.dtype;
    char *const computed = arena_strdup(bind->arena, "computed");

    if (dtype != DTYPE_I8 && dtype != DTYPE_U8)
        return false;
    map_set(&e.expressions, region->anchor->outputs[0]->name, computed);
    for (const struct node *n = region->fn->first; n; n = n->next)
        if (epilogue_has(region, n)) {
            if (!node_takes_lanes(&e, n, lanes))
                return false;
            map_set(&e.expressions, n->outputs[0]->name, computed);
        }
    return true;
}

int epilogue_lanes(struct bind *bind, const struct position *position, int64_t channels)
{
    int lanes = machine_integer_lanes(bind->machine);

    while (lanes && channels % lanes != 0)
        lanes = lanes > EPILOGUE_LEAST_LANES && bind->machine->arch == ARCH_X86_64 ? lanes / 2 : 0;
    return lanes && takes_lanes(bind, position, lanes) ? lanes : 0;
}
