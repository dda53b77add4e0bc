/* result.c - what codegen_c tells its caller (struct codegen_result), in memory that outlives the
 * emission. */
#include "codegen_c/emit/emit_external.h"
#include "codegen_c/emit/result.h"

#include <string.h>

#include "codegen_c/core/stripe.h"
#include "codegen_c/emit/emit_budget.h"
#include "codegen_c/emit/emit_state.h"

/* For the result, which outlives the emission. */
static const struct knob_range *knobs_kept(struct arena *arena, const struct region *region)
{
    struct knob_range *kept =
        arena_memdup(arena, region->config.knobs, sizeof region->config.knobs);

    for (int k = 0; k < KNOB_COUNT; k++) {
        struct knob_range *range = &kept[k];
        const char **values = arena_array(arena, const char *, range->n);

        for (int i = 0; i < range->n; i++) {
            values[i] = arena_strdup(arena, range->values[i]);
            if (region->config.knobs[k].usual == range->values[i])
                range->usual = values[i];
            if (region->config.knobs[k].taken == range->values[i])
                range->taken = values[i];
        }
        range->values = values;
    }
    return kept;
}

static void count_kinds(const struct region *region, struct codegen_result *result)
{
    result->n_skips += region->config.leaves_zeros_out;
    result->n_pairs += region->config.pairs;
    result->n_amx += region->config.amx_more > 0;
    result->amx_weight_bytes += region->config.amx_more;
    if (!region->config.winograd_tile)
        return;
    result->n_winograd++;
    result->winograd_weight_bytes += region->config.winograd_more;
    if (region->config.scratch_bytes > result->winograd_scratch_bytes)
        result->winograd_scratch_bytes = region->config.scratch_bytes;
}

