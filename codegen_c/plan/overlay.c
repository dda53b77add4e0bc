/* overlay.c - concatenations that lie over the feature map that their operands are computed from:
 *
 *     a, b, c = split(x);  y = concatenate(f(a), g(b), c)
 *
 * needs    no parts yet of what is looked at
 * gives    x as the whole of all: a, b, c are views of it, f(a) and g(b) lie over a and b, c stays,
 *          and y is x's memory; the split and the concatenation are absent
 * method   element-wise kernels read each element before they write it, here with the same pixel_stride at
 *          the same places (plan_goes_over). Each piece has one reader, which writes over it, so
 *          that any order of the regions will do: none reads what another has written over */
#include "codegen_c/plan/parts.h"

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

/* The only one who reads the value, or a view of it; NULL = nobody does, or several. */
static const struct use *sole_use(const struct value *value)
{
    const struct use *use = value->uses;

    while (use && !use->next && is_view(use->node))
        use = use->node->outputs[0]->uses;
    return use && !use->next ? use : NULL;
}

/* A piece of what is split, and what lies there in the end. */
struct landing {
    struct region *concat;
    const struct value *operand; /* the piece, or what is computed over it */
};

static struct region *sole_reader(const struct parts *parts, const struct value *value, int *input)
{
    const struct use *use = sole_use(value);

    if (!use || use->node->op != OP_CALL)
        return NULL;
    *input = use->input;
    return parts->region_of[use->node->id];
}

static bool find_landing(const struct parts *parts, const struct value *piece,
                         struct landing *landing)
{
    struct region *reader;
    int input;

    *landing = (struct landing){ .operand = piece };
    reader = sole_reader(parts, piece, &input);
    if (reader && !parts_is_concat(reader)) {
        if (reader->external || reader->call->n_outputs != 1 || !plan_goes_over(reader, input))
            return false;
        landing->operand = reader->call->outputs[0];
        reader = sole_reader(parts, landing->operand, &input);
    }
    landing->concat = reader;
    return reader && parts_is_concat(reader);
}

/* Whether the piece, which is `at` in what is split, lands at the same place of the concatenation.
 */
static bool lands_there(struct parts *parts, const struct landing *landing, const struct part *at,
                        const struct value *piece)
{
    const struct node *node = landing->concat->anchor;
    struct part slot;
    int64_t begin = 0;
    int found = -1, n = 0;
    bool fits;

    for (int i = 0; i < node->n_inputs; i++) {
        if (parts_operand_root(landing->concat, i) == landing->operand) {
            found = i;
            n++;
        }
        if (found < 0)
            begin += node->inputs[i]->type.dim[node->attrs.axis.axis];
    }
    if (n != 1)
        return false;
    parts->times[landing->operand->id] = 1;
    fits = landing->operand == piece
               ? parts_slot(parts, landing->concat, found, begin, &slot)
               : parts_can_be_part(parts, landing->concat, found, begin, landing->operand, &slot);
    parts->times[landing->operand->id] = 0;
    return fits && slot.at == at->at && slot.pixel_stride == at->pixel_stride;
}

/* A concatenation that may be part of a greater one is left to that. */
static bool goes_into_concat(const struct parts *parts, const struct value *value)
{
    const int n = parts_find_views(parts, value);

    for (int i = 0; i < n; i++)
        for (const struct use *use = parts->work[i]->uses; use; use = use->next)
            if (use->node->op == OP_CALL && parts_is_concat(parts->region_of[use->node->id]))
                return true;
    return false;
}

/* Whether a region computes x, for this split alone, and y can have its memory. What is put
 * together of others, or a piece itself, may become part of those that others read. */
static bool can_share(const struct parts *parts, const struct region *split, const struct value *x,
                      const struct region *concat)
{
    const struct value *y = concat->call->outputs[0];
    const struct region *writer = x->def ? parts->region_of[x->def->id] : NULL;
    const struct use *use = sole_use(x);

    return writer && !parts_is_concat(writer) && !parts_is_split(writer) && use &&
           use->node == split->call && !parts->part[y->id].whole && !concat->place.absent &&
           !parts_is_result(parts, y) && !goes_into_concat(parts, y) &&
           x->type.dtype == y->type.dtype && type_elements(&x->type) == type_elements(&y->type) &&
           concat->anchor->n_inputs == split->call->n_outputs &&
           concat->call->n_inputs == split->call->n_outputs;
}

static bool *all_absent(struct arena *arena, const struct region *region)
{
    bool *absent = arena_array(arena, bool, region->fn->n_params);

    for (int i = 0; i < region->fn->n_params; i++)
        absent[i] = true;
    return absent;
}

void parts_try_overlay(struct parts *parts, struct arena *arena, struct region *split)
{
    const struct node *call = split->call;
    const struct value *x = parts_root(call->inputs[split->anchor->inputs[0]->index]);
    struct region *concat = NULL;
    struct landing landing;
    struct part part;

    for (int i = 0; i < call->n_outputs; i++) {
        if (!find_landing(parts, call->outputs[i], &landing) ||
            (concat && landing.concat != concat))
            return;
        concat = landing.concat;
        if ((i == 0 && !can_share(parts, split, x, concat)) ||
            !parts_can_be_view(parts, split, i, &part) ||
            !lands_there(parts, &landing, &part, call->outputs[i]))
            return;
    }
    if (!concat)
        return;
    for (int i = 0; i < call->n_outputs; i++) {
        find_landing(parts, call->outputs[i], &landing);
        parts_can_be_view(parts, split, i, &part);
        parts_add_pending(parts, call->outputs[i], &part, split, NULL);
        part.of = concat->call->outputs[0];
        part.is_view = false;
        if (landing.operand != call->outputs[i])
            parts_add_pending(parts, landing.operand, &part, concat, NULL);
    }
    part = (struct part){ .whole = x, .of = x };
    parts_add_pending(parts, concat->call->outputs[0], &part, concat, NULL);
    split->place.absent = all_absent(arena, split);
    concat->place.absent = all_absent(arena, concat);
    if (parts->n_pending >= parts->group)
        parts_settle(parts);
}
