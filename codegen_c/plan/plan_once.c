/* plan_once.c - one plan from the module on.
 *
 * needs    a module as fuse_ops leaves it (relay_ir/passes/pipeline.h)
 * gives    codegen->regions with their configurations, codegen->plan, names; nothing is printed
 * method   choose kernels, alias, configure each region (which says what scratch and weights it
 *          needs), order, pack the arena */
#include "codegen_c/plan/plan_once.h"

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/comments.h"
#include "codegen_c/core/packed.h"
#include "codegen_c/core/stripe.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/plan/choose_kernels.h"
#include "codegen_c/plan/name_values.h"
#include "codegen_c/plan/reserve.h"
#include "codegen_c/print/share.h"
#include "codegen_c/select/configure.h"
#include "relay_ir/macs.h"
#include "relay_ir/order.h"
#include "relay_ir/variants.h"

/* With fewer, code for each size is small enough. */
enum { MANY_VARIANTS = 8 };

static const char *region_name(struct codegen *codegen, const struct region *region)
{
    const struct variants *variants = codegen->module->variants;
    const char *symbol = region->fn->global_symbol ? region->fn->global_symbol : region->fn->name;
    const char *wanted = is_external(region->fn)
                             ? arena_printf(&codegen->arena, "%s_%s", codegen->options->name,
                                            c_identifier(&codegen->arena, symbol))
                             : arena_printf(&codegen->arena, "region_%s",
                                            c_identifier(&codegen->arena, region_title(region)));

    if (variants)
        wanted =
            arena_printf(&codegen->arena, "%s_%s", wanted, variants->at[region->variant].label);
    return names_unique(&codegen->names, wanted);
}

/* Of a variant. Results of main are the caller's. */
static size_t largest_value(const struct function *main, int variant)
{
    size_t largest = 0;

    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs && variant_of(main->module, node) == variant; i++) {
            const size_t bytes = type_bytes(&node->outputs[i]->type);

            if (bytes > largest && !value_is_result(node->outputs[i]))
                largest = bytes;
        }
    return largest;
}

/* By the name of a call's result: that of the last variant, whose sizes are the smallest. */
static void find_last(struct codegen *codegen, struct map *last)
{
    const int n = count_variants(codegen->module);

    last->arena = &codegen->arena;
    for (const struct node *node = codegen->module->main->first; node; node = node->next)
        if (n >= MANY_VARIANTS && node->op == OP_CALL && variant_of(codegen->module, node) == n - 1)
            map_set(last, node->outputs[0]->name, node->outputs[0]);
}

/* Against the last variant; that against the first. */
static void find_variation(struct codegen *codegen, const struct map *last, struct map *first,
                           struct region *region)
{
    const struct value *y = region->call->outputs[0];
    const bool is_last = region->variant == count_variants(codegen->module) - 1;
    const struct value *other = map_get(is_last ? first : last, y->name);

    if (region->variant == 0)
        map_set(first, y->name, (void *)(uintptr_t)y);
    if (!other || last->n == 0)
        return;
    region->size_varies = type_elements(&y->type) != type_elements(&other->type);
    region->columns_vary =
        y->type.rank != other->type.rank ||
        (y->type.rank && y->type.dim[y->type.rank - 1] != other->type.dim[other->type.rank - 1]);
}

static void collect_regions(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    struct map last = { NULL }, first = { .arena = &codegen->arena };
    size_t largest = 0;
    int variant = -1;
    const struct guards *guards = guards_find(&codegen->arena, main);

    codegen->regions = arena_array(&codegen->arena, struct region, main->n_nodes);
    codegen->emitted = arena_array(&codegen->arena, struct emitted, main->n_nodes);
    find_last(codegen, &last);
    for (struct node *node = main->first; node; node = node->next) {
        struct region *region = &codegen->regions[codegen->n_regions];

        if (node->op != OP_CALL)
            continue;
        region->fn = node->callee;
        region->call = node;
        region->index = codegen->n_regions++;
        region->variant = variant_of(codegen->module, node);
        if (region->variant != variant)
            largest = largest_value(main, variant = region->variant);
        region->machine = codegen->machine;
        region->winograd = codegen->options->winograd;
        region->amx = codegen->amx;
        find_variation(codegen, &last, &first, region);
        region->keep_zeros = codegen->options->keep_zeros;
        region->largest = largest;
        if (guards)
            region->guards = guards[node->id];
        if (is_external(region->fn)) {
            region->c_name = region->own_name = region_name(codegen, region);
            codegen->emitted[region->index].macs = external_macs(region->fn);
            continue;
        }
        region->anchor = region_anchor(region->fn);
        region->c_name = region->own_name = region_name(codegen, region);
        if (is_striped(region->fn))
            codegen->emitted[region->index].macs = external_macs(region->fn);
        for (const struct node *n = region->fn->first; n; n = n->next)
            codegen->emitted[region->index].macs += node_macs(n);
    }
}

static bool configure_regions(struct codegen *codegen)
{
    const struct codegen_options *options = codegen->options;
    bool ok = !(options->share || options->optimize_size) || share_regions(codegen);

    for (int i = 0; i < codegen->n_regions; i++) {
        ok = (codegen->regions[i].external ? configure_external(codegen, &codegen->regions[i])
                                           : configure_region(codegen, &codegen->regions[i])) &&
             ok;
        if (!constants_fit(codegen->module, (double)codegen->packed->memory.bytes,
                           node_origin(codegen->regions[i].call)))
            return false;
    }
    return ok;
}