/* A multiple of every ARENA_ALIGN. */
static size_t pool_room(const struct plan *plan, int p)
{
    enum { ALIGN = 64 };

    return (plan->pools[p].bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static const size_t *pool_rooms(const struct codegen *codegen)
{
    const struct plan *plan = &codegen->plan;
    size_t *bytes = arena_array(&codegen->ctx->perm, size_t, plan->n_pools);

    for (int p = 0; p < plan->n_pools; p++)
        bytes[p] = pool_room(plan, p);
    return bytes;
}

static const size_t *pool_sizes(const struct codegen *codegen, bool constants)
{
    const struct plan *plan = &codegen->plan;
    size_t *bytes = arena_array(&codegen->ctx->perm, size_t, plan->n_pools);

    for (int p = 0; p < plan->n_pools; p++)
        bytes[p] = constants ? plan->pools[p].constant_bytes : plan->pools[p].bytes;
    return bytes;
}

/* Where a value is, for those who see the pools as one arena. */
static struct codegen_place place_in_all(const struct codegen *codegen, const struct value *value)
{
    const struct plan *plan = &codegen->plan;
    const int block = plan->block[value->id];
    struct codegen_place place = plan->place[value->id];

    for (int p = 0; block >= 0 && p < plan->blocks[block].pool; p++)
        place.offset += pool_room(plan, p);
    if (place.kind == PLACE_OUTPUT && state_of_result(codegen->module, place.index)) {
        place.kind = PLACE_ARENA;
        place.offset += codegen->result->state_place +
                        state_offset(codegen, (int)(state_of_result(codegen->module, place.index) -
                                                    codegen->module->states));
    }
    return place;
}

static void place_states(struct codegen *codegen)
{
    const int n = codegen->module->n_states;
    size_t *at = arena_array(&codegen->ctx->perm, size_t, n);

    for (int p = 0; p < codegen->plan.n_pools; p++)
        codegen->result->state_place += pool_room(&codegen->plan, p);
    for (int i = 0; i < n; i++)
        at[i] = state_offset(codegen, i);
    codegen->result->state_at = at;
    codegen->result->state_bytes = n ? state_bytes(codegen) : 0;
}

static const struct codegen_place *all_places(const struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    struct codegen_place *places =
        arena_array(&codegen->ctx->perm, struct codegen_place, main->n_values);

    for (int i = 0; i < main->n_params; i++)
        places[main->params[i]->id] = place_in_all(codegen, main->params[i]);
    for (const struct value *v = main->constants; v; v = v->next)
        places[v->id] = place_in_all(codegen, v);
    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            places[node->outputs[i]->id] = place_in_all(codegen, node->outputs[i]);
    return places;
}

static void count_stripes(const struct region *region, struct codegen_result *result)
{
    if (!is_striped(region->fn))
        return;
    result->n_stripes++;
    for (const struct node *call = region->fn->first; call; call = call->next)
        result->n_striped++;
}

void fill_result(struct codegen *codegen)
{
    struct codegen_result *result = codegen->result;
    struct arena *arena = &codegen->ctx->perm;
    struct codegen_region *regions = arena_array(arena, struct codegen_region, codegen->n_regions);
    struct map nodes = { .arena = &codegen->arena };
    /* .h .c .json _weights.h */
    const int max_files = codegen->n_weight_files + 4 + external_count_files(codegen);

    place_states(codegen);
    result->files = arena_array(arena, const char *, max_files);
    codegen->writers = arena_array(&codegen->arena, struct writer *, max_files);
    for (int i = 0; i < codegen->n_listed; i++) {
        const struct node *call = codegen->regions[i].call;
        struct codegen_place *results = arena_array(arena, struct codegen_place, call->n_outputs);

        for (int k = 0; k < call->n_outputs; k++)
            results[k] = place_in_all(codegen, call->outputs[k]);
        regions[i] = (struct codegen_region){
            .call = call,
            .c_name = arena_strdup(arena, codegen->regions[i].c_name),
            .compiler = codegen->regions[i].external ? codegen->regions[i].fn->compiler : NULL,
            .kernel =
                codegen->regions[i].config.kernel ? codegen->regions[i].config.kernel->name : NULL,
            .sums = codegen->regions[i].config.kernel ? codegen->regions[i].config.kernel->sums
                                                      : SUMS_NOT_SIMULATED,
            .signature = codegen->emitted[i].signature,
            .chosen = codegen->regions[i].choice != NULL,
            .knobs = codegen->emitted[i].signature ? knobs_kept(arena, &codegen->regions[i]) : NULL,
            .features = arena_memdup(arena, &codegen->regions[i].config.features,
                                     sizeof codegen->regions[i].config.features),
            .overlaps = codegen->regions[i].place.overlaps,
            .macs = codegen->emitted[i].macs,
            .weight_bytes = codegen->emitted[i].weight_bytes,
            .results = results
        };
        for (const struct origin *o = call->origin; o; o = o->next)
            map_set(&nodes, arena_printf(&codegen->arena, "%ld", o->index), codegen);
        result->macs += codegen->emitted[i].macs;
        count_kinds(&codegen->regions[i], result);
        count_stripes(&codegen->regions[i], result);
    }
    result->regions = regions;
    result->places = all_places(codegen);
    result->n_regions = codegen->n_listed;
    result->n_onnx_nodes =
        codegen->module->n_onnx_nodes ? codegen->module->n_onnx_nodes : (int)nodes.n;
    result->arena_bytes = codegen->plan.arena_bytes;
    result->pool_bytes = pool_sizes(codegen, false);
    result->pool_room = pool_rooms(codegen);
    result->pool_constant_bytes = pool_sizes(codegen, true);
    result->arena_lower_bound = codegen->plan.lower_bound;
    result->arena_order_bound = codegen->plan.order_bound;
    result->arena_optimal =
        !codegen->options->n_pools && result->arena_bytes == result->arena_order_bound;
    result->weight_bytes = codegen->weights.bytes;
    find_peak(codegen);
    external_host_files(codegen);
}
