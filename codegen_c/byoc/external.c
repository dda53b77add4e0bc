/* external.c - what is done for each region of another target before text is written.
 *
 * needs    a call of main whose callee is what partition leaves (end of partition.h)
 * gives    composites with rows, captures and what the hooks say; then text, arrays and scratch */
#include "codegen_c/byoc/external.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/weights.h"
#include "relay_ir/macs.h"

/* File positions of readers are bits of an uint64_t; 0 is NAME.c. */
enum { MOST_MODULES = 62 };

bool is_external(const struct function *fn)
{
    return fn->compiler && strcmp(fn->compiler, "c") != 0;
}

int64_t external_macs(const struct function *fn)
{
    int64_t macs = 0;

    for (const struct node *call = fn->first; call; call = call->next)
        for (const struct node *n = call->callee ? call->callee->first : NULL; n; n = n->next) {
            const int64_t more = node_macs(n);

            macs = macs > INT64_MAX - more ? INT64_MAX : macs + more;
        }
    return macs;
}

const char *constants_table(struct codegen *codegen, const struct external *external)
{
    return arena_printf(&codegen->arena, "%s_constants", external->region->c_name);
}

bool module_has_tables(const struct external_module *module)
{
    return module->target->format == FORMAT_EXTERN || module->target->format == FORMAT_JSON;
}

const struct external *region_of(const struct codegen *codegen,
                                 const struct external_module *module, int region)
{
    const struct external *external = codegen->regions[region].external;

    return external && external->module == module ? external : NULL;
}

/* --- lookup ----------------------------------------------------------------------------------- */

static struct external_module *find_module(struct codegen *codegen, const struct target *target)
{
    struct external_module *module;
    int i = 0;

    while (i < codegen->n_modules && codegen->modules[i].target != target)
        i++;
    if (i < codegen->n_modules)
        return &codegen->modules[i];
    if (i == MOST_MODULES) {
        diag_error(codegen->ctx, DIAG_OFFLOAD, NULL, "more than %d targets run regions",
                   MOST_MODULES);
        return NULL;
    }
    if (!codegen->modules)
        codegen->modules = arena_array(&codegen->arena, struct external_module, MOST_MODULES);
    module = &codegen->modules[codegen->n_modules++];
    *module = (struct external_module){ .target = target,
                                        .reader = codegen->n_modules,
                                        .includes = { .arena = &codegen->arena } };
    return module;
}

static bool check_row(struct codegen *codegen, const struct external *external,
                      const struct node *call)
{
    const char *composite = call->callee->composite;

    if (!composite)
        return diag_error(codegen->ctx, DIAG_INTERNAL, node_origin(call),
                          "region \"%s\" calls \"%s\", which is no composite",
                          str_safe(&codegen->arena, external->fn->name, 80),
                          str_safe(&codegen->arena, call->callee->name, 80));
    return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(call),
                      "target '%s' has no composite '%s'", external->module->target->name,
                      str_safe(&codegen->arena, composite, 80));
}

static bool prepare_composite(struct codegen *codegen, struct external *external, struct node *call)
{
    struct external_composite *composite = &external->composites[external->n_composites++];
    const struct targets *targets = codegen->options->targets;

    *composite = (struct external_composite){ .call = call, .fn = call->callee };
    function_number(composite->fn);
    if (composite->fn->composite)
        composite->row = targets_row(targets, composite->fn->composite);
    if (!composite->row || composite->row->target != external->module->target)
        return check_row(codegen, external, call);
    composite->match = composite_rematch(codegen->ctx, composite->row, composite->fn);
    composite->captures =
        pattern_captures(composite->row->pattern, &codegen->arena, &composite->n_captures);
    return composite->match != NULL;
}

static bool check_types(struct codegen *codegen, const struct external *external)
{
    const struct function *fn = external->fn;
    bool ok = true;

    for (int i = 0; i < fn->n_params + fn->ret->n_inputs; i++) {
        const struct value *value =
            i < fn->n_params ? fn->params[i] : fn->ret->inputs[i - fn->n_params];

        if (dtype_is_half(value->type.dtype))
            ok = diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(external->region->call),
                            "'%s' is %s, which has no arithmetic in C",
                            str_safe(&codegen->arena, value->name, 80),
                            dtype_name(value->type.dtype));
    }
    return ok;
}

