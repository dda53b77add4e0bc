/* codegen.c - from a plan to files.
 *
 * needs    a module as fuse_ops leaves it (relay_ir/passes/pipeline.h)
 * gives    NAME.h, NAME.c, NAME_weights.*, NAME.json in the output set
 * method   plans are made until one fits (codegen_c/plan/plan_attempts.c); of the one that is kept
 *          each region is printed once, and the files are written */
#include "codegen_c/codegen.h"

#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_json.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/emit_weights.h"
#include "codegen_c/emit/result.h"
#include "codegen_c/plan/plan_attempts.h"
#include "codegen_c/plan/ram.h"
#include "codegen_c/plan/reserve.h"
#include "codegen_c/print/deterministic.h"
#include "codegen_c/print/print_region.h"

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
    ok = regions_are_granted(module) && plan_until_fits(&codegen, &fresh) && ram_check(&codegen) &&
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
