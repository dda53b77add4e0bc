/* parts.c - which values are stored as parts of a concatenation that reads them, or of what they
 * are a piece of.
 *
 * needs    main numbered, kernels chosen
 * gives    plan->part, region->absent
 * method   from the last concatenation to the first, so that one may be part of another; each
 *          operand for itself: whoever writes and reads it must be able to with the pixel stride that it
 *          gets, and the arena must not have to grow, as a whole lives from its first part on. Then
 *          splits and slices, whose results stay where they are: views, if all who read them can */
#include "codegen_c/plan/parts.h"

#include <stdlib.h>

/* A plan is made on trial for each operand while there are fewer steps than this, then for as many
 * at a time as were good before, and as many again; after twice these steps the rest is copied. */
enum { MOST_TRIAL_STEPS = 4000000 };

static int64_t pixel_of(const struct type *type)
{
    return type->rank ? type->dim[type->rank - 1] : 1;
}

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

/* The value, its views, their views ... into parts->work; how many. A list, not a recursion: a
 * chain of views may be as long as the model. */
int parts_find_views(const struct parts *parts, const struct value *value)
{
    int n = 0;

    parts->work[n++] = value;
    for (int i = 0; i < n; i++)
        for (const struct use *use = parts->work[i]->uses; use; use = use->next)
            if (is_view(use->node))
                parts->work[n++] = use->node->outputs[0];
    return n;
}

/* --- who can read and write with a pixel stride ------------------------------------------------- */

/* Whether the anchor, where it reads the parameter as it is or through its prologue, can do so with
 * a pixel stride. By the parameter's readers: a concatenation may have thousands of inputs. */
static bool anchor_reads_strided(const struct region *region, const struct value *param)
{
    for (const struct use *use = param->uses; use; use = use->next) {
        const struct node *decoder = use->node;

        if (decoder == region->anchor && !kernel_reads_strided(region, use->input))
            return false;
        for (int i = 0; i < decoder->n_outputs && decoder != region->anchor && use->input == 0; i++)
            for (const struct use *read = decoder->outputs[i]->uses; read; read = read->next)
                if (read->node == region->anchor && !kernel_reads_strided(region, read->input))
                    return false;
    }
    return true;
}

static bool reads_behind_anchor(const struct region *region, const struct value *param)
{
    for (const struct use *use = param->uses; use; use = use->next)
        if (use->node != region->anchor && !is_prologue(use->node, region->anchor))
            return true;
    return false;
}

static bool region_reads(const struct region *region, int index, int64_t pixel)
{
    const struct value *param = region->fn->params[index];
    const struct type *y = &region->fn->ret->inputs[0]->type;

    if (region->external || pixel_of(&param->type) != pixel)
        return false;
    if (region->anchor && !anchor_reads_strided(region, param))
        return false;
    return !reads_behind_anchor(region, param) ||
           (kernel_writes_strided(region) && region->call->n_outputs == 1 &&
            type_same_shape(&param->type, y));
}

static bool region_writes(const struct region *region)
{
    return !region->external && kernel_writes_strided(region);
}

static bool ask_all_read(const struct parts *parts, const struct value *value, int64_t pixel)
{
    const int n = parts_find_views(parts, value);

    for (int i = 0; i < n; i++)
        for (const struct use *use = parts->work[i]->uses; use; use = use->next)
            if (use->node == parts->main->ret ||
                (!is_view(use->node) &&
                 !region_reads(parts->region_of[use->node->id], use->input, pixel)))
                return false;
    return true;
}

/* Whether everybody who reads the value, or a view of it, can do so with a pixel stride from one of its
 * pixels to the next. Asked once: hundreds of concatenations may read the same value. */
static bool all_read(const struct parts *parts, const struct value *value)
{
    enum answer *known = &parts->all_read[value->id];

    if (*known == ANSWER_NONE)
        *known = ask_all_read(parts, value, pixel_of(&value->type)) ? ANSWER_YES : ANSWER_NO;
    return *known == ANSWER_YES;
}

static bool ask_is_result(const struct parts *parts, const struct value *value)
{
    const int n = parts_find_views(parts, value);

    for (int i = 0; i < n; i++)
        for (const struct use *use = parts->work[i]->uses; use; use = use->next)
            if (use->node == parts->main->ret)
                return true;
    return false;
}