bool external_prepare(struct codegen *codegen, struct region *region)
{
    struct external *external = arena_new(&codegen->arena, struct external);
    const struct target *target = NULL;
    bool ok = true;

    region->external = external;
    external->region = region;
    external->fn = region->fn;
    if (codegen->options->targets)
        target = targets_find(codegen->options->targets, region->fn->compiler);
    if (!target)
        return diag_error(codegen->ctx, DIAG_TARGET_UNKNOWN, node_origin(region->call),
                          "region \"%s\" is for target '%s', which is not known",
                          str_safe(&codegen->arena, region->fn->name, 80),
                          str_safe(&codegen->arena, region->fn->compiler, 80));
    external->module = find_module(codegen, target);
    if (!external->module)
        return false;
    if (module_has_tables(external->module))
        names_reserve(&codegen->names, constants_table(codegen, external));
    function_number(region->fn);
    external->composites =
        arena_array(&codegen->arena, struct external_composite, region->fn->n_nodes);
    for (struct node *node = region->fn->first; node; node = node->next) {
        if (node->op == OP_CALL)
            ok = prepare_composite(codegen, external, node) && ok;
        else if (op_row(node->op)->pattern != PATTERN_VIEW)
            ok = diag_error(codegen->ctx, DIAG_INTERNAL, node_origin(node),
                            "region \"%s\" has %s outside of composites",
                            str_safe(&codegen->arena, region->fn->name, 80), op_name(node->op));
    }
    return check_types(codegen, external) && ok;
}

/* --- scratch and hooks ------------------------------------------------------------------------ */

static bool add_scratch(struct codegen *codegen, struct external_composite *composite,
                        int64_t bytes)
{
    if (bytes < 0 || bytes > INT32_MAX)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(composite->call),
                          "%s asks for %" PRId64 " bytes of scratch", composite->row->name, bytes);
    if (composite->scratch_bytes)
        composite->scratch_bytes = plan_round(composite->scratch_bytes);
    composite->scratch_bytes += (size_t)bytes;
    return true;
}

static bool evaluate_scratch(struct codegen *codegen, struct external_composite *composite)
{
    const struct composite_row *row = composite->row;
    struct scope scope;
    struct term term;
    const char *why;

    if (!row->scratch)
        return true;
    scope = composite_scope(&codegen->arena, row, composite->match);
    if (!expression_evaluate(row->scratch, &scope, &codegen->arena, &term, &why))
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(composite->call),
                          "scratch of %s, '%s': %s", row->name, expression_text(row->scratch), why);
    if (term.kind == TERM_ABSENT)
        return true;
    if (term.kind != TERM_INT)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(composite->call),
                          "scratch of %s, '%s', is no whole number", row->name,
                          expression_text(row->scratch));
    return add_scratch(codegen, composite, term.integer);
}

/* A hook that returns false should have said why. */
static bool refused(struct codegen *codegen, const struct node *node, const char *what,
                    int n_errors)
{
    if (codegen->ctx->diags.n_errors == n_errors)
        diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(node), "%s cannot be lowered", what);
    return false;
}

static bool lower(struct codegen *codegen, struct external *external,
                  struct external_composite *composite)
{
    const struct target_hooks *hooks = external->module->target->hooks;
    const int n_errors = codegen->ctx->diags.n_errors;

    composite->lowering = (struct lowering){ .ctx = codegen->ctx, .arena = &codegen->arena };
    if (!hooks || !hooks->lower)
        return true;
    if (!hooks->lower(composite->row, composite->match, &composite->lowering))
        return refused(codegen, composite->call, composite->row->name, n_errors);
    if (composite->lowering.scratch_bytes == 0)
        return true;
    return add_scratch(codegen, composite,
                       composite->lowering.scratch_bytes > INT32_MAX
                           ? INT64_MAX
                           : (int64_t)composite->lowering.scratch_bytes);
}

/* The values that the stream never stores on the host leave the region's scratch. */
static void drop_untouched(struct external *external, size_t bytes)
{
    int n = 0;

    for (int i = 0; i < external->n_blocks; i++) {
        if (external->blocks[i].offset < bytes)
            external->blocks[n++] = external->blocks[i];
        else
            external->region->config.scratch_naive -= plan_round(external->blocks[i].bytes);
    }
    external->n_blocks = n;
    external->inner_bytes = bytes;
    external->inner_bound = bytes < external->inner_bound ? bytes : external->inner_bound;
    external->region->config.scratch_bytes = bytes;
}

