/* share_arena.c - compile a.onnx b.onnx --share-arena: networks that run one after the other in the
 * same memory; --shared-kernels: networks with one copy of the functions that they have in common.
 *
 * Each is compiled by itself, as nothing in an arena outlives a run; shared_arena.h says how much
 * the greatest needs, of each pool by itself. What functions are common is found when all are
 * planned (codegen_c/emit/emit_kernels.h). All files are written, or none. */
#include "driver/commands/share_arena.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

static const char header_name[] = "shared_arena.h";

/* Options of one model: given once for each, in their order, or once for all. */
static const enum option_id of_models[] = { OPTION_NAME, OPTION_CALIB, OPTION_DATA,
                                            OPTION_PREPROCESS, OPTION_QTABLE };

static bool shares_arena(const struct driver_state *driver)
{
    return has_option(&driver->args, OPTION_SHARE_ARENA);
}

static bool shares_kernels(const struct driver_state *driver)
{
    return has_option(&driver->args, OPTION_SHARED_KERNELS);
}

static const char *wanted(const struct driver_state *driver)
{
    return shares_arena(driver) ? "--share-arena" : "--shared-kernels";
}

static bool check_options(struct driver_state *driver)
{
    const int n = driver->args.n_operands;
    bool ok = true;

    if (!shares_arena(driver) && !shares_kernels(driver)) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "compile takes one model");
        diag_help(driver->ctx,
                  "--share-arena compiles several, for one arena; --shared-kernels, for one program");
        return ok;
    }
    if (has_option(&driver->args, OPTION_REPORT))
        return diag_error(driver->ctx, DIAG_USAGE, NULL, "--report takes one model");
    if (n < 2)
        return diag_error(driver->ctx, DIAG_USAGE, NULL, "%s needs at least two models",
                          wanted(driver));
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++) {
        const int given = driver->args.options[of_models[i]].n;

        if (given != 0 && given != n && (given != 1 || of_models[i] == OPTION_NAME))
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                            "--%s: given %d times for %d models: once for each, in their order%s",
                            option_name(of_models[i]), given, n,
                            of_models[i] == OPTION_NAME ? "" : ", or once for all");
    }
    return ok;
}

/* Options whose values may begin with the name of the model that they are for, as in silero:sr=16000. */
static const enum option_id by_name[] = { OPTION_FREEZE, OPTION_SHAPE };

/* Name of model i: --name, or the file's. */
static const char *name_of(const struct driver_state *driver, int i)
{
    const struct option_values *names = &driver->args.options[OPTION_NAME];

    return names->n == driver->args.n_operands
               ? names->at[i]
               : default_name(driver->ctx, driver->args.operands[i]);
}

/* The value without "MODEL:"; NULL if it is for another model than i. */
static const char *value_for(const struct driver_state *driver, int i, const char *value)
{
    for (int k = 0; k < driver->args.n_operands; k++) {
        const char *name = name_of(driver, k);
        const size_t n = strlen(name);

        if (strncmp(value, name, n) == 0 && value[n] == ':')
            return k == i ? value + n + 1 : NULL;
    }
    return value;
}

static void keep_values(struct driver_state *driver, int i, struct option_values *values)
{
    struct option_values kept = { .n = 0 };

    for (int k = 0; k < values->n; k++) {
        const char *value = value_for(driver, i, values->at[k]);

        if (value)
            option_add(driver->ctx, &kept, value);
    }
    *values = kept;
}

/* The command line as if there were only model i. */
static struct driver_state only_model(struct driver_state *driver, int i)
{
    struct driver_state own = *driver;

    own.args.operands = &driver->args.operands[i];
    own.args.n_operands = 1;
    for (size_t k = 0; k < sizeof of_models / sizeof *of_models; k++) {
        struct option_values *values = &own.args.options[of_models[k]];

        if (values->n == driver->args.n_operands)
            *values = (struct option_values){ 1, &values->at[i] };
    }
    for (size_t k = 0; k < sizeof by_name / sizeof *by_name; k++)
        keep_values(driver, i, &own.args.options[by_name[k]]);
    return own;
}

static bool same_symbols(const char *a, const char *b)
{
    while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b))
        a++, b++;
    return !*a && !*b;
}

