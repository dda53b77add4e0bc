/* fp8_cast.c - casts to a small format: one per value, and as early as they can stand.
 *
 * The cast of a value stands directly behind the node that computes it, so that it becomes a part
 * of that node's region, and what lies in memory in between is 8 bits wide. Operators that only
 * move elements (views, transpose, slice, concatenation, padding with zeros) commute with it, and
 * so does maximum pooling, since rounding is monotonic: the cast moves in front of them where it is
 * the only reader. Pooling only where a target has a row for it; the host would have to decode
 * again. */
#include "partition/fp8.h"

#include <assert.h>

static struct node *cast_among_readers(const struct value *value, enum dtype format)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (use->node->op == OP_CAST && use->node->attrs.cast.dtype == format &&
            use->node->attrs.cast.saturate)
            return use->node;
    return NULL;
}

struct value *fp8_cast(struct value *value, enum dtype format, const struct origin *reader)
{
    struct function *fn = value->fn;
    struct node *const before = value->def ? value->def->next : fn->first;
    struct node *const found = cast_among_readers(value, format);
    const union attrs attrs = { .cast = { .dtype = format, .saturate = true } };
    const char *name;

    assert(value->kind != VALUE_CONSTANT && before);
    if (found) {
        if (found != before)
            node_move_before(found, before);
        return found->outputs[0];
    }
    name = arena_printf(&fn->module->arena, "%s.%s", value->name, dtype_name(format));
    return build(fn, OP_CAST, &attrs, name, value->def ? value->def->origin : reader, before, 1,
                 &value);
}

/* Whether a target takes this operator on codes. */
static bool is_listed(const struct partition *partition, enum op op, enum dtype format)
{
    const struct partition_options *options = partition->options;

    for (int i = 0; i <= options->n_offload; i++) {
        const struct target *target =
            i < options->n_offload ? options->offload[i] : partition->host;

        for (int j = 0; j < target->n_fp8; j++)
            if (fp8_row_takes(&target->fp8[j], op, format, DTYPE_NONE))
                return true;
    }
    return false;
}

static bool moves_elements(const struct node *node)
{
    switch (node->op) {
    case OP_CONCATENATE:
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_SQUEEZE:
    case OP_STRIDED_SLICE:
    case OP_TRANSPOSE: return true;
    case OP_PAD: return node->attrs.pad.value == 0;
    default: return false;
    }
}

static bool commutes(const struct partition *partition, const struct node *node)
{
    const bool is_max =
        node->op == OP_MAX_POOL1D || node->op == OP_MAX_POOL2D || node->op == OP_MAX_POOL3D;

    if (!moves_elements(node) &&
        !(is_max && is_listed(partition, node->op, partition->options->fp8)))
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]->kind == VALUE_CONSTANT || node->inputs[i]->type.dtype != DTYPE_F32)
            return false;
    return true;
}

/* cast(move(a, b)) -> move(cast(a), cast(b)). The node that was passed, NULL if it stays. */
static struct node *move_past(struct partition *partition, struct node *cast)
{
    struct value *const x = cast->inputs[0];
    struct node *const node = x->def;
    bool ok = true;

    if (!node || value_only_user(x) != cast || !commutes(partition, node))
        return NULL;
    for (int i = 0; i < node->n_inputs && ok; i++) {
        struct value *const input =
            fp8_cast(node->inputs[i], partition->options->fp8, node->origin);

        ok = input != NULL;
        if (ok)
            node_set_input(node, i, input);
    }
    if (!ok || !node_infer(partition->module->ctx, node))
        return NULL;
    value_replace(cast->outputs[0], x);
    node_remove(cast);
    return node;
}

bool fp8_move_casts(struct partition *partition, bool *moved)
{
    const enum dtype format = partition->options->fp8;
    struct node *previous;

    /* From the end: the casts that a move makes stand in front of the node that was passed, where
     * the walk still comes by. */
    for (struct node *node = partition->fn->last; node; node = previous) {
        struct node *passed;

        previous = node->prev;
        if (node->op != OP_CAST || node->attrs.cast.dtype != format || !node->attrs.cast.saturate ||
            node->inputs[0]->type.dtype != DTYPE_F32)
            continue;
        passed = move_past(partition, node);
        if (passed)
            moved[passed->id] = true;
    }
    return partition->module->ctx->diags.n_errors == 0;
}
