#include "driver/commands/search_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/workers.h"
#include "relay_ir/region.h"

/* --- what is asked for ------------------------------------------------------------------------ */

/* "2.5ms", "800us", "0.01s", or "80%" of what f32 takes. */
static bool parse_latency(struct driver_state *driver, struct strategy_options *options)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 } };
    const char *text = option_text(&driver->args, OPTION_LATENCY, NULL);
    char *end;
    double number;

    if (!text)
        return true;
    number = strtod(text, &end);
    if (end != text && isfinite(number) && number > 0) {
        if (strcmp(end, "%") == 0)
            return (options->latency_share = number / 100) > 0;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(end, units[i].name) == 0)
                return (options->latency = number * units[i].seconds) > 0;
    }
    return diag_error(
        driver->ctx, DIAG_USAGE, NULL,
        "--latency: '%s' is neither a time such as 2.5ms, 800us or 0.01s, nor a share such as 80%%",
        str_safe(&driver->ctx->perm, text, 80));
}

static bool read_logs(struct driver_state *driver, struct search_price *price)
{
    const struct option_values *files = &driver->args.options[OPTION_LATENCY_LOG];
    bool ok = true;

    for (int i = 0; i < files->n; i++)
        ok = latency_read(driver->ctx, files->at[i], &price->log) && ok;
    if (!files->n && has_option(&driver->args, OPTION_LATENCY)) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--latency needs --latency-log");
        diag_help(driver->ctx, "run relayc bench --json for the network in f32 and in each of "
                               "--choices on the target CPU (docs/guide/search.md)");
    }
    return ok;
}

/* --- pricing ---------------------------------------------------------------------------------- */

/* Units by the ONNX nodes that they are of: what is left of names when numbers are small. */
static struct map number_nodes(struct arena *arena, const struct search *search)
{
    struct map rows = { .arena = arena }, nodes = { .arena = arena };
    int *numbers = arena_array(arena, int, search->units.n);

    for (int i = 0; i < search->units.n; i++) {
        numbers[i] = i;
        for (int r = 0; r < search->units.at[i].n_rows; r++)
            map_set(&rows, search->units.at[i].rows[r], &numbers[i]);
    }
    for (const struct node *node = search->module->main->first; node; node = node->next) {
        void *unit = NULL;

        for (const struct origin *o = node->origin; o && !unit; o = o->next)
            unit = o->name ? map_get(&rows, o->name) : NULL;
        if (!unit)
            unit = map_get(&rows, node->outputs[0]->name);
        for (const struct origin *o = node->origin; o && unit; o = o->next)
            map_set(&nodes, arena_printf(arena, "%ld", (long)o->index), unit);
    }
    return nodes;
}

static int unit_of_node(struct arena *arena, const struct map *nodes, const struct node *node)
{
    const int *unit = NULL;

    for (const struct origin *o = node->origin; o && !unit; o = o->next)
        unit = map_get(nodes, arena_printf(arena, "%ld", (long)o->index));
    return unit ? *unit : -1;
}

/* The unit that a region is of: its anchor's, as a decoder in front of that is of another one. -1 =
 * of none. */
static int unit_of_region(struct arena *arena, const struct map *nodes,
                          const struct function *region)
{
    const struct node *anchor = region_anchor(region);
    int unit = anchor ? unit_of_node(arena, nodes, anchor) : -1;

    for (const struct node *node = region->first; node && unit < 0; node = node->next)
        unit = unit_of_node(arena, nodes, node);
    return unit;
}

static double add_seconds(struct search_price *price, const struct codegen_result *result,
                          const struct search *search, double *seconds)
{
    struct arena arena = { NULL };
    const struct map nodes = number_nodes(&arena, search);
    double all = 0, unknown = 0;

    for (int i = 0; i < result->n_regions; i++) {
        const struct codegen_region *region = &result->regions[i];
        bool known;
        const double now = latency_of(&price->log, region, &known);
        const int unit = unit_of_region(&arena, &nodes, region->call->callee);

        all += now;
        unknown += known ? 0 : now;
        if (seconds && unit >= 0)
            seconds[unit] += now;
    }
    if (all > 0)
        price->unknown_share = fmax(price->unknown_share, unknown / all);
    arena_release(&arena);
    return all;
}

/* What the generated C of a proposal takes. */
static bool price_proposal(void *user, struct search *search, const struct proposal *proposal,
                           struct price *out, double *seconds)
{
    struct search_price *price = user;
    struct ctx *ctx = ctx_new(price->driver->ctx->diags.input_name);
    struct module *module = search_realise(search, proposal, ctx);
    struct driver_state driver = driver_begin(ctx, COMMAND_SEARCH);
    const struct codegen_result *result = &driver.result;
    bool ok;

    driver.emit.c = true;
    driver.codegen = driver_codegen_options(&driver);
    driver.codegen.name = "model";
    driver.codegen.dir = ".";
    driver.module = module;
    driver.next = STAGE_LAYOUT;
    ok = module && driver_run(&driver, STAGE_PLAN);
    driver_free(&driver);
    *out = (struct price){ .flash = result->weight_bytes, .ram = result->arena_bytes };
    if (ok && price->log.n)
        out->latency = add_seconds(price, result, search, seconds);
    if (!ok)
        workers_report(price->driver->ctx, ctx, proposal->what);
    module_free(module);
    ctx_free(ctx);
    return ok;
}

bool search_price_prepare(struct driver_state *driver, struct search_price *price,
                          struct strategy_options *options)
{
    bool ok = option_bytes(driver->ctx, &driver->args, OPTION_FLASH, 0, &options->flash);

    *price = (struct search_price){ .driver = driver };
    ok = option_bytes(driver->ctx, &driver->args, OPTION_RAM, 0, &options->ram) && ok;
    ok = parse_latency(driver, options) && ok;
    ok = read_logs(driver, price) && ok;
    options->price = price_proposal;
    options->price_user = price;
    options->tells_latency = price->log.n > 0;
    return ok;
}
