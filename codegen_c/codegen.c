/* codegen.c - the order of work from regions to files.
 *
 * needs    a module as fuse_ops leaves it (relay_ir/passes/pipeline.h)
 * gives    NAME.h, NAME.c, NAME_weights.*, NAME.json in the output set
 * method   choose kernels, alias, write each region's text (which says what scratch and weights it
 *          needs), pack the arena, write the files */
#include "codegen_c/codegen.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/deterministic.h"
#include "codegen_c/external.h"
#include "codegen_c/guard.h"
#include "codegen_c/plan/stripe.h"
#include "codegen_c/signature.h"
#include "relay_ir/macs.h"

/* Functions of the helpers, so that no array of the model takes their names. */
static void reserve_helpers(struct codegen *codegen)
{
    for (size_t i = 0; i < n_embedded_files; i++) {
        const char *at = embedded_files[i].text;

        if (!str_starts(embedded_files[i].path, "runtime/embed/"))
            continue;
        while ((at = strstr(at, "static ")) != NULL) {
            const char *end = at += strcspn(at, "("), *start = end;

            while (start[-1] == '_' || (start[-1] >= '0' && start[-1] <= '9') ||
                   (start[-1] >= 'a' && start[-1] <= 'z'))
                start--;
            names_reserve(&codegen->names,
                          arena_strndup(&codegen->arena, start, (size_t)(end - start)));
        }
    }
}

static void reserve_names(struct codegen *codegen)
{
    static const char *const lower[] = { "run",      "step",       "weights", "parallel_for",
                                         "fits_ram", "fits_flash", "overrun" };
    static const char *const upper[] = {
        "OK",          "NULL_POINTER", "MISALIGNED_ARENA", "NO_REGION",   "REGION_FAILED",
        "ARENA_BYTES", "ARENA_ALIGN",  "REGIONS",          "H",           "WRONG_ARITHMETIC",
        "PARTS",       "THREADS",      "WEIGHTS_H",        "STACK_BYTES", "RAM_BYTES",
        "FLASH_BYTES", "WEIGHT_BYTES", "CODE_BYTES",       "DATA_BYTES"
    };
    static const char *const macros[] = { "arithmetic_is_strict",
                                          "part_begin",
                                          "run_parts",
                                          "FUSE",
                                          "FUSE_VECTOR",
                                          "FUSE_VECTOR4",
                                          "FUSE_VECTOR8",
                                          "FUSE_FLOAT",
                                          "fuse_lanes",
                                          "CACHE_LINE",
                                          "LANES",
                                          "LANES4",
                                          "LANES8",
                                          "WIDE",
                                          "WIDE_LOOPS",
                                          "NOINLINE",
                                          "PIXELS",
                                          "TILE",
                                          "PIXELS_4",
                                          "TILE_4",
                                          "PIXELS_8",
                                          "TILE_8",
                                          "PIXELS_16",
                                          "TILE_16",
                                          "vector_f32" };

    names_init(&codegen->names, &codegen->arena);
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++)
        names_reserve(&codegen->names,
                      arena_printf(&codegen->arena, "%s_%s", codegen->options->name, lower[i]));
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++)
        names_reserve(&codegen->names,
                      arena_printf(&codegen->arena, "%s_%s", codegen->upper, upper[i]));
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        names_reserve(&codegen->names, macros[i]);
    reserve_helpers(codegen);
}

static const char *region_name(struct codegen *codegen, const struct region *region)
{
    const char *symbol = region->fn->global_symbol ? region->fn->global_symbol : region->fn->name;
    const char *wanted = is_external(region->fn)
                             ? arena_printf(&codegen->arena, "%s_%s", codegen->options->name,
                                            c_identifier(&codegen->arena, symbol))
                             : arena_printf(&codegen->arena, "region_%s",
                                            c_identifier(&codegen->arena, region_title(region)));

    return names_unique(&codegen->names, wanted);
}