bool parts_is_result(const struct parts *parts, const struct value *value)
{
    enum answer *known = &parts->is_result[value->id];

    if (*known == ANSWER_NONE)
        *known = ask_is_result(parts, value) ? ANSWER_YES : ANSWER_NO;
    return *known == ANSWER_YES;
}

/* --- parts ------------------------------------------------------------------------------------ */

const struct value *parts_root(const struct value *value)
{
    while (value->def && is_view(value->def))
        value = value->def->inputs[0];
    return value;
}

static void set_part(struct parts *parts, const struct value *value, const struct part *part)
{
    const int n = parts_find_views(parts, value);

    for (int i = 0; i < n; i++)
        parts->part[parts->work[i]->id] = *part;
}

/* Where operand i, which begins at this place of the axis, would lie in the concatenation; false if
 * it cannot lie there. */
bool parts_slot(const struct parts *parts, const struct region *concat, int i, int64_t begin,
                struct part *part)
{
    const struct node *node = concat->anchor;
    const struct type *x = &node->inputs[i]->type, *y = &node->outputs[0]->type;
    const int axis = (int)node->attrs.axis.axis;
    const int64_t inner = type_span(y, axis + 1, y->rank), run = x->dim[axis] * inner;
    const int64_t row = y->dim[axis] * inner;
    const struct part *whole = &parts->part[concat->call->outputs[0]->id];
    const bool single = type_span(y, 0, axis) == 1;
    const int64_t at = begin * inner;

    *part = (struct part){ concat->call->outputs[0], concat->call->outputs[0], at, single ? 0 : row,
                           false };
    if (!whole->whole)
        return single || run == pixel_of(x);
    /* The concatenation is part of another one. Where it has a pixel stride there, its pixel must be what
     * is put together here: then each operand's pixels are runs of that. */
    part->whole = whole->whole;
    part->at = whole->at + at;
    if (whole->pixel_stride) {
        part->pixel_stride = whole->pixel_stride;
        return row == pixel_of(y) && run == pixel_of(x);
    }
    return single || run == pixel_of(x);
}

/* What the concatenation reads as operand i; NULL = a constant of its own. */
const struct value *parts_operand_root(const struct region *concat, int i)
{
    const struct value *param = concat->anchor->inputs[i];

    return param->kind == VALUE_PARAM ? parts_root(concat->call->inputs[param->index]) : NULL;
}

/* Whether `root`, operand i of the concatenation, can be written and read there. */
bool parts_can_be_part(const struct parts *parts, const struct region *concat, int i, int64_t begin,
                       const struct value *root, struct part *part)
{
    const struct region *writer = root->def ? parts->region_of[root->def->id] : NULL;
    const struct type *x = &concat->anchor->inputs[i]->type;

    if (!writer || parts->part[root->id].whole || parts->times[root->id] != 1 ||
        type_elements(x) == 0 || parts_is_result(parts, root) ||
        !parts_slot(parts, concat, i, begin, part))
        return false;
    if (writer->external && part->at * (int64_t)dtype_bytes(x->dtype) % PLAN_ALIGN != 0)
        return false;
    if (!part->pixel_stride)
        return true;
    return pixel_of(&root->type) == pixel_of(x) && region_writes(writer) && all_read(parts, root);
}

/* What the arena needs at least with these parts. */
static size_t lower_bound(struct parts *parts)
{
    struct arena scratch = { NULL };
    struct plan plan;
    size_t bytes;

    plan_liveness(&plan, &scratch, parts->main, parts->part, parts->regions, parts->n_regions,
                  parts->io_inside);
    plan_alias(&plan, &scratch, parts->regions);
    bytes = pack_lower_bound(&scratch, plan.blocks, plan.n_blocks);
    arena_release(&scratch);
    parts->steps -= parts->walk;
    return bytes;
}

/* Keeps what is pending if the arena need not grow for it. */
void parts_settle(struct parts *parts)
{
    const size_t bytes =
        parts->steps > -MOST_TRIAL_STEPS && parts->n_pending ? lower_bound(parts) : SIZE_MAX;

    if (bytes <= parts->least) {
        parts->least = bytes;
        parts->group = parts->steps > 0 ? 1 : 2 * parts->group;
        parts->n_pending = 0;
        return;
    }
    while (parts->n_pending > 0) {
        const struct pending *last = &parts->pending[--parts->n_pending];

        set_part(parts, last->value, &(struct part){ 0 });
        if (last->absent)
            *last->absent = false;
        else
            last->region->place.absent = NULL;
    }
    parts->group = 1;
}

