/* variants.c - compile --vary time=1..200: dims, and inputs that are numbers, that are known at run time, within given
 * values.
 *
 * needs    the options
 * gives    NAME.c for all values
 * method   the network is compiled to regions for each combination of values, as it is for one shape; its own plan
 *          decides the order and the stripes. Then one module takes all these networks (relay_ir/variants.h), for the
 *          last stages: they share the functions, the constants and the arena (codegen_c/emit/emit_variants.h). */
#include "relay_ir/variants.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver.h"
#include "driver/precision.h"

struct driver_state variant_alone(const struct driver_state *given, const struct variants *variants,
                                  int v)
{
    struct driver_state own = *given;

    own.args.options[OPTION_VARY].n = own.args.options[OPTION_MAX].n = 0;
    own.sizes = variants;
    for (int s = 0; s < variants->n_symbols; s++)
        option_add(own.ctx, &own.args.options[OPTION_SHAPE],
                   arena_printf(&own.ctx->perm, "%s=%lld", variants->symbols[s].name,
                                (long long)variants->at[v].values[s]));
    if (v > 0) {
        static const enum option_id silent[] = { OPTION_DUMP_AFTER, OPTION_TIME_PASSES,
                                                 OPTION_STATS };

        for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
            own.args.options[silent[i]].n = 0;
        own.events = NULL;
    }
    return own;
}

const char *size_given(const struct option_values *shapes, const char *name)
{
    for (int i = shapes->n; i-- > 0;)
        if (str_starts(shapes->at[i], name) && shapes->at[i][strlen(name)] == '=')
            return shapes->at[i] + strlen(name) + 1;
    return NULL;
}

const char *variant_text(struct arena *arena, const struct variants *variants, int v)
{
    struct str text = { .arena = arena };

    for (int s = 0; s < variants->n_symbols; s++)
        str_printf(&text, "%s%s=%lld", s ? ", " : "",
                   str_safe(arena, variants->symbols[s].name, 80),
                   (long long)variants->at[v].values[s]);
    return str_text(&text);
}

void variants_free(struct driver_state *driver)
{
    for (int v = 0; v < driver->n_variants; v++) {
        module_free(driver->variants[v].module);
        driver_free(&driver->variants[v]);
    }
    driver->n_variants = 0;
}

/* The module has n variants, and this one the inputs and outputs that they have, of any extents. */
static bool same_interface(const struct module *all, int n, const struct module *other)
{
    const struct function *a = all->main, *b = other->main;
    bool same = a->n_params == n * b->n_params && a->ret->n_inputs == n * b->ret->n_inputs;

    for (int i = 0; same && i < b->n_params; i++)
        same = strcmp(a->params[i]->name, b->params[i]->name) == 0 &&
               a->params[i]->type.dtype == b->params[i]->type.dtype &&
               a->params[i]->type.rank == b->params[i]->type.rank;
    for (int i = 0; same && i < b->ret->n_inputs; i++) {
        const struct type *x = &a->ret->inputs[i]->type, *y = &b->ret->inputs[i]->type;

        same = x->dtype == y->dtype && x->rank == y->rank;
    }
    return same;
}

/* Whether arrays of the first variant have room for what this one reads and writes; *bytes of all that it does. */
static bool fits(const struct module *all, const struct module *other, size_t *bytes)
{
    const struct function *a = all->main, *b = other->main;
    bool does = true;

    *bytes = 0;
    for (int i = 0; i < b->n_params; i++) {
        does = does && type_bytes(&b->params[i]->type) <= type_bytes(&a->params[i]->type);
        *bytes += type_bytes(&b->params[i]->type);
    }
    for (int i = 0; i < b->ret->n_inputs; i++) {
        const struct type *x = &a->ret->inputs[i]->type, *y = &b->ret->inputs[i]->type;

        does = does && type_bytes(y) <= type_bytes(x);
        *bytes += type_bytes(y);
    }
    return does;
}