static void collect_regions(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;

    codegen->regions = arena_array(&codegen->arena, struct region, main->n_nodes);
    codegen->emitted = arena_array(&codegen->arena, struct emitted, main->n_nodes);
    for (struct node *node = main->first; node; node = node->next) {
        struct region *region = &codegen->regions[codegen->n_regions];

        if (node->op != OP_CALL)
            continue;
        region->fn = node->callee;
        region->call = node;
        region->index = codegen->n_regions++;
        region->machine = codegen->machine;
        region->winograd = codegen->options->winograd;
        if (is_external(region->fn)) {
            region->c_name = region_name(codegen, region);
            codegen->emitted[region->index].macs = external_macs(region->fn);
            continue;
        }
        region->anchor = region_anchor(region->fn);
        region->c_name = region_name(codegen, region);
        if (is_striped(region->fn))
            codegen->emitted[region->index].macs = external_macs(region->fn);
        for (const struct node *n = region->fn->first; n; n = n->next)
            codegen->emitted[region->index].macs += node_macs(n);
    }
}

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

static bool choose_kernels(struct codegen *codegen)
{
    bool ok = true;

    for (int i = 0; i < codegen->n_regions; i++) {
        struct region *region = &codegen->regions[i];

        ok = check_sizes(codegen, region->fn) && ok;
        if (is_external(region->fn)) {
            ok = external_prepare(codegen, region) && ok;
            continue;
        }
        codegen->emitted[i].signature = region_signature(&codegen->ctx->perm, region->fn);
        if (codegen->options->choices)
            region->choice =
                map_get(&codegen->options->choices->by_signature, codegen->emitted[i].signature);
        region->kernel = kernel_choose(codegen->ctx, region);
        ok = region->kernel && ok;
        /* Parts that run at the same time keep no order; pools are packed without leads. */
        region->can_lead = codegen->options->parts <= 1 && codegen->options->n_pools == 0 &&
                           kernel_leads(region, &region->lead);
    }
    return ok;
}

/* Types of what passes through main untouched are checked here; regions have kernels that do. */
static bool check_interface(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    bool ok = true;

    for (int i = 0; i < main->n_params + main->ret->n_inputs; i++) {
        const struct value *value =
            i < main->n_params ? main->params[i] : main->ret->inputs[i - main->n_params];

        if (*dtype_c_type(value->type.dtype))
            continue;
        ok = diag_error(codegen->ctx, DIAG_NO_KERNEL, NULL, "%s '%s' is %s, which has no type in C",
                        i < main->n_params ? "input" : "output",
                        str_safe(&codegen->ctx->perm, value->name, 80),
                        dtype_name(value->type.dtype));
    }
    return ok;
}

static bool write_regions(struct codegen *codegen)
{
    bool ok = !codegen->options->optimize_size || share_regions(codegen);

    for (int i = 0; i < codegen->n_regions; i++)
        ok = (codegen->regions[i].external ? write_external(codegen, &codegen->regions[i])
                                           : write_region(codegen, &codegen->regions[i])) &&
             ok;
    for (int i = 0; i < codegen->n_modules && ok; i++)
        ok = external_write_prologue(codegen, &codegen->modules[i]);
    return ok;
}

/* What calls in NAME_run are given, by the ids of roots. A concatenation without a region may be
 * part of another one only. */
static bool *find_arguments(struct codegen *codegen)
{
    bool *used = arena_array(&codegen->arena, bool, codegen->module->main->n_values);

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct region *region = &codegen->regions[r];

        for (int i = 0; i < region->call->n_inputs; i++)
            if (!(region->in_place && region->over == i) && /* is the result as well */
                !(region->absent && region->absent[i]))
                used[codegen->plan.root[region->call->inputs[i]->id]->id] = true;
        for (int i = 0; i < region->call->n_outputs; i++)
            used[region->call->outputs[i]->id] = true;
    }
    return used;
}

/* What main itself reads of constants. */
static const char *stored_constant(struct codegen *codegen, const struct value *value)
{
    return value->uses ? weights_read(codegen, 0, NULL, value->name, &value->type, value->data, "")
                             ->expression
                       : NULL;
}

static void store_constants(struct codegen *codegen)
{
    for (const struct value *v = codegen->module->main->constants; v; v = v->next)
        stored_constant(codegen, v);
}