void parts_add_pending(struct parts *parts, const struct value *value, const struct part *part,
                       struct region *region, bool *absent)
{
    set_part(parts, value, part);
    parts->pending[parts->n_pending++] = (struct pending){ value, region, absent };
}

static void try_part(struct parts *parts, struct region *concat, int i, int64_t begin, bool *absent)
{
    const struct value *root = parts_operand_root(concat, i);
    struct part part;

    if (!parts_can_be_part(parts, concat, i, begin, root, &part))
        return;
    *absent = true;
    parts_add_pending(parts, root, &part, concat, absent);
    if (parts->n_pending >= parts->group)
        parts_settle(parts);
}

/* An operand that a region of main computes. */
struct concat_operand {
    int i, writer; /* the index of that region */
    int64_t begin; /* along the axis */
};

static int later_first(const void *a, const void *b)
{
    const struct concat_operand *x = a, *y = b;

    return x->writer != y->writer ? y->writer - x->writer : x->i - y->i;
}

/* Later operands first: the whole need not live longer for them. */
static void find_operands(struct parts *parts, struct arena *arena, struct region *concat)
{
    const struct node *node = concat->anchor;
    struct concat_operand *operands = arena_array(arena, struct concat_operand, node->n_inputs);
    bool *absent = arena_array(arena, bool, concat->fn->n_params);
    int64_t begin = 0;
    int n = 0;

    concat->place.absent = absent;
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *root = parts_operand_root(concat, i);

        if (root)
            parts->times[root->id]++;
        if (root && root->def)
            operands[n++] =
                (struct concat_operand){ i, parts->region_of[root->def->id]->index, begin };
        begin += node->inputs[i]->type.dim[node->attrs.axis.axis];
    }
    qsort(operands, (size_t)n, sizeof *operands, later_first);
    for (int k = 0; k < n; k++)
        try_part(parts, concat, operands[k].i, operands[k].begin,
                 &absent[node->inputs[operands[k].i]->index]);
    for (int i = 0; i < node->n_inputs; i++)
        if (parts_operand_root(concat, i))
            parts->times[parts_operand_root(concat, i)->id] = 0;
}

bool parts_is_concat(const struct region *region)
{
    return !region->external && region->anchor && region->anchor->op == OP_CONCATENATE &&
           region->fn->ret->inputs[0] == region->anchor->outputs[0];
}

/* --- splits and slices ------------------------------------------------------------------------ */

/* The only dim along which result i of the anchor is a piece of what it reads, and from where on;
 * false where there are several, or elements are left out between others. */
static bool piece_of(const struct node *node, int i, int *axis, int64_t *begin)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[i]->type;
    const struct slice_attrs *slice = &node->attrs.slice;
    int n = 0;

    *axis = 0;
    *begin = 0;
    if (node->op == OP_SPLIT) {
        *axis = (int)node->attrs.split.axis;
        for (int k = 0; k < i; k++)
            *begin += node->outputs[k]->type.dim[*axis];
        return true;
    }
    for (int k = 0; k < y->rank; k++) {
        if (y->dim[k] == x->dim[k] && slice->strides.at[k] == 1)
            continue;
        if (slice->strides.at[k] != 1)
            return false;
        *axis = k;
        *begin = slice->begin.at[k];
        n++;
    }
    return n <= 1;
}

/* Where result i of a split or slice lies in what it is a piece of, which may be a part itself. */
static bool part_of_piece(const struct parts *parts, const struct region *region, int i,
                          struct part *part)
{
    const struct node *node = region->anchor;
    const struct value *root = parts_root(region->call->inputs[node->inputs[0]->index]);
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[i]->type;
    const struct part *known = &parts->part[root->id];
    int64_t begin, inner, run, at;
    int axis;

    if (!piece_of(node, i, &axis, &begin))
        return false;
    inner = type_span(x, axis + 1, x->rank);
    run = y->dim[axis] * inner;
    at = begin * inner;
    *part = (struct part){ .whole = known->whole ? known->whole : root,
                           .of = root,
                           .at = known->at,
                           .pixel_stride = known->pixel_stride,
                           .is_view = true };
    if (type_span(x, 0, axis) == 1 &&
        (!known->pixel_stride ||
         (at % pixel_of(x) == 0 && run % pixel_of(x) == 0 && pixel_of(y) == pixel_of(x)))) {
        part->at += known->pixel_stride ? at / pixel_of(x) * known->pixel_stride : at;
        return true;
    }
    part->at += at;
    if (!known->pixel_stride)
        part->pixel_stride = x->dim[axis] * inner;
    return run == pixel_of(y) && x->dim[axis] * inner == pixel_of(x);
}

