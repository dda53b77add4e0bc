/* codegen.c - from a plan to files.
 *
 * needs    a module as fuse_ops leaves it (relay_ir/passes/pipeline.h)
 * gives    NAME.h, NAME.c, NAME_weights.*, NAME.json in the output set
 * method   select and plan until a plan fits (codegen_c/plan/plan_attempts.c); then each region is
 *          printed once, and the files are written */
#include "codegen_c/codegen.h"

#include <string.h>

#include "codegen_c/core/packed.h"
#include "codegen_c/core/weights.h"
#include "codegen_c/emit/emit_external.h"
#include "codegen_c/emit/emit_header.h"
#include "codegen_c/emit/emit_json.h"
#include "codegen_c/emit/emit_kernels.h"
#include "codegen_c/emit/emit_loops.h"
#include "codegen_c/emit/emit_model.h"
#include "codegen_c/emit/emit_weights.h"
#include "codegen_c/emit/result.h"
#include "codegen_c/plan/plan_attempts.h"
#include "codegen_c/plan/ram.h"
#include "codegen_c/plan/reserve.h"
#include "codegen_c/print/deterministic.h"
#include "codegen_c/print/fold.h"
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
    if (!print_regions(codegen) || !print_externals(codegen))
        return false;
    return !codegen->options->deterministic || deterministic_check(codegen);
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

static void write_files(struct codegen *codegen, const struct model_parts *parts)
{
    const struct model_text model = make_model(codegen, parts);

    weights_find_statistics(codegen);
    emit_header(codegen);
    emit_model(codegen, &model);
    emit_weights(codegen);
    emit_external(codegen);
    emit_json(codegen);
}

struct planned_code {
    struct arena whole; /* for all plans that are tried */
    struct packed packed;
    struct codegen fresh, codegen; /* what each plan begins with; the plan that is kept */
};

struct planned_code *codegen_plan(struct module *module, const struct codegen_options *options,
                                  struct codegen_result *result)
{
    struct planned_code *code = arena_new(&module->ctx->perm, struct planned_code);
    bool ok;

    *result = (struct codegen_result){ 0 };
    code->packed.by_key.arena = &code->packed.arena;
    code->fresh = (struct codegen){ .ctx = module->ctx,
                                    .module = module,
                                    .options = options,
                                    .machine = options->machine ? options->machine : &machines[0],
                                    .defined = defined_names(&code->whole),
                                    .packed = &code->packed,
                                    .readable = weights_are_readable(module),
                                    .ram = options->n_pools ? 0 : options->ram,
                                    .result = result };
    code->codegen = code->fresh;
    ok = regions_are_granted(module) && plan_until_fits(&code->codegen, &code->fresh) &&
         ram_check(&code->codegen);
    if (ok) {
        place_weights(&code->codegen);
        fill_result(&code->codegen);
        ok = external_check_files(&code->codegen);
    }
    if (ok)
        return code;
    codegen_free(code);
    return NULL;
}

bool codegen_print(struct planned_code *code, struct output_set *set)
{
    return codegen_print_set(&code, 1, set, NULL);
}

bool codegen_print_set(struct planned_code *const codes[], int n, struct output_set *set,
                       struct kernels_result *shared)
{
    struct arena *arena = &codes[0]->codegen.arena;
    struct codegen **all = arena_array(arena, struct codegen *, n);
    struct model_parts *parts = arena_array(arena, struct model_parts, n);
    struct kernels *kernels = NULL;

    for (int i = 0; i < n; i++) {
        all[i] = &codes[i]->codegen;
        all[i]->set = set;
        all[i]->functions.arena = arena;
        if (!print(all[i]) || !output_is_granted(all[i]))
            return false;
    }
    if (all[0]->options->share || all[0]->options->optimize_size)
        fold_shapes(all, n);
    for (int i = 0; i < n; i++)
        find_loops(all[i]);
    for (int i = 0; i < n; i++)
        parts[i] = make_parts(all[i]);
    if (shared) {
        kernels = kernels_share(all, parts, n);
        *shared = (struct kernels_result){ .n = kernels->n, .n_functions = kernels->n_functions };
    }
    for (int i = 0; i < n; i++)
        write_files(all[i], &parts[i]);
    if (kernels && kernels->n)
        emit_kernels(all, n, kernels, shared->files);
    return true;
}

void codegen_free(struct planned_code *code)
{
    if (!code)
        return;
    module_sweep(code->fresh.module); /* tables and packed weights that binders made */
    arena_release(&code->codegen.arena);
    packed_release(&code->packed);
    arena_release(&code->whole);
}

bool codegen_sizes(struct module *module, const struct codegen_options *options,
                   struct codegen_result *result)
{
    struct planned_code *code = codegen_plan(module, options, result);

    codegen_free(code);
    return code != NULL;
}

bool codegen_c(struct module *module, const struct codegen_options *options, struct output_set *set,
               struct codegen_result *result)
{
    struct planned_code *code = codegen_plan(module, options, result);
    const bool ok = code && codegen_print(code, set);

    codegen_free(code);
    return ok;
}
