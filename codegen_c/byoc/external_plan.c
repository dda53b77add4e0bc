/* external_plan.c - where the values of a foreign region live while it runs.
 *
 * needs    the composites in order, with their scratch
 * gives    places of all values, copies, region->scratch_bytes
 * method   as for main: results of composites that are results of the region are written there;
 * some take over the place of a value that dies; all others and the composites' scratch are blocks
 * with a lifetime, packed by pack_blocks */
#include <assert.h>

#include "codegen_c/byoc/external.h"

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

static void find_roots(struct external *external, struct arena *arena)
{
    const struct function *fn = external->fn;

    external->root = arena_array(arena, const struct value *, fn->n_values);
    for (int i = 0; i < fn->n_params; i++)
        external->root[fn->params[i]->id] = fn->params[i];
    for (const struct value *v = fn->constants; v; v = v->next)
        external->root[v->id] = v;
    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            external->root[node->outputs[i]->id] =
                is_view(node) ? external->root[node->inputs[0]->id] : node->outputs[i];
}

/* The first result that a composite's output is; -1 = none. */
static int result_of(const struct external *external, const struct value *root)
{
    const struct node *ret = external->fn->ret;

    for (int i = 0; i < ret->n_inputs; i++)
        if (external->root[ret->inputs[i]->id] == root)
            return i;
    return -1;
}

static int last_reader(const struct external *external, const struct value *root, int last)
{
    for (int i = last + 1; i < external->n_composites; i++) {
        const struct node *call = external->composites[i].call;

        for (int k = 0; k < call->n_inputs; k++)
            if (external->root[call->inputs[k]->id] == root)
                last = i;
    }
    return last;
}

/* Whether the call reads the value as this input only. */
static bool reads_once(const struct external *external, const struct node *call, int input)
{
    const struct value *root = external->root[call->inputs[input]->id];

    for (int k = 0; k < call->n_inputs; k++)
        if (k != input && external->root[call->inputs[k]->id] == root)
            return false;
    return true;
}

/* What the first output may lie over: a value in between of the same size and type that nothing
 * reads any more, and that the row allows. NULL = none. */
static const struct value *find_dying(const struct external *external, int index)
{
    const struct external_composite *composite = &external->composites[index];
    const struct value *out = composite->call->outputs[0];

    for (int i = 0; i < composite->row->n_in_place; i++) {
        const struct capture *capture =
            match_capture(composite->match, composite->row->in_place[i]);
        const struct value *root;

        if (!capture || capture->value->kind != VALUE_PARAM || value_n_uses(capture->value) != 1)
            continue; /* another operator of the composite may read it later */
        root = external->root[composite->call->inputs[capture->value->index]->id];
        if (root->kind == VALUE_OUTPUT && result_of(external, root) < 0 &&
            root->type.dtype == out->type.dtype &&
            type_bytes(&root->type) == type_bytes(&out->type) &&
            reads_once(external, composite->call, capture->value->index) &&
            last_reader(external, root, index) == index)
            return root;
    }
    return NULL;
}

/* A value that lies over another is stored where that is, as views are. */
static void share_storage(struct external *external)
{
    for (int i = 0; i < external->n_composites; i++) {
        const struct value *out = external->composites[i].call->outputs[0];
        const struct value *over = result_of(external, out) < 0 ? find_dying(external, i) : NULL;

        for (int id = 0; over && id < external->fn->n_values; id++)
            if (external->root[id] == out)
                external->root[id] = over;
    }
}

static void find_copies(struct external *external, struct arena *arena)
{
    const struct node *ret = external->fn->ret;

    external->copies = arena_array(arena, const struct value *, ret->n_inputs);
    external->copy_results = arena_array(arena, int, ret->n_inputs);
    for (int i = 0; i < ret->n_inputs; i++) {
        const struct value *root = external->root[ret->inputs[i]->id];

        if (root->kind == VALUE_OUTPUT && result_of(external, root) == i)
            continue;
        external->copies[external->n_copies] = root;
        external->copy_results[external->n_copies++] = i;
    }
}

static void place_outside(struct external *external, struct arena *arena)
{
    const struct function *fn = external->fn;
    int n = 0;

    external->place = arena_array(arena, struct region_place, fn->n_values);
    for (int i = 0; i < fn->n_params; i++)
        external->place[fn->params[i]->id] =
            (struct region_place){ .kind = REGION_INPUT, .index = i };
    for (const struct value *v = fn->constants; v; v = v->next)
        external->place[v->id] = (struct region_place){ .kind = REGION_CONSTANT, .index = n++ };
}

