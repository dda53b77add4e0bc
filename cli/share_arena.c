/* share_arena.c - compile a.onnx b.onnx --share-arena: networks that run one after the other in the
 * same memory.
 *
 * Each is compiled by itself, as nothing in an arena outlives a run; shared_arena.h says how much
 * the greatest needs, of each pool by itself. All files are written, or none. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "cli/compile.h"
#include "cli/report.h"

static const char header_name[] = "shared_arena.h";

/* Options of one model: given once for each, in their order, or once for all. */
static const enum option_id of_models[] = { OPTION_NAME, OPTION_CALIB, OPTION_DATA,
                                            OPTION_PREPROCESS, OPTION_QTABLE };

static bool check_options(struct cli *cli)
{
    const int n = cli->driver->args.n_operands;
    bool ok = true;

    if (!has_option(&cli->driver->args, OPTION_SHARE_ARENA)) {
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "compile takes one model");
        diag_help(cli->ctx, "--share-arena compiles several, for one arena");
        return ok;
    }
    if (n < 2)
        return diag_error(cli->ctx, DIAG_USAGE, NULL, "--share-arena needs at least two models");
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++) {
        const int given = cli->driver->args.options[of_models[i]].n;

        if (given != 0 && given != n && (given != 1 || of_models[i] == OPTION_NAME))
            ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                            "--%s: given %d times for %d models: once for each, in their order%s",
                            option_name(of_models[i]), given, n,
                            of_models[i] == OPTION_NAME ? "" : ", or once for all");
    }
    return ok;
}

/* The command line as if there were only model i. */
static struct driver_state only_model(const struct driver_state *driver, int i)
{
    struct driver_state own = *driver;

    own.args.operands = &driver->args.operands[i];
    own.args.n_operands = 1;
    for (size_t k = 0; k < sizeof of_models / sizeof *of_models; k++) {
        struct option_values *values = &own.args.options[of_models[k]];

        if (values->n == driver->args.n_operands)
            *values = (struct option_values){ 1, &values->at[i] };
    }
    return own;
}

static bool same_symbols(const char *a, const char *b)
{
    while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b))
        a++, b++;
    return !*a && !*b;
}

/* Two headers with the same macros would not do. */
static bool check_names(struct cli *cli, const struct driver_state *all, int n)
{
    const char *name = all[n].codegen.name;

    for (int i = 0; i <= n; i++) {
        if (!same_symbols(i == n ? "shared" : all[i].codegen.name, name))
            continue;
        diag_error(cli->ctx, DIAG_USAGE, NULL,
                   "--share-arena: '%s' and '%s' give one symbol prefix",
                   i == n ? "shared" : all[i].codegen.name, name);
        diag_help(cli->ctx, "--name, once per model, sets other prefixes");
        return false;
    }
    return true;
}

static const char *upper(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *c = copy; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return copy;
}

static size_t greatest(const struct driver_state *all, int n, int pool)
{
    size_t most = 0;

    for (int i = 0; i < n; i++) {
        const struct codegen_result *result = &all[i].result;
        const size_t bytes = pool < 0 ? result->arena_bytes : result->pool_bytes[pool];

        most = bytes > most ? bytes : most;
    }
    return most;
}

static bool has_arena(const struct codegen_options *options, int pool)
{
    return options->pools[pool].takes != POOL_OF_CONSTANTS;
}

/* What NAME.h of each says must fit: it may have been written again by itself. */
static void write_asserts(struct writer *w, struct arena *arena, const struct driver_state *all,
                          int n, const char *constant)
{
    for (int i = 0; i < n; i++)
        writer_printf(w,
                      "_Static_assert((int)%s_%s <= (int)SHARED_%s,\n"
                      "               \"%s: compile all models again, with --share-arena\");\n",
                      upper(arena, all[i].codegen.name), constant, constant, all[i].codegen.name);
}

static const char *pool_constant(struct arena *arena, const struct codegen_options *options,
                                 int pool)
{
    return arena_printf(arena, "ARENA_%s_BYTES", upper(arena, options->pools[pool].name));
}