/* Pointers into the arena in the place of parameters. */
static void name_io(struct codegen *codegen, const bool *used)
{
    const struct function *main = codegen->module->main;

    for (int i = 0; i < main->n_params; i++)
        if (used[main->params[i]->id])
            codegen->local_names[main->params[i]->id] = codegen->input_names[i];
    for (int i = 0; i < main->ret->n_inputs; i++)
        codegen->local_names[main->ret->inputs[i]->id] = codegen->output_names[i];
}

/* Parameters of NAME_run and the pointers in it. */
static void name_values(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    struct arena *arena = &codegen->arena;
    const bool *used = find_arguments(codegen);
    struct names locals;

    names_init(&locals, arena);
    for (size_t i = 0; i < codegen->names.taken.n; i++)
        names_reserve(&locals, codegen->names.taken.entries[i].key);
    for (int p = 0; p < codegen->plan.n_pools; p++) {
        names_reserve(&locals, pool_arena(codegen, p));
        names_reserve(&locals, pool_base(codegen, p));
    }
    names_reserve(&locals, "region");
    names_reserve(&locals, "code");
    codegen->input_names = arena_array(arena, const char *, main->n_params);
    codegen->output_names = arena_array(arena, const char *, main->ret->n_inputs);
    codegen->local_names = arena_array(arena, const char *, main->n_values);
    for (int i = 0; i < main->n_params; i++)
        codegen->input_names[i] = names_unique(&locals, c_identifier(arena, main->params[i]->name));
    for (int i = 0; i < main->ret->n_inputs; i++)
        codegen->output_names[i] =
            names_unique(&locals, c_identifier(arena, main->result_names[i]));
    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *value = node->outputs[i];

            if (codegen->plan.root[value->id] == value && used[value->id] &&
                (codegen->plan.block[value->id] >= 0 || codegen->plan.part[value->id].whole))
                codegen->local_names[value->id] =
                    names_unique(&locals, c_identifier(arena, value->name));
        }
    if (io_is_inside(codegen))
        name_io(codegen, used);
    for (struct value *v = main->constants; v; v = v->next)
        codegen->local_names[v->id] = stored_constant(codegen, v);
}

/* For the result, which outlives the emission. */
static const struct knob_range *knobs_kept(struct arena *arena, const struct region *region)
{
    struct knob_range *kept = arena_memdup(arena, region->knobs, sizeof region->knobs);

    for (int k = 0; k < KNOB_COUNT; k++) {
        struct knob_range *range = &kept[k];
        const char **values = arena_array(arena, const char *, range->n);

        for (int i = 0; i < range->n; i++) {
            values[i] = arena_strdup(arena, range->values[i]);
            if (region->knobs[k].usual == range->values[i])
                range->usual = values[i];
            if (region->knobs[k].taken == range->values[i])
                range->taken = values[i];
        }
        range->values = values;
    }
    return kept;
}