/* Values in between and scratch, in the order of the composites. */
static int collect_blocks(struct external *external, struct block *blocks)
{
    int n = 0;

    for (int i = 0; i < external->n_composites; i++) {
        const struct external_composite *composite = &external->composites[i];

        for (int k = 0; k < composite->call->n_outputs; k++) {
            const struct value *out = composite->call->outputs[k];
            const int result = result_of(external, out);

            if (external->root[out->id] != out) /* it lies over another */
                continue;
            external->place[out->id] =
                (struct region_place){ .kind = result >= 0 ? REGION_OUTPUT : REGION_SCRATCH,
                                       .index = result >= 0 ? result : 0 };
            if (result < 0)
                blocks[n++] = (struct block){ .value = out,
                                              .bytes = type_bytes(&out->type),
                                              .first = i,
                                              .last = last_reader(external, out, i) };
        }
        if (composite->scratch_bytes)
            blocks[n++] =
                (struct block){ .bytes = composite->scratch_bytes, .first = i, .last = i };
    }
    return n;
}

/* Names that no text of a template is likely to declare. */
static void name_values(struct external *external, struct arena *arena)
{
    const struct function *fn = external->fn;
    const char **params = arena_array(arena, const char *, fn->n_params);
    const char **results = arena_array(arena, const char *, fn->ret->n_inputs);
    int n = 0;

    external->name = arena_array(arena, const char *, fn->n_values);
    external->is_read = arena_array(arena, bool, fn->n_values);
    for (int i = 0; i < fn->n_params; i++)
        external->name[fn->params[i]->id] = params[i] = arena_printf(arena, "input%d", i);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        results[i] = arena_printf(arena, "output%d", i);
    external->region->params = params;
    external->region->results = results;
    for (int i = 0; i < external->n_composites; i++) {
        struct external_composite *composite = &external->composites[i];

        for (int k = 0; k < composite->call->n_outputs; k++) {
            const int id = composite->call->outputs[k]->id;

            if (external->root[id] != composite->call->outputs[k])
                continue;
            external->name[id] = external->place[id].kind == REGION_OUTPUT
                                     ? results[external->place[id].index]
                                     : arena_printf(arena, "value%d", n++);
        }
        composite->scratch_name = arena_printf(arena, "scratch%d", i);
    }
}

static int count_regions(const struct codegen *codegen)
{
    int n = 0;

    for (int i = 0; i < codegen->n_regions; i++)
        n += codegen->regions[i].external != NULL;
    return n;
}

void external_plan(struct codegen *codegen, struct external *external)
{
    struct arena *arena = &codegen->arena;
    struct packing packing;
    struct block *blocks;
    int capacity = 0, n;

    find_roots(external, arena);
    share_storage(external);
    find_copies(external, arena);
    place_outside(external, arena);
    for (int i = 0; i < external->n_composites; i++)
        capacity += external->composites[i].call->n_outputs + 1;
    blocks = arena_array(arena, struct block, capacity);
    n = collect_blocks(external, blocks);
    packing = pack_blocks(&codegen->ctx->scratch, blocks, n,
                          PACK_WORK / (uint64_t)count_regions(codegen));
    external->inner_bytes = packing.bytes;
    external->inner_bound = packing.lower_bound;
    for (int i = 0; i < n; i++)
        external->region->config.scratch_naive += plan_round(blocks[i].bytes);
    assert(pack_verify(blocks, n, external->inner_bytes));
    external->call_scratch = arena_array(arena, size_t, external->fn->n_nodes);
    for (int i = 0; i < n; i++)
        if (blocks[i].value) {
            external->place[blocks[i].value->id].offset = blocks[i].offset;
        } else {
            struct external_composite *composite = &external->composites[blocks[i].first];

            composite->scratch_offset = blocks[i].offset;
            external->call_scratch[composite->call->id] = blocks[i].offset;
        }
    for (const struct node *node = external->fn->first; node; node = node->next)
        for (int k = 0; k < node->n_outputs; k++) {
            const int id = node->outputs[k]->id;

            external->place[id] = external->place[external->root[id]->id];
        }
    name_values(external, arena);
    external->blocks = blocks;
    external->n_blocks = n;
    external->region->config.scratch_bytes = external->inner_bytes;
}
