/* compile.c - relayc compile: what its options mean, and the last stages, which write files. */
#include <sha256.h>
#include <string.h>

#include "base/obsolete.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "driver/footprint.h"
#include "driver/graph_json.h"
#include "driver/part.h"
#include "include/relayc/relayc.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The stem of the file as an identifier. */
const char *default_name(struct ctx *ctx, const char *path)
{
    char *stem = arena_strdup(&ctx->perm, strcmp(path, "-") == 0 ? "model" : base_name(path));
    char *dot = strrchr(stem, '.');

    if (dot && dot != stem)
        *dot = '\0';
    return c_identifier(&ctx->perm, stem);
}

/* --name must be an identifier as it stands: a silent change would surprise the build system. */
static bool choose_name(struct driver_state *driver, const char **out)
{
    const char *given = option_text(&driver->args, OPTION_NAME, NULL);

    *out = given ? given : default_name(driver->ctx, driver->args.operands[0]);
    if (!given || strcmp(c_identifier(&driver->ctx->perm, given), given) == 0)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--name: '%s' cannot be the prefix of C symbols",
               str_safe(&driver->ctx->perm, given, 80));
    diag_help(driver->ctx, "try --name %s", c_identifier(&driver->ctx->perm, given));
    return false;
}

static const char *model_sha256(struct ctx *ctx, const char *path)
{
    struct mapping file;
    char hex[SHA256_DIGEST_STRING_LENGTH];

    if (strcmp(path, "-") == 0) /* a pipe has been read already */
        return "";
    if (!file_map(ctx, path, &file))
        return NULL;
    SHA256Data(file.data, file.size, hex);
    file_unmap(&file);
    return arena_strdup(&ctx->perm, hex);
}

/* The options that change the output, for the banner. */
static const char *banner_options(struct driver_state *driver)
{
    static const enum option_id budgets[] = { OPTION_RAM, OPTION_FLASH, OPTION_BOARD };
    struct str text = { .arena = &driver->ctx->perm };

    for (int i = 0; i < driver->args.options[OPTION_SHAPE].n; i++)
        str_printf(&text, " --shape %s", driver->args.options[OPTION_SHAPE].at[i]);
    for (int i = 0; i < driver->args.options[OPTION_VARY].n; i++)
        str_printf(&text, " --vary %s", driver->args.options[OPTION_VARY].at[i]);
    for (int i = 0; i < driver->args.options[OPTION_MAX].n; i++)
        str_printf(&text, " --max %s", driver->args.options[OPTION_MAX].at[i]);
    for (int i = 0; i < driver->args.options[OPTION_FREEZE].n; i++)
        str_printf(&text, " --freeze %s", driver->args.options[OPTION_FREEZE].at[i]);
    for (int i = 0; i < driver->args.options[OPTION_CUSTOM_OP].n; i++)
        str_printf(&text, " --custom-op %s", driver->args.options[OPTION_CUSTOM_OP].at[i]);
    str_add(&text, part_options(driver, false));
    for (int i = 0; i < driver->args.options[OPTION_STATE].n; i++)
        str_printf(&text, " --state %s", driver->args.options[OPTION_STATE].at[i]);
    if (has_option(&driver->args, OPTION_WEIGHTS))
        str_printf(&text, " --weights=%s", option_text(&driver->args, OPTION_WEIGHTS, ""));
    if (has_option(&driver->args, OPTION_STEP))
        str_add(&text, " --step");
    if (has_option(&driver->args, OPTION_DETERMINISTIC))
        str_add(&text, " --deterministic");
    if (has_option(&driver->args, OPTION_PARALLEL))
        str_printf(&text, " --parallel %d", driver->parts);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        if (has_option(&driver->args, budgets[i]))
            str_printf(&text, " --%s %s", option_name(budgets[i]),
                       base_name(option_text(&driver->args, budgets[i], "")));
    if (has_option(&driver->args, OPTION_GUARD))
        str_add(&text, " --guard");
    if (has_option(&driver->args, OPTION_IO_IN_ARENA))
        str_add(&text, " --io-in-arena");
    for (int i = 0; i < driver->args.options[OPTION_POOL].n; i++)
        str_printf(&text, " --pool %s", driver->args.options[OPTION_POOL].at[i]);
    if (driver->machine != &machines[0])
        str_printf(&text, " --target %s", driver->machine->name);
    for (int i = 0; i < driver->args.options[OPTION_TUNE_LOG].n; i++)
        str_printf(&text, " --tune-log %s", base_name(driver->args.options[OPTION_TUNE_LOG].at[i]));
    if (has_option(&driver->args, OPTION_WINOGRAD))
        str_printf(&text, " --winograd=%s", option_text(&driver->args, OPTION_WINOGRAD, ""));
    if (has_option(&driver->args, OPTION_OPTIMIZE))
        str_printf(&text, " --optimize %s", option_text(&driver->args, OPTION_OPTIMIZE, ""));
    if (has_option(&driver->args, OPTION_SKIP_ZEROS))
        str_printf(&text, " --skip-zeros %s", option_text(&driver->args, OPTION_SKIP_ZEROS, ""));
    str_add(&text, offload_options(driver, false)); /* folders are another machine's business */
    return *str_text(&text) ? str_text(&text) + 1 : "";
}

/* --- the options ------------------------------------------------------------------------------ */

