/* partition_optimise.c - the targets' own rewrites of their regions.
 *
 * needs    region functions as partition leaves them
 * gives    the same functions with the same interface; the runner verifies the bodies */
#include "partition/partition.h"

#include "base/str.h"

/* What main relies on. */
struct interface {
    int n_params, n_results;
    struct type *params, *results;
};

static struct interface interface_of(struct arena *arena, const struct function *fn)
{
    struct interface made = { .n_params = fn->n_params, .n_results = fn->ret->n_inputs };

    made.params = arena_array(arena, struct type, made.n_params);
    made.results = arena_array(arena, struct type, made.n_results);
    for (int i = 0; i < made.n_params; i++)
        made.params[i] = fn->params[i]->type;
    for (int i = 0; i < made.n_results; i++)
        made.results[i] = fn->ret->inputs[i]->type;
    return made;
}

static bool same_types(int n, const struct type *a, const struct type *b)
{
    for (int i = 0; i < n; i++)
        if (!type_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool same_interface(const struct interface *a, const struct interface *b)
{
    return a->n_params == b->n_params && a->n_results == b->n_results &&
           same_types(a->n_params, a->params, b->params) &&
           same_types(a->n_results, a->results, b->results);
}

static bool optimise(struct ctx *ctx, const struct target *target, struct function *region)
{
    const struct interface before = interface_of(&ctx->scratch, region);
    const int n_errors = ctx->diags.n_errors;
    struct interface after;

    if (!target->hooks->optimise(ctx, region))
        return ctx->diags.n_errors > n_errors
                   ? false
                   : diag_error(ctx, DIAG_OFFLOAD, NULL,
                                "target %s failed to optimise its region %s without a reason",
                                target->name, region->name);
    after = interface_of(&ctx->scratch, region);
    return same_interface(&before, &after) ||
           diag_error(ctx, DIAG_OFFLOAD, NULL,
                      "target %s has changed the parameters or results of its region %s",
                      target->name, region->name);
}

bool partition_optimise(struct partition *partition)
{
    struct ctx *ctx = partition->module->ctx;
    bool ok = true;

    for (int r = 0; r < partition->n_regions; r++) {
        const struct region_plan *plan = &partition->regions[r];

        if (plan->target->hooks && plan->target->hooks->optimise)
            ok = optimise(ctx, plan->target, plan->fn) && ok;
    }
    return ok;
}