static bool refuse_interface(struct driver_state *driver, const struct variants *variants, int v)
{
    diag_error(
        driver->ctx, DIAG_UNSUPPORTED_DYNAMIC, NULL,
        "--vary: with %s the network has other inputs or outputs than with %s, or larger ones",
        variant_text(&driver->ctx->perm, variants, v),
        variant_text(&driver->ctx->perm, variants, 0));
    diag_help(driver->ctx, "leave this value out of --vary");
    return false;
}

/* The module of all, as it grows. */
struct growing {
    int n;        /* variants in it */
    int larger;   /* one that has no room in the arrays of the first; 0 = none */
    size_t bytes; /* of its arrays */
};

/* To regions, in the order and the stripes that its own plan has chosen. */
static bool compile_one(struct driver_state *driver, const struct driver_state *given,
                        struct variants *variants, int v, struct growing *all)
{
    struct driver_state *own = &driver->variants[v];
    struct diags saved = diag_save(driver->ctx);
    size_t bytes;

    *own = variant_alone(given, variants, v);
    driver->n_variants++;
    if (!driver_prepare(own))
        return false;
    if (own->precision)
        own->precision->options.any_shape = true; /* one table for all */
    if (!driver_run(own, STAGE_FUSE) ||
        (own->codegen.share = true, !codegen_sizes(own->module, &own->codegen, &own->result))) {
        diag_note(driver->ctx, "with %s (--vary)", variant_text(&driver->ctx->perm, variants, v));
        return false;
    }
    if (own->module->n_states) {
        diag_error(driver->ctx, DIAG_UNSUPPORTED_DYNAMIC, NULL,
                   "--vary: not for networks that keep a state");
        diag_help(driver->ctx, "--shape gives its dimensions one value each");
        return false;
    }
    if (v == 0) {
        driver->module = own->module;
        own->module = NULL;
        variants->at[0].first_node = 0;
        variants->at[0].n_nodes =
            (function_number(driver->module->main), driver->module->main->n_nodes);
        all->n = 1;
        return true;
    }
    diag_restore(driver->ctx, saved); /* what it warns of, the first has warned of */
    if (!same_interface(driver->module, all->n, own->module))
        return refuse_interface(driver, variants, v);
    if (fits(driver->module, own->module, &bytes)) {
        variant_absorb(driver->module, own->module, &variants->at[v]);
        all->n++;
    } else if (bytes > all->bytes) {
        all->larger = v;
        all->bytes = bytes;
    }
    return true;
}

static bool compile_all(struct driver_state *driver, const struct driver_state *given,
                        struct variants *variants, struct growing *all)
{
    bool ok = true;

    *all = (struct growing){ 0 };
    driver->variants = arena_array(&driver->ctx->perm, struct driver_state, variants->n);
    for (int v = 0; v < variants->n && ok; v++) {
        driver_progress(driver, "compiling for each value", v, variants->n);
        ok = compile_one(driver, given, variants, v, all);
    }
    driver_progress(driver, "compiling for each value", 0, 0);
    return ok;
}

/* Forgets the compilations; the variant comes first in the next ones. */
static void begin_with(struct driver_state *driver, struct variants *variants, int v)
{
    const struct variant first = variants->at[v];

    module_free(driver->module);
    driver->module = NULL;
    variants_free(driver);
    memmove(&variants->at[1], &variants->at[0], (size_t)v * sizeof first);
    variants->at[0] = first;
}

bool compile_variants(struct driver_state *driver)
{
    const struct driver_state given = *driver; /* before driver_prepare */
    struct variants *variants = variants_read(driver);
    struct diags saved;
    struct growing all;

    if (!variants || !driver_prepare(driver) || !stage_describe(driver))
        return false;
    driver->codegen.share = true; /* a function for all values */
    saved = diag_save(driver->ctx);
    if (!compile_all(driver, &given, variants, &all))
        return false;
    if (all.larger) { /* what a slice leaves of x is longer for smaller starts */
        diag_restore(driver->ctx, saved);
        begin_with(driver, variants, all.larger);
        if (!compile_all(driver, &given, variants, &all))
            return false;
        if (all.larger)
            return refuse_interface(driver, variants, all.larger);
    }
    driver->module->variants = variants;
    driver->codegen.largest = &driver->variants[0].result;
    driver->next = STAGE_PLAN;
    return driver_run(driver, STAGE_PRINT);
}