static bool assemble(struct codegen *codegen, struct external *external)
{
    const struct target *target = external->module->target;
    const struct region_view view = { .fn = external->fn,
                                      .places = external->place,
                                      .scratch_bytes = external->inner_bytes,
                                      .call_scratch = external->call_scratch };
    const int n_errors = codegen->ctx->diags.n_errors;
    struct lowering *lowering = &external->lowering;

    if (external->n_copies)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(external->region->call),
                          "a result of region \"%s\" is no result of a composite",
                          str_safe(&codegen->arena, external->fn->name, 80));
    *lowering = (struct lowering){ .ctx = codegen->ctx,
                                   .arena = &codegen->arena,
                                   .value_bytes = external->inner_bytes };
    if (!target->hooks || !target->hooks->assemble)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, NULL,
                          "target '%s' has format 'stream', but no hook that assembles one",
                          target->name);
    if (!target->hooks->assemble(target, &view, lowering))
        return refused(codegen, external->region->call, target->name, n_errors);
    if (lowering->scratch_bytes > INT32_MAX)
        return diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(external->region->call),
                          "target '%s' asks for %zu bytes of scratch", target->name,
                          lowering->scratch_bytes);
    if (lowering->value_bytes < external->inner_bytes)
        drop_untouched(external, lowering->value_bytes ? plan_round(lowering->value_bytes) : 0);
    if (lowering->scratch_bytes) {
        external->region->config.scratch_bytes = external->inner_bytes + lowering->scratch_bytes;
        external->region->config.scratch_naive += lowering->scratch_bytes;
    }
    return true;
}

const struct weight *external_read(struct codegen *codegen, struct external *external,
                                   const char *name, const struct type *type, const void *data,
                                   const char *layout)
{
    const struct weight *weight =
        weights_read(codegen, external->module->reader, external->region, name, type, data, layout);
    struct external_constant *constant = external->constants;

    while (constant && !(constant->weight == weight && strcmp(constant->name, name) == 0))
        constant = constant->next;
    if (constant)
        return weight;
    constant = arena_new(&codegen->arena, struct external_constant);
    *constant = (struct external_constant){ .name = name, .weight = weight };
    if (external->last_constant)
        external->last_constant->next = constant;
    else
        external->constants = constant;
    external->last_constant = constant;
    external->n_constants++;
    return weight;
}

/* The hook's arrays in the order of making: the list has the newest first. */
static void read_arrays(struct codegen *codegen, struct external *external, const struct node *call,
                        const struct lowering_array *newest)
{
    int n = 0;

    for (const struct lowering_array *a = newest; a; a = a->next)
        n++;
    while (n-- > 0) {
        const struct lowering_array *a = newest;

        for (int i = 0; i < n; i++)
            a = a->next;
        external_read(codegen, external, external_array_name(codegen, call, a->name), &a->type,
                      a->data, a->layout);
    }
}

/* For functions of the user's: the constants of all composites, and what the hook adds. */
static bool collect_constants(struct codegen *codegen, struct external *external)
{
    bool ok = true;

    for (int i = 0; i < external->n_composites; i++) {
        const struct external_composite *composite = &external->composites[i];

        for (const struct value *v = composite->fn->constants; v; v = v->next) {
            if (!v->uses)
                continue;
            if (dtype_is_half(v->type.dtype))
                ok = diag_error(codegen->ctx, DIAG_OFFLOAD, node_origin(composite->call),
                                "'%s' is %s, which has no arithmetic in C",
                                str_safe(&codegen->arena, v->name, 80), dtype_name(v->type.dtype));
            else
                external_read(codegen, external, v->name, &v->type, v->data, "");
        }
        read_arrays(codegen, external, composite->call, composite->lowering.arrays);
    }
    return ok;
}

bool configure_external(struct codegen *codegen, struct region *region)
{
    struct external *external = region->external;
    const enum target_format format = external->module->target->format;
    bool ok = true;

    for (int i = 0; i < external->n_composites; i++)
        ok = evaluate_scratch(codegen, &external->composites[i]) &&
             (format == FORMAT_STREAM || lower(codegen, external, &external->composites[i])) && ok;
    if (!ok)
        return false;
    external_plan(codegen, external);
    switch (format) {
    case FORMAT_C: return external_ask_c(codegen, external);
    case FORMAT_STREAM:
        return assemble(codegen, external) && external_ask_stream(codegen, external);
    default: return collect_constants(codegen, external);
    }
}

bool print_externals(struct codegen *codegen)
{
    bool ok = true;

    for (int i = 0; i < codegen->n_regions; i++) {
        struct external *external = codegen->regions[i].external;

        if (external && !module_has_tables(external->module))
            ok = external_print(codegen, external) && ok;
    }
    for (int i = 0; i < codegen->n_modules && ok; i++)
        ok = external_print_prologue(codegen, &codegen->modules[i]);
    return ok;
}
