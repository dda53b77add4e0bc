/* codegen.c - the order of work from regions to files.
 *
 * needs    a module as fuse_ops leaves it (relay_ir/passes/pipeline.h)
 * gives    NAME.h, NAME.c, NAME_weights.*, NAME.json in the output set
 * method   choose kernels, alias, configure each region (which says what scratch and weights it
 *          needs), pack the arena; when a plan is kept, print each region once and write the files */
#include "codegen_c/codegen.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/byoc/external.h"
#include "codegen_c/emit/guard.h"
#include "codegen_c/plan/depth_first/stripe.h"
#include "codegen_c/select/configure.h"
#include "codegen_c/text/deterministic.h"
#include "codegen_c/text/parallel.h"
#include "codegen_c/text/print_region.h"
#include "codegen_c/text/reserve.h"
#include "relay_ir/macs.h"

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

/* Results of main are the caller's. */
static size_t largest_value(const struct function *main)
{
    size_t largest = 0;

    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const size_t bytes = type_bytes(&node->outputs[i]->type);

            if (bytes > largest && !value_is_result(node->outputs[i]))
                largest = bytes;
        }
    return largest;
}

static void collect_regions(struct codegen *codegen)
{
    const struct function *main = codegen->module->main;
    const size_t largest = largest_value(main);

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
        region->amx = codegen->amx;
        region->keep_zeros = codegen->options->keep_zeros;
        region->largest = largest;
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

static bool configure_regions(struct codegen *codegen)
{
    bool ok = !codegen->options->optimize_size || share_regions(codegen);

    for (int i = 0; i < codegen->n_regions; i++) {
        ok = (codegen->regions[i].external ? write_external(codegen, &codegen->regions[i])
                                           : configure_region(codegen, &codegen->regions[i])) &&
             ok;
        if (!constants_fit(codegen->module, 0, node_origin(codegen->regions[i].call))) /* packed */
            return false;
    }
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
            if (!(region->place.in_place && region->place.over == i) && /* is the result as well */
                !(region->place.absent && region->place.absent[i]))
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

/* Pointers into the arena in the place of parameters; a concatenation whose parts are all in their
 * places needs none. */
static void name_io(struct codegen *codegen, const bool *used)
{
    const struct function *main = codegen->module->main;

    for (int i = 0; i < main->n_params; i++)
        if (used[main->params[i]->id])
            codegen->local_names[main->params[i]->id] = codegen->input_names[i];
    for (int i = 0; i < main->ret->n_inputs; i++)
        if (used[main->ret->inputs[i]->id])
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
}

static void begin(struct codegen *codegen)
{
    function_number(codegen->module->main);
    /* For Helium always: gcc 12 makes a product and a sum of every a += x * w there. */
    codegen->amx = machine_has_amx(codegen->machine) && !codegen->options->deterministic &&
                   codegen->options->winograd != WINOGRAD_OFF;
    codegen->fused = ((codegen->options->deterministic || codegen->module->rounds_as_onnx) &&
                      codegen->machine->fma) ||
                     codegen->machine->dot == DOT_MVE;
    codegen->upper = upper_case(&codegen->arena, codegen->options->name);
    codegen->helpers.arena = &codegen->arena;
    codegen->includes.arena = &codegen->arena;
    codegen->weights.by_content.arena = &codegen->arena;
    reserve_names(codegen);
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
    plan_tight(plan, &codegen->arena, codegen->regions);
    if (!configure_regions(codegen))
        return false;
    *again = plan_order(plan, &codegen->arena, *again ? main : NULL, codegen->regions);
    return true;
}

/* Results that reach into what their regions read, now that they have places: these functions are
 * configured again, for arguments that may share memory. */
static bool configure_leads(struct codegen *codegen)
{
    bool ok = true;

    plan_take_leads(&codegen->plan, codegen->regions);
    for (int i = 0; i < codegen->n_regions && ok; i++) {
        struct region *region = &codegen->regions[i];

        if (!region->place.leads)
            continue;
        if (codegen->emitted[i].same_as) {
            region = &codegen->regions[codegen->emitted[i].same_as->index];
            region->place.leads = true;
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
    plan_leads(plan, &codegen->arena, codegen->regions);
    if (!plan_pack(plan, codegen->ctx, codegen->regions, codegen->options->pools,
                   codegen->one_arena ? 0 : codegen->options->n_pools) ||
        !configure_leads(codegen))
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

static bool regions_are_granted(const struct module *module)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_CALL;
    return limit_check(module->ctx, LIMIT_REGIONS, NULL, n);
}

/* What is printed for the plan that is kept: nothing of it is looked at before. */
static bool print(struct codegen *codegen)
{
    bool ok = print_regions(codegen);

    for (int i = 0; i < codegen->n_modules && ok; i++)
        ok = external_write_prologue(codegen, &codegen->modules[i]);
    return ok && (!codegen->options->deterministic || deterministic_check(codegen));
}

/* Before anything is written. Of a byte of weights come two to three of text. */
static bool output_is_granted(const struct codegen *codegen)
{
    double bytes = 2.5 * (double)codegen->result->weight_bytes;

    for (int i = 0; i < codegen->n_regions; i++)
        if (codegen->emitted[i].text)
            bytes += (double)strlen(codegen->emitted[i].text);
    return limit_check(codegen->ctx, LIMIT_OUTPUT_BYTES, NULL, bytes);
}

bool codegen_c(struct module *module, const struct codegen_options *options, struct output_set *set,
               struct codegen_result *result)
{
    struct arena whole = { NULL }; /* for all plans that are tried */
    const struct codegen fresh = { .ctx = module->ctx,
                                   .module = module,
                                   .options = options,
                                   .machine = options->machine ? options->machine : &machines[0],
                                   .set = set,
                                   .defined = defined_names(&whole),
                                   .ram = options->n_pools ? 0 : options->ram,
                                   .result = result };
    struct codegen codegen = fresh;
    bool ok;

    *result = (struct codegen_result){ 0 };
    ok = regions_are_granted(module) && plan_anyhow(&codegen, &fresh) && ram_check(&codegen) &&
         ((options->plan_only && !options->deterministic) || print(&codegen));
    if (ok) {
        place_weights(&codegen);
        fill_result(&codegen);
        ok = external_check_files(&codegen) && (options->plan_only || output_is_granted(&codegen));
    }
    if (ok && !options->plan_only) {
        weights_find_ranges(&codegen);
        emit_header(&codegen);
        emit_model(&codegen);
        emit_weights(&codegen);
        emit_external(&codegen);
        emit_json(&codegen);
    }
    module_sweep(module); /* tables and packed weights that binders made */
    arena_release(&codegen.arena);
    arena_release(&whole);
    return ok;
}
