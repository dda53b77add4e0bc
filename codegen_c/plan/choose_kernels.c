/* choose_kernels.c - which kernel each region gets. */
#include "codegen_c/plan/choose_kernels.h"

#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/state.h"
#include "codegen_c/print/parallel.h"
#include "codegen_c/select/signature.h"

/* Indices in the generated code are int. */
static bool check_value(struct codegen *codegen, const struct node *node, const struct value *value)
{
    if (type_elements(&value->type) <= INT32_MAX)
        return true;
    return diag_error(codegen->ctx, DIAG_TOO_BIG, node_origin(node),
                      "a tensor of shape %s has more than 2147483647 elements",
                      shape_text(&codegen->ctx->perm, &value->type));
}

/* Of a region, and of the composites in it. */
static bool check_sizes(struct codegen *codegen, const struct function *fn)
{
    bool ok = true;

    for (const struct node *n = fn->first; n; n = n->next) {
        if (n->callee)
            ok = check_sizes(codegen, n->callee) && ok;
        for (int i = 0; i < n->n_inputs; i++)
            ok = (!n->inputs[i] || check_value(codegen, n, n->inputs[i])) && ok;
        for (int i = 0; i < n->n_outputs; i++)
            ok = check_value(codegen, n, n->outputs[i]) && ok;
    }
    return ok;
}

static bool choose_kernel(struct codegen *codegen, struct region *region)
{
    region->config.kernel = kernel_choose(codegen->ctx, region);
    region->config.parts = region_is_split(codegen, region) ? codegen->options->parts : 1;
    /* Parts that run at the same time keep no order; pools are packed without overlaps. */
    region->config.can_overlap = codegen->options->parts <= 1 && codegen->options->n_pools == 0 &&
                                 kernel_overlaps(region, &region->config.overlap);
    return region->config.kernel != NULL;
}

/* What the largest variant has taken, if it was compiled alone. */
static void collect_hints(struct codegen *codegen)
{
    const struct codegen_result *largest = codegen->options->largest;

    codegen->hints.arena = &codegen->arena;
    for (int i = 0; largest && i < largest->n_regions; i++) {
        const struct codegen_region *region = &largest->regions[i];
        struct choice *choice = arena_new(&codegen->arena, struct choice);

        for (int k = 0; k < KNOB_COUNT && region->knobs; k++)
            choice->value[k] = region->knobs[k].n ? region->knobs[k].taken : NULL;
        map_set(&codegen->hints, region->call->outputs[0]->name, choice);
    }
}

/* The smaller variants are written like it, so that their regions can be one function; where the text does not depend on
 * the size, it is alike without that. */
static void take_hint(struct codegen *codegen, struct region *region)
{
    if (region->variant == 0 || region->choice || region->size_varies)
        return;
    region->choice = map_get(&codegen->hints, region->call->outputs[0]->name);
    region->choice_is_hint = region->choice != NULL;
}

static bool is_chosen(struct codegen *codegen, struct region *region)
{
    if (is_external(region->fn))
        return external_prepare(codegen, region);
    codegen->emitted[region->index].signature = region_signature(&codegen->ctx->perm, region->fn);
    if (codegen->options->choices)
        region->choice = map_get(&codegen->options->choices->by_signature,
                                 codegen->emitted[region->index].signature);
    take_hint(codegen, region);
    return choose_kernel(codegen, region);
}

static bool multiplies_by_amx(const struct region *region)
{
    return region->config.kernel && strcmp(region->config.kernel->name, "conv_amx") == 0;
}

/* The core's clock is 2 to 5 % slower for a while after such products (measured: Granite Rapids),
 * which the rest of the network feels, too. */
static bool amx_pays(const struct codegen *codegen)
{
    enum { LEAST_SHARE = 20 /* of all products one in this many */ };
    int64_t all = 0, by_amx = 0;

    for (int i = 0; i < codegen->n_regions; i++) {
        all += codegen->emitted[i].macs;
        if (multiplies_by_amx(&codegen->regions[i]))
            by_amx += codegen->emitted[i].macs;
    }
    return by_amx > all / LEAST_SHARE;
}

bool choose_kernels(struct codegen *codegen)
{
    bool ok = true;

    collect_hints(codegen);
    for (int i = 0; i < codegen->n_regions; i++) {
        ok = check_sizes(codegen, codegen->regions[i].fn) && ok;
        ok = is_chosen(codegen, &codegen->regions[i]) && ok;
    }
    if (!codegen->amx || amx_pays(codegen))
        return ok;
    codegen->amx = false;
    for (int i = 0; i < codegen->n_regions; i++) {
        struct region *region = &codegen->regions[i];

        region->amx = region->choice != NULL; /* it says what it wants */
        if (multiplies_by_amx(region) && !region->amx)
            ok = choose_kernel(codegen, region) && ok;
    }
    return ok;
}