/* A prefix that the files of the set have themselves; NULL = none. */
static const char *prefix_of_set(const struct driver_state *driver, int i)
{
    static const char *const own[] = { "shared", "relayc_kernels" };

    return (i ? shares_kernels(driver) : shares_arena(driver)) ? own[i] : NULL;
}

/* Two headers with the same macros would not do. */
static bool check_names(struct driver_state *driver, const struct driver_state *all, int n)
{
    const char *name = all[n].codegen.name;

    for (int i = 0; i < n + 2; i++) {
        const char *other = i < n ? all[i].codegen.name : prefix_of_set(driver, i - n);

        if (!other || !same_symbols(other, name))
            continue;
        diag_error(driver->ctx, DIAG_USAGE, NULL, "%s: '%s' and '%s' give one symbol prefix",
                   wanted(driver), other, name);
        diag_help(driver->ctx, "--name, once per model, sets other prefixes");
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

/* Gives its path. */
static const char *write_header(struct driver_state *driver, struct output_set *set,
                                const struct driver_state *all, int n)
{
    const struct codegen_options *options = &all[0].codegen;
    struct arena *arena = &driver->ctx->perm;
    const char *path = arena_printf(arena, "%s/%s", options->dir, header_name);
    struct writer *w = output_open(set, path);
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
    return path;
}

/* Each alone may fit the flash. */
static bool check_flash(struct driver_state *driver, const struct driver_state *all, int n)
{
    const size_t allowed = all[0].budget.flash;
    size_t needed = 0;

    for (int i = 0; i < n; i++)
        needed += all[i].result.weight_bytes +
                  (all[i].codegen.measured ? all[i].codegen.measured->other_flash : 0);
    if (!allowed || needed <= allowed)
        return true;
    return diag_error(
        driver->ctx, DIAG_RAM, NULL,
        "the networks need %zu bytes of flash in total, %zu more than %s allows (%zu)", needed,
        needed - allowed, all[0].budget.flash_source, allowed);
}

static void measure(struct shared_arena *shared)
{
    const struct codegen_options *options = &shared->all[0].codegen;

    for (int i = 0; i < shared->n; i++)
        shared->separate_bytes += shared->all[i].result.arena_bytes;
    for (int p = options->n_pools ? 0 : -1; p < options->n_pools; p++)
        shared->bytes += p < 0 || has_arena(options, p) ? greatest(shared->all, shared->n, p) : 0;
}

/* With --shared-kernels, all but the last stage. */
static bool compile_one(struct driver_state *own)
{
    if (!shares_kernels(own) || variants_wanted(own)) /* which --vary refuses */
        return driver_compile(own);
    if (!driver_prepare(own))
        return false;
    if (!own->emit.c)
        return diag_error(own->ctx, DIAG_USAGE, NULL, "--shared-kernels needs the C: --emit c");
    return driver_run(own, STAGE_BUDGET);
}

bool driver_compile_shared(struct driver_state *driver, struct shared_arena *out)
{
    const int n = driver->args.n_operands;
    bool ok = check_options(driver);

    *out = (struct shared_arena){ .fits = true };
    out->all = arena_array(&driver->ctx->perm, struct driver_state, n);
    for (; out->n < n && ok; out->n++) {
        out->all[out->n] = only_model(driver, out->n);
        ok = compile_one(&out->all[out->n]) && check_names(driver, out->all, out->n);
        out->fits = out->fits && out->all[out->n].budget.fits;
    }
    if (ok && !check_flash(driver, out->all, n)) {
        out->fits = false;
        ok = has_option(&driver->args, OPTION_FORCE);
    }
    if (ok && shares_kernels(driver))
        ok = driver_print_set(out->all, n, &out->kernels);
    if (!ok)
        return false;
    if (shares_arena(driver)) {
        out->header = write_header(driver, driver->outputs, out->all, n);
        measure(out);
    }
    return output_finish(driver->outputs);
}

void driver_shared_free(struct shared_arena *shared)
{
    for (int i = 0; i < shared->n; i++) {
        module_free(shared->all[i].module);
        driver_free(&shared->all[i]);
    }
}