static void count_winograd(const struct region *region, struct codegen_result *result)
{
    if (!region->winograd_tile)
        return;
    result->n_winograd++;
    result->winograd_weight_bytes += region->winograd_more;
    if (region->scratch_bytes > result->winograd_scratch_bytes)
        result->winograd_scratch_bytes = region->scratch_bytes;
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
        place.offset += plan->pools[p].bytes;
    return place;
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

static void fill_result(struct codegen *codegen)
{
    struct codegen_result *result = codegen->result;
    struct arena *arena = &codegen->ctx->perm;
    struct codegen_region *regions = arena_array(arena, struct codegen_region, codegen->n_regions);
    struct map nodes = { .arena = &codegen->arena };
    /* .h .c .json _weights.h */
    const int max_files = codegen->n_weight_files + 4 + external_count_files(codegen);

    result->files = arena_array(arena, const char *, max_files);
    codegen->writers = arena_array(&codegen->arena, struct writer *, max_files);
    for (int i = 0; i < codegen->n_regions; i++) {
        const struct node *call = codegen->regions[i].call;
        struct codegen_place *results = arena_array(arena, struct codegen_place, call->n_outputs);

        for (int k = 0; k < call->n_outputs; k++)
            results[k] = place_in_all(codegen, call->outputs[k]);
        regions[i] = (struct codegen_region){
            .call = call,
            .c_name = arena_strdup(arena, codegen->regions[i].c_name),
            .compiler = codegen->regions[i].external ? codegen->regions[i].fn->compiler : NULL,
            .kernel = codegen->regions[i].kernel ? codegen->regions[i].kernel->name : NULL,
            .signature = codegen->emitted[i].signature,
            .chosen = codegen->regions[i].choice != NULL,
            .knobs = codegen->emitted[i].signature ? knobs_kept(arena, &codegen->regions[i]) : NULL,
            .features = arena_memdup(arena, &codegen->regions[i].features,
                                     sizeof codegen->regions[i].features),
            .leads = codegen->regions[i].leads,
            .macs = codegen->emitted[i].macs,
            .weight_bytes = codegen->emitted[i].weight_bytes,
            .results = results
        };
        for (const struct origin *o = call->origin; o; o = o->next)
            map_set(&nodes, arena_printf(&codegen->arena, "%ld", o->index), codegen);
        result->macs += codegen->emitted[i].macs;
        count_winograd(&codegen->regions[i], result);
        count_stripes(&codegen->regions[i], result);
    }
    result->regions = regions;
    result->places = all_places(codegen);
    result->n_regions = codegen->n_regions;
    result->n_onnx_nodes =
        codegen->module->n_onnx_nodes ? codegen->module->n_onnx_nodes : (int)nodes.n;
    result->arena_bytes = codegen->plan.arena_bytes;
    result->pool_bytes = pool_sizes(codegen, false);
    result->pool_constant_bytes = pool_sizes(codegen, true);
    result->arena_naive_bytes = codegen->plan.naive_bytes;
    result->weight_bytes = codegen->weights.bytes;
    find_peak(codegen);
    external_host_files(codegen);
}

/* Concatenations all of whose operands are written where they belong. */
static void drop_regions(struct codegen *codegen)
{
    int n = 0;

    for (int r = 0; r < codegen->n_regions; r++) {
        const struct region *region = &codegen->regions[r];
        bool is_there = region->absent == NULL;

        for (int i = 0; i < region->call->n_inputs && !is_there; i++)
            is_there = !region->absent[i];
        if (!is_there && region->anchor->n_inputs == region->call->n_inputs)
            continue;
        codegen->regions[n] = codegen->regions[r];
        codegen->emitted[n] = codegen->emitted[r];
        codegen->regions[n].index = n;
        n++;
    }
    codegen->n_regions = n;
}

static void begin(struct codegen *codegen)
{
    function_number(codegen->module->main);
    codegen->fused = codegen->options->deterministic && codegen->machine->fma;
    codegen->upper = upper_case(&codegen->arena, codegen->options->name);
    codegen->helpers.arena = &codegen->arena;
    codegen->includes.arena = &codegen->arena;
    codegen->weights.by_content.arena = &codegen->arena;
    reserve_names(codegen);
    collect_regions(codegen);
}

/* Regions, their text, and the plan but offsets. *again, if it was true: whether main has got a
 * better order, so that all is to be done again. */
static bool prepare(struct codegen *codegen, bool *again)
{
    struct function *main = codegen->module->main;
    struct plan *plan = &codegen->plan;
    struct part *part;
    bool ok;

    begin(codegen);
    ok = check_interface(codegen);
    if (!choose_kernels(codegen) || !ok)
        return false;
    part = plan_parts(&codegen->arena, main, codegen->regions, codegen->n_regions,
                      codegen->options->io_in_arena);
    drop_regions(codegen);
    plan_liveness(plan, &codegen->arena, main, part, codegen->regions, codegen->n_regions,
                  codegen->options->io_in_arena);
    plan_alias(plan, &codegen->arena, codegen->regions);
    plan_pitches(plan, &codegen->arena, codegen->regions);
    if (!write_regions(codegen))
        return false;
    *again = plan_order(plan, &codegen->arena, *again ? main : NULL, codegen->regions);
    return true;
}

/* Results that reach into what their regions read, now that they have places: these functions are
 * written again, for arguments that may share memory. */
static bool write_leads(struct codegen *codegen)
{
    bool ok = true;

    plan_take_leads(&codegen->plan, codegen->regions);
    for (int i = 0; i < codegen->n_regions && ok; i++) {
        struct region *region = &codegen->regions[i];

        if (!region->leads)
            continue;
        if (codegen->emitted[i].same_as) {
            region = &codegen->regions[codegen->emitted[i].same_as->index];
            region->leads = true;
        }
        ok = write_region(codegen, region);
    }
    return ok;
}

static bool pack(struct codegen *codegen)
{
    struct plan *plan = &codegen->plan;

    if (codegen->options->deterministic && !deterministic_check(codegen))
        return false;
    if (codegen->options->guard)
        plan_guard(plan, GUARD_ZONE);
    store_constants(codegen);
    offer_constants(codegen);
    plan_leads(plan, &codegen->arena, codegen->regions);
    if (!plan_pack(plan, codegen->ctx, codegen->regions, codegen->options->pools,
                   codegen->one_arena ? 0 : codegen->options->n_pools) ||
        !write_leads(codegen))
        return false;
    if (!plan_verify(plan, &codegen->arena, codegen->regions))
        return diag_error(codegen->ctx, DIAG_INTERNAL, NULL,
                          "the memory plan lets values overlap that are needed at the same time");
    settle_constants(codegen);
    name_values(codegen);
    if (is_guarded(codegen))
        map_set(&codegen->includes, "string.h", codegen);
    return true;
}

/* Times that the order may change: scratch depends a little on it, so that two orders could each be
 * the better one by the other's scratch. */
enum { ORDERS = 3 };

/* From the module to a packed arena; main may have got another order. */
static bool plan_all(struct codegen *codegen, const struct codegen *fresh)
{
    bool again = true, ok = prepare(codegen, &again);

    for (int i = 1; ok && again; i++) {
        arena_release(&codegen->arena);
        module_sweep(fresh->module);
        *codegen = *fresh;
        again = i < ORDERS;
        ok = prepare(codegen, &again);
    }
    return ok && pack(codegen);
}

static bool plan_anew(struct codegen *codegen, const struct codegen *fresh)
{
    arena_release(&codegen->arena);
    module_sweep(fresh->module);
    *codegen = *fresh;
    return plan_all(codegen, fresh);
}

/* Times that a plan with stripes may turn out to need more than the search had reckoned. */
enum { STRIPE_TRIALS = 4 };

/* Where the arena takes more than it may: parts of the network in stripes. The smallest arena that
 * was found stays, which is the one without stripes where these do not help. */
static bool plan_stripes(struct codegen *codegen, const struct codegen *fresh)
{
    const size_t ram = codegen->ram, whole = codegen->plan.arena_bytes;
    struct arena arena = { NULL };
    struct stripe_search *search;
    struct stripe_plan best = { .bytes = whole }, tried = { .n = 0 };
    size_t wanted = ram;
    bool ok = true;

    if (!ram || whole <= ram)
        return true;
    search = stripe_search_new(&arena, &codegen->plan, codegen->regions);
    for (int i = 0; ok && i < STRIPE_TRIALS && best.bytes > ram; i++) {
        tried = stripe_search_plan(search, wanted);
        if (tried.n == 0)
            break;
        ok = stripes_outline(codegen->module, &tried) && plan_anew(codegen, fresh);
        if (!ok)
            break;
        if (codegen->plan.arena_bytes < best.bytes) {
            best = tried;
            best.bytes = codegen->plan.arena_bytes;
        }
        if (codegen->plan.arena_bytes <= ram)
            break;
        ok = stripes_inline(codegen->module);
        wanted = tried.bytes - (codegen->plan.arena_bytes - tried.bytes) - 1;
        if (tried.bytes > ram || codegen->plan.arena_bytes <= tried.bytes) /* no plan needs less */
            break;
    }
    if (ok && codegen->plan.arena_bytes > ram)
        ok = (best.n == 0 || stripes_outline(codegen->module, &best)) && plan_anew(codegen, fresh);
    codegen->result->arena_whole_bytes = whole;
    arena_release(&arena);
    return ok;
}

/* Stripes as for one arena of so many bytes, and then into the pools. */
static bool plan_striped_pools(struct codegen *codegen, const struct codegen *fresh, size_t ram)
{
    struct codegen one = *fresh;

    one.one_arena = true;
    one.ram = ram;
    return stripes_inline(fresh->module) && plan_anew(codegen, &one) &&
           plan_stripes(codegen, &one) && plan_anew(codegen, fresh);
}

static bool fits_ram(const struct codegen *codegen)
{
    return !codegen->options->ram || codegen->plan.arena_bytes <= codegen->options->ram;
}

/* With --pool. Where layers do not fit as they are, they are computed in stripes: for as much as
 * the pools have together, then for the greatest alone, as blocks lie in one pool or another. */
static bool plan_pools_and_stripes(struct codegen *codegen, const struct codegen *fresh)
{
    const struct codegen_options *options = codegen->options;
    struct diags saved = diag_save(codegen->ctx);
    size_t sum = 0, greatest = 0, most[2];
    bool whole, ok;

    for (int p = 0; p < options->n_pools; p++)
        if (options->pools[p].takes != POOL_OF_CONSTANTS) {
            sum += options->pools[p].bytes;
            greatest = options->pools[p].bytes > greatest ? options->pools[p].bytes : greatest;
        }
    if (options->ram && options->ram < sum)
        sum = options->ram;
    most[0] = sum;
    most[1] = greatest < sum ? greatest : 0;
    whole = plan_all(codegen, fresh);
    ok = whole && fits_ram(codegen);
    if (ok && codegen->ctx->diags.n_warnings) { /* once more, for these */
        diag_restore(codegen->ctx, saved);
        return plan_anew(codegen, fresh);
    }
    if (!whole && codegen->ctx->diags.latest->code != DIAG_RAM)
        most[0] = most[1] = 0;
    for (int i = 0; i < 2 && !ok && most[i]; i++) {
        diag_restore(codegen->ctx, saved);
        saved = diag_save(codegen->ctx);
        whole = plan_striped_pools(codegen, fresh, most[i]);
        ok = whole && fits_ram(codegen);
    }
    diag_restore(codegen->ctx, saved);
    if (whole) /* --ram is for the caller to judge */
        return true;
    ok = stripes_inline(fresh->module) && plan_anew(codegen, fresh); /* for its errors */
    if (!ok && most[0])
        diag_note(codegen->ctx, "layers in stripes do not fit either (docs/memory.md)");
    return ok;
}

bool codegen_c(struct module *module, const struct codegen_options *options, struct output_set *set,
               struct codegen_result *result)
{
    const struct codegen fresh = { .ctx = module->ctx,
                                   .module = module,
                                   .options = options,
                                   .machine = options->machine ? options->machine : &machines[0],
                                   .set = set,
                                   .ram = options->n_pools ? 0 : options->ram,
                                   .result = result };
    struct codegen codegen = fresh;
    bool ok;

    *result = (struct codegen_result){ 0 };
    if ((options->ram || options->n_pools) && !stripes_inline(module)) /* of a call before */
        return false;
    if (options->n_pools)
        ok = plan_pools_and_stripes(&codegen, &fresh);
    else
        ok = plan_all(&codegen, &fresh) && plan_stripes(&codegen, &fresh);
    ok = ok && ram_check(&codegen);
    if (ok) {
        place_weights(&codegen);
        fill_result(&codegen);
        ok = external_check_files(&codegen);
    }
    if (ok && !options->plan_only) {
        emit_header(&codegen);
        emit_model(&codegen);
        emit_weights(&codegen);
        emit_external(&codegen);
        emit_json(&codegen);
    }
    module_sweep(module); /* tables and packed weights that binders made */
    arena_release(&codegen.arena);
    return ok;
}