/* Concatenations all of whose operands are written where they belong. */
static void drop_regions(struct codegen *codegen)
{
    int n = 0;

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct region *region = &codegen->regions[r];
        bool is_there = region->place.absent == NULL;

        for (int i = 0; i < region->call->n_inputs && !is_there; i++)
            is_there = !region->place.absent[i];
        if (!is_there && region->anchor->n_inputs == region->call->n_inputs)
            continue;
        codegen->regions[n] = codegen->regions[r];
        codegen->emitted[n] = codegen->emitted[r];
        codegen->regions[n].index = n;
        if (codegen->regions[n].external)
            codegen->regions[n].external->region = &codegen->regions[n];
        n++;
    }
    codegen->n_regions = n;
    while (codegen->n_listed < n && codegen->regions[codegen->n_listed].variant == 0)
        codegen->n_listed++;
}

static void store_constants(struct codegen *codegen)
{
    for (const struct value *v = codegen->module->main->constants; v; v = v->next)
        stored_constant(codegen, v);
}

/* A condition is computed before what it guards. */
static void sort_by_guards(struct function *main)
{
    struct arena arena = { NULL };
    const struct guards *guards;

    function_number(main);
    guards = guards_find(&arena, main);
    if (guards)
        function_sort_guarded(main, guards);
    arena_release(&arena);
}

/* Sizes are arguments of functions, beside what these call their own. */
static void name_symbols(struct codegen *codegen)
{
    static const char *const words[] = { "arena", "base", "i", "row", "row_of", "shape" };
    struct variants *variants = codegen->module->variants;

    for (size_t i = 0; variants && i < sizeof words / sizeof *words; i++)
        names_reserve(&codegen->names, words[i]);
    for (int s = 0; variants && s < variants->n_symbols; s++)
        variants->symbols[s].c_name = names_unique(
            &codegen->names, c_identifier(&codegen->module->arena, variants->symbols[s].name));
}

static void begin(struct codegen *codegen)
{
    sort_by_guards(codegen->module->main);
    /* For Helium always: gcc 12 makes a product and a sum of every a += x * w there. */
    codegen->amx = machine_has_amx(codegen->machine) && !codegen->options->deterministic &&
                   codegen->options->winograd != WINOGRAD_OFF;
    codegen->fused = ((codegen->options->deterministic || codegen->module->rounds_as_onnx) &&
                      codegen->machine->fma) ||
                     codegen->machine->dot == DOT_MVE;
    codegen->upper = upper_case(&codegen->arena, codegen->options->name);
    codegen->helpers.arena = &codegen->arena;
    codegen->includes.arena = &codegen->arena;
    codegen->includes_if.arena = &codegen->arena;
    codegen->weights.by_content.arena = &codegen->arena;
    reserve_names(codegen);
    name_symbols(codegen);
    collect_regions(codegen);
}

bool codegen_prepare(struct codegen *codegen, bool *again)
{
    struct function *main = codegen->module->main;
    struct plan *plan = &codegen->plan;
    struct part *part;

    begin(codegen);
    codegen->result->n_plans++;
    if (!choose_kernels(codegen))
        return false;
    part = plan_parts(&codegen->arena, main, codegen->regions, codegen->n_regions,
                      codegen->options->io_in_arena);
    drop_regions(codegen);
    plan_liveness(plan, &codegen->arena, main, part, codegen->regions, codegen->n_regions,
                  codegen->options->io_in_arena);
    plan_alias(plan, &codegen->arena, codegen->regions);
    plan_operands(plan, &codegen->arena, codegen->regions);
    plan_low_scratch(plan, &codegen->arena, codegen->regions);
    if (!configure_regions(codegen))
        return false;
    *again = plan_order(plan, &codegen->arena, *again ? main : NULL, codegen->regions);
    return true;
}

/* Results that reach into what their regions read, now that they have places: these functions are
 * configured again, for arguments that may share memory. */
static bool configure_overlaps(struct codegen *codegen)
{
    bool ok = true;

    plan_take_overlaps(&codegen->plan, codegen->regions);
    for (int i = 0; i < codegen->n_regions && ok; i++) {
        struct region *region = &codegen->regions[i];

        if (!region->place.overlaps)
            continue;
        if (codegen->emitted[i].same_as) {
            region = &codegen->regions[codegen->emitted[i].same_as->index];
            region->place.overlaps = true;
        }
        ok = configure_region(codegen, region);
    }
    return ok;
}

bool codegen_pack(struct codegen *codegen)
{
    struct plan *plan = &codegen->plan;

    if (codegen->options->guard)
        plan_guard(plan, GUARD_ZONE);
    store_constants(codegen);
    offer_constants(codegen);
    plan_overlaps(plan, &codegen->arena, codegen->regions);
    if (!plan_pack(plan, codegen->ctx, codegen->regions, codegen->options->pools,
                   codegen->one_arena ? 0 : codegen->options->n_pools) ||
        !configure_overlaps(codegen))
        return false;
    if (!plan_verify(plan, &codegen->arena, codegen->regions))
        return diag_error(codegen->ctx, DIAG_INTERNAL, NULL,
                          "the memory plan lets values overlap that are needed at the same time");
    settle_constants(codegen);
    name_values(codegen);
    if (is_guarded(codegen) || codegen->module->n_states)
        map_set(&codegen->includes, "string.h", codegen);
    return true;
}