struct codegen_options driver_codegen_options(const struct driver_state *driver)
{
    return (struct codegen_options){
        .targets = driver->offload.targets.first ? &driver->offload.targets : NULL,
        .machine = driver->machine,
        .choices = driver->choices,
        .winograd = driver->winograd,
        .ram = driver->ram,
        .parts = driver->parts,
        .deterministic = driver->deterministic,
        .keep_zeros = driver->keep_zeros,
        .share = driver->share,
        .optimize_size = driver->optimize_size,
        .io_in_arena = driver->io_in_arena,
        .n_pools = driver->n_pools,
        .pools = driver->pools,
        .model_file = "",
        .version = RELAYC_VERSION,
        .model_sha256 = "",
        .command = "",
    };
}

/* All errors of the options, in one go. */
bool driver_prepare(struct driver_state *driver)
{
    static const char *const forms[] = { "auto", "inline", "file", NULL };
    const char *name;
    int weights;
    bool ok =
        option_word(driver->ctx, &driver->args, OPTION_WEIGHTS, forms, WEIGHTS_AUTO, &weights);

    ok = check_dump_option(driver) && ok;
    ok = prepare_emit(driver) && ok;
    ok = prepare_budget(driver) && ok;
    ok = prepare_pools(driver) && ok;
    ok = prepare_machine(driver) && ok;
    ok = prepare_offload(driver) && ok;
    if (!choose_name(driver, &name) || !ok)
        return false;
    driver->codegen = driver_codegen_options(driver);
    driver->codegen.name = name;
    driver->codegen.dir = option_text(&driver->args, OPTION_OUTPUT_DIR, ".");
    driver->codegen.weights = (enum weights_form)weights;
    driver->codegen.step = has_option(&driver->args, OPTION_STEP);
    driver->codegen.guard = has_option(&driver->args, OPTION_GUARD);
    driver->codegen.ram = driver->codegen.ram_bytes = driver->budget.ram;
    driver->codegen.flash_bytes = driver->budget.flash;
    return true;
}

/* What the banner of NAME.c says of the model. */
bool stage_describe(struct driver_state *driver)
{
    struct codegen_options *options = &driver->codegen;

    options->model_file = base_name(driver->args.operands[0]);
    options->model_sha256 = model_sha256(driver->ctx, driver->args.operands[0]);
    options->command = banner_options(driver);
    return options->model_sha256 != NULL;
}

bool driver_compile(struct driver_state *driver)
{
    if (variants_wanted(driver))
        return compile_variants(driver);
    return driver_prepare(driver) && driver_run(driver, STAGE_PRINT);
}

/* --- the stages ------------------------------------------------------------------------------- */

bool stage_measure(struct driver_state *driver)
{
    driver->codegen.measured = measure_footprint(driver, driver->module, &driver->codegen);
    return driver->codegen.measured != NULL;
}

bool stage_plan(struct driver_state *driver)
{
    driver->code = codegen_plan(driver->module, &driver->codegen, &driver->result);
    return driver->code != NULL;
}

static bool is_written(const struct driver_state *driver, const char *path)
{
    for (int i = 0; i < driver->result.n_files; i++)
        if (strcmp(driver->result.files[i], path) == 0)
            return true;
    return false;
}

/* Does the file begin as the weights of an earlier compilation do? */
static bool is_weights(const char *path)
{
    char head[300], wanted[300];
    FILE *file = fopen(path, "r");
    bool same = file && fgets(head, sizeof head, file);

    if (file)
        fclose(file);
    snprintf(wanted, sizeof wanted, "/* %s - generated by relayc from ", base_name(path));
    return same && str_starts(head, wanted);
}

/* Weights that an earlier compilation of this name wrote, and this one does not: a build that takes all .c files of the
 * folder would compile them. */
static void drop_old_weights(struct driver_state *driver)
{
    static const char *const suffixes[] = { "_weights.h", "_weights.c" };
    const struct codegen_options *options = &driver->codegen;
    struct arena *arena = &driver->ctx->perm;
    bool more = true;

    for (int i = 0; more; i++) {
        const char *suffix = i < 2 ? suffixes[i] : arena_printf(arena, "_weights_%d.c", i);
        const char *path = arena_printf(arena, "%s/%s%s", options->dir, options->name, suffix);
        const bool here = is_written(driver, path);

        if (!here && is_weights(path))
            output_obsolete(driver->outputs, path);
        else
            more = here || i < 2;
    }
}

bool stage_print(struct driver_state *driver)
{
    const bool ok = codegen_print(driver->code, driver->outputs);

    codegen_free(driver->code);
    driver->code = NULL;
    if (ok)
        drop_old_weights(driver);
    return ok;
}

bool driver_print_set(struct driver_state *all, int n, struct kernels_result *shared)
{
    struct planned_code **codes = arena_array(&all[0].ctx->perm, struct planned_code *, n);
    bool ok;

    for (int i = 0; i < n; i++)
        codes[i] = all[i].code;
    driver_begins(&all[0], "writing the C");
    ok = codegen_print_set(codes, n, all[0].outputs, shared);
    for (int i = 0; i < n; i++) {
        codegen_free(all[i].code);
        all[i].code = NULL;
        if (ok)
            drop_old_weights(&all[i]);
    }
    return ok;
}