static void write_header(struct cli *cli, struct output_set *set, const struct driver_state *all,
                         int n)
{
    const struct codegen_options *options = &all[0].codegen;
    struct arena *arena = &cli->ctx->perm;
    struct writer *w = output_open(set, arena_printf(arena, "%s/%s", options->dir, header_name));
    const int n_pools = options->n_pools;

    writer_text(w, "/* shared_arena.h - generated by relayc; do not edit.\n *\n"
                   " * Networks that share an arena: one runs, then another; never two at a time. "
                   "Nothing that\n"
                   " * one of them keeps there is of use to it afterwards");
    writer_text(w,
                options->io_in_arena
                    ? ", but its outputs, which are to be\n * read before another one's inputs are "
                      "written or it runs.\n *\n"
                    : ".\n *\n");
    for (int i = 0; i < n; i++)
        writer_printf(w, " *    %-20s %10zu bytes\n", all[i].codegen.name,
                      all[i].result.arena_bytes);
    writer_text(w, " */\n#ifndef SHARED_ARENA_H\n#define SHARED_ARENA_H\n\n");
    for (int i = 0; i < n; i++)
        writer_printf(w, "#include \"%s.h\"\n", all[i].codegen.name);
    writer_printf(w, "\n/* Bytes of the arena%s, and their alignment. */\nenum {\n",
                  n_pools ? ", of each pool" : "");
    if (!n_pools)
        writer_printf(w, "    SHARED_ARENA_BYTES = %zu,\n", greatest(all, n, -1));
    for (int p = 0; p < n_pools; p++)
        if (has_arena(options, p))
            writer_printf(w, "    SHARED_%s = %zu,\n", pool_constant(arena, options, p),
                          greatest(all, n, p));
    writer_printf(w, "    SHARED_ARENA_ALIGN = %s_ARENA_ALIGN\n};\n\n",
                  upper(arena, options->name));
    writer_text(w, "#if defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n");
    if (!n_pools)
        write_asserts(w, arena, all, n, "ARENA_BYTES");
    for (int p = 0; p < n_pools; p++)
        if (has_arena(options, p))
            write_asserts(w, arena, all, n, pool_constant(arena, options, p));
    writer_text(w, "#endif\n\n#endif\n");
}

/* Each alone may fit the flash. */
static bool check_flash(struct cli *cli, const struct driver_state *all, int n)
{
    const size_t allowed = all[0].budget.flash;
    size_t needed = 0;

    for (int i = 0; i < n; i++)
        needed += all[i].result.weight_bytes +
                  (all[i].codegen.measured ? all[i].codegen.measured->other_flash : 0);
    if (!allowed || needed <= allowed)
        return true;
    return diag_error(
        cli->ctx, DIAG_RAM, NULL,
        "the networks need %zu bytes of flash in total, %zu more than %s allows (%zu)", needed,
        needed - allowed, all[0].budget.flash_source, allowed);
}

static void report_shared(struct cli *cli, const struct driver_state *all, int n)
{
    const struct codegen_options *options = &all[0].codegen;
    size_t sum = 0, most = 0;

    for (int i = 0; i < n; i++)
        sum += all[i].result.arena_bytes;
    for (int p = options->n_pools ? 0 : -1; p < options->n_pools; p++)
        most += p < 0 || has_arena(options, p) ? greatest(all, n, p) : 0;
    say(cli, "%d networks share an arena of %zu bytes (each one of its own: %zu): %s/%s\n", n, most,
        sum, options->dir, header_name);
    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "shared_arena_bytes", (double)most);
        cJSON_AddNumberToObject(cli->json, "separate_arena_bytes", (double)sum);
    }
}

/* Model i alone; its diagnostics and files are those of the command. */
static struct cli command_of(const struct cli *cli, struct driver_state *driver, cJSON *list)
{
    struct cli own = *cli;

    own.driver = driver;
    if (list) {
        own.json = cJSON_CreateObject();
        cJSON_AddItemToArray(list, own.json);
    }
    return own;
}

bool compile_shared(struct cli *cli)
{
    const int n = cli->driver->args.n_operands;
    struct driver_state *all = arena_array(&cli->ctx->perm, struct driver_state, n);
    struct cli *own = arena_array(&cli->ctx->perm, struct cli, n);
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "models") : NULL;
    bool ok = check_options(cli), fits = true;

    for (int i = 0; i < n && ok; i++) {
        all[i] = only_model(cli->driver, i);
        own[i] = command_of(cli, &all[i], list);
        ok = compile_model(&own[i]) && check_names(cli, all, i);
        fits = fits && all[i].budget.fits;
    }
    if (ok && !check_flash(cli, all, n)) {
        fits = false;
        ok = has_option(&cli->driver->args, OPTION_FORCE);
    }
    if (ok)
        write_header(cli, cli->outputs, all, n);
    ok = ok && output_finish(cli->outputs);
    for (int i = 0; i < n; i++) {
        if (ok)
            report_compilation(&own[i]);
        module_free(all[i].module);
        driver_free(&all[i]);
    }
    if (ok)
        report_shared(cli, all, n);
    return ok && fits;
}