static bool has_external_reader(const struct parts *parts, const struct value *value)
{
    const int n = parts_find_views(parts, value);

    for (int i = 0; i < n; i++)
        for (const struct use *use = parts->work[i]->uses; use; use = use->next)
            if (!is_view(use->node) && use->node != parts->main->ret &&
                parts->region_of[use->node->id]->external)
                return true;
    return false;
}

bool parts_can_be_view(const struct parts *parts, const struct region *region, int i,
                       struct part *part)
{
    const struct value *y = region->call->outputs[i];
    const struct value *root = parts_root(region->call->inputs[region->anchor->inputs[0]->index]);

    if (root->kind == VALUE_CONSTANT || parts->part[y->id].whole || type_elements(&y->type) == 0 ||
        parts_is_result(parts, y) || has_external_reader(parts, y) ||
        !part_of_piece(parts, region, i, part))
        return false;
    return !part->pixel_stride || all_read(parts, y);
}

/* All results, or none: else the region has to run anyway. */
static void try_views(struct parts *parts, struct arena *arena, struct region *region)
{
    const struct node *call = region->call;
    bool *absent = arena_array(arena, bool, region->fn->n_params);

    for (int i = 0; i < call->n_outputs; i++) {
        struct part part;

        if (!parts_can_be_view(parts, region, i, &part))
            return;
    }
    for (int i = 0; i < region->fn->n_params; i++)
        absent[i] = true;
    region->place.absent = absent;
    for (int i = 0; i < call->n_outputs; i++) {
        struct part part;

        part_of_piece(parts, region, i, &part);
        parts_add_pending(parts, call->outputs[i], &part, region, NULL);
    }
    if (parts->n_pending >= parts->group)
        parts_settle(parts);
}

/* Of one parameter, and nothing else in the region. */
bool parts_is_split(const struct region *region)
{
    const struct node *anchor = region->anchor;

    if (region->external || !anchor || (anchor->op != OP_SPLIT && anchor->op != OP_STRIDED_SLICE) ||
        anchor->inputs[0]->kind != VALUE_PARAM || region->fn->n_params != 1 ||
        region->fn->ret->n_inputs != anchor->n_outputs)
        return false;
    for (int i = 0; i < anchor->n_outputs; i++)
        if (region->fn->ret->inputs[i] != anchor->outputs[i])
            return false;
    return true;
}

struct part *plan_parts(struct arena *arena, const struct function *main, struct region *regions,
                        int n_regions, bool io_inside)
{
    struct parts parts = { .main = main,
                           .io_inside = io_inside,
                           .regions = regions,
                           .n_regions = n_regions,
                           .region_of = arena_array(arena, struct region *, main->n_nodes + 1),
                           .part = arena_array(arena, struct part, main->n_values),
                           .work = arena_array(arena, const struct value *, main->n_values),
                           .all_read = arena_array(arena, enum answer, main->n_values),
                           .is_result = arena_array(arena, enum answer, main->n_values),
                           .times = arena_array(arena, int, main->n_values),
                           .pending = arena_array(arena, struct pending, main->n_values),
                           .group = 1,
                           .walk = main->n_values,
                           .steps = MOST_TRIAL_STEPS };

    for (int r = 0; r < n_regions; r++) {
        parts.region_of[regions[r].call->id] = &regions[r];
        parts.walk += regions[r].call->n_inputs;
    }
    parts.least = lower_bound(&parts);
    for (int r = 0; r < n_regions; r++)
        if (parts_is_split(&regions[r]))
            parts_try_overlay(&parts, arena, &regions[r]);
    parts_settle(&parts);
    for (int r = n_regions - 1; r >= 0; r--)
        if (parts_is_concat(&regions[r]) && !regions[r].place.absent)
            find_operands(&parts, arena, &regions[r]);
    parts_settle(&parts); /* views may be of these */
    for (int r = 0; r < n_regions; r++)
        if (parts_is_split(&regions[r]))
            try_views(&parts, arena, &regions[r]);
    parts_settle(&parts);
    return parts.part;
}
