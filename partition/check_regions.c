/* check_regions.c - are the regions of a graph from elsewhere what partition would leave behind?
 *
 * needs    a module that module_verify accepts, and the targets
 * gives    regions that code generators, templates and hooks may rely on (partition.h), or an error
 *          for each function that is something else
 * method   every call of main of a function for another compiler, then the composites in it */
#include <string.h>

#include "base/str.h"
#include "partition/partition.h"

struct check {
    struct ctx *ctx;
    const struct targets *targets;
    struct map seen; /* functions that are called: each once */
    bool ok;
};

static void __attribute__((format(printf, 3, 4)))
wrong(struct check *check, const struct node *call, const char *format, ...)
{
    va_list args;
    const char *message;

    va_start(args, format);
    message = arena_vprintf(&check->ctx->scratch, format, args);
    va_end(args);
    check->ok = diag_error(check->ctx, DIAG_GRAPH_JSON, node_origin(call), "function \"%s\": %s",
                           str_safe(&check->ctx->scratch, call->callee->name, 80), message);
}

/* A region's code stands in one place. */
static void check_called_once(struct check *check, const struct node *call)
{
    if (map_get(&check->seen, call->callee->name))
        wrong(check, call, "found a second call of it, wanted one");
    map_set(&check->seen, call->callee->name, call->callee);
}

/* Distinct values that the function computes, and parameters that it reads. */
static void check_interface(struct check *check, const struct node *call)
{
    const struct function *fn = call->callee;

    for (int i = 0; i < fn->n_params; i++)
        if (!fn->params[i]->uses)
            wrong(check, call, "found parameter %d unused, wanted a use", i);
    for (int i = 0; i < fn->ret->n_inputs; i++) {
        if (fn->ret->inputs[i]->kind != VALUE_OUTPUT)
            wrong(check, call, "found result %d not computed in it, wanted it to be", i);
        for (int j = 0; j < i; j++)
            if (fn->ret->inputs[j] == fn->ret->inputs[i])
                wrong(check, call, "found results %d and %d the same, wanted distinct ones", j, i);
    }
    for (int i = 0; i < call->n_inputs; i++) {
        if (call->inputs[i]->kind == VALUE_CONSTANT)
            wrong(check, call, "found constant input %d, wanted it bound inside", i);
        for (int j = 0; j < i; j++)
            if (call->inputs[j] == call->inputs[i])
                wrong(check, call, "found inputs %d and %d the same, wanted distinct ones", j, i);
    }
}

/* Conditions too: templates and hooks rely on them. What `optimise` has rewritten needs not fulfil
 * them any more. */
static void check_match(struct check *check, const struct node *call,
                        const struct composite_row *row)
{
    const struct diags saved = diag_save(check->ctx);
    struct match *match;
    const char *found = "", *wanted = "";

    function_number(call->callee);
    match = composite_rematch(check->ctx, row, call->callee);
    diag_restore(check->ctx, saved); /* an internal error: partition makes no others */
    if (!match || match->n_nodes != call->callee->n_nodes)
        wrong(check, call, "found other nodes than the pattern of %s, wanted '%s'", row->name,
              row->text);
    else if (!(row->target->hooks && row->target->hooks->optimise) &&
             !composite_accepts(row, match, &check->ctx->scratch, &found, &wanted))
        wrong(check, call, "found %s, wanted %s for %s", found, wanted, row->name);
}

static void check_composite(struct check *check, const struct node *call,
                            const struct target *target)
{
    const struct function *fn = call->callee;
    const struct composite_row *row =
        fn->composite ? targets_row(check->targets, fn->composite) : NULL;

    check_called_once(check, call);
    check_interface(check, call);
    for (const struct node *node = fn->first; node; node = node->next)
        if (node->op == OP_CALL) {
            wrong(check, call, "found a call in a composite, wanted operators only");
            return;
        }
    if (!fn->compiler || strcmp(fn->compiler, target->name) != 0)
        wrong(check, call, "found the compiler '%s', wanted '%s', as its region has it",
              str_safe(&check->ctx->scratch, fn->compiler ? fn->compiler : "", 60), target->name);
    else if (!row || row->target != target)
        wrong(check, call, "found the composite '%s', wanted one of target %s",
              str_safe(&check->ctx->scratch, fn->composite ? fn->composite : "", 60), target->name);
    else
        check_match(check, call, row);
}

static void check_region(struct check *check, const struct node *call)
{
    struct function *fn = call->callee;
    const struct target *target = targets_find(check->targets, fn->compiler);

    if (!target) {
        check->ok = diag_error(check->ctx, DIAG_TARGET_UNKNOWN, node_origin(call),
                               "function \"%s\" is for the unknown target '%s'",
                               str_safe(&check->ctx->scratch, fn->name, 80),
                               str_safe(&check->ctx->scratch, fn->compiler, 80));
        diag_help(check->ctx, "--target-dir adds targets");
        return;
    }
    check_called_once(check, call);
    check_interface(check, call);
    if (!fn->global_symbol)
        wrong(check, call, "found no global_symbol, wanted one");
    if (fn->composite)
        wrong(check, call, "found a composite called by main, wanted a region");
    if (fn->constants)
        wrong(check, call, "found constants, wanted them in composites only");
    for (const struct node *node = fn->first; node; node = node->next)
        if (node->op == OP_CALL)
            check_composite(check, node, target);
        else if (op_row(node->op)->pattern != PATTERN_VIEW)
            wrong(check, call, "found %s, wanted calls of composites only", op_name(node->op));
}

static bool is_foreign(const struct node *node)
{
    return node->callee && node->callee->compiler && strcmp(node->callee->compiler, "c") != 0;
}

bool module_has_foreign_regions(const struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next)
        if (is_foreign(node))
            return true;
    return false;
}

bool partition_check_regions(struct module *module, const struct targets *targets)
{
    struct check check = { .ctx = module->ctx,
                           .targets = targets,
                           .seen = { .arena = &module->ctx->scratch },
                           .ok = true };

    for (const struct node *node = module->main->first; node; node = node->next)
        if (is_foreign(node))
            check_region(&check, node);
    return check.ok;
}
