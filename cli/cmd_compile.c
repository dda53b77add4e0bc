/* cmd_compile.c - the main job: model.onnx in, NAME.h, NAME.c, NAME_weights.c, NAME.json out, or
 * the graph as JSON. */
#include <inttypes.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/compile.h"
#include "cli/footprint.h"
#include "cli/graph_json.h"
#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The stem of the file as an identifier: "../kws v2.onnx" -> "kws_v2". */
static const char *default_name(struct ctx *ctx, const char *path)
{
    char *stem = arena_strdup(&ctx->perm, strcmp(path, "-") == 0 ? "model" : base_name(path));
    char *dot = strrchr(stem, '.');

    if (dot && dot != stem)
        *dot = '\0';
    return c_identifier(&ctx->perm, stem);
}

/* --name must be an identifier as it stands: a silent change would surprise the build system. */
static bool model_name(struct cli *cli, const char **out)
{
    const char *given = option_text(&cli->args, OPTION_NAME, NULL);

    *out = given ? given : default_name(cli->ctx, cli->args.operands[0]);
    if (!given || strcmp(c_identifier(&cli->ctx->perm, given), given) == 0)
        return true;
    diag_error(cli->ctx, DIAG_USAGE, NULL, "--name: '%s' cannot be the prefix of C symbols",
               str_safe(&cli->ctx->perm, given, 80));
    diag_help(cli->ctx, "try --name %s", c_identifier(&cli->ctx->perm, given));
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
static const char *banner_options(struct cli *cli)
{
    static const enum option_id budgets[] = { OPTION_RAM, OPTION_FLASH, OPTION_BOARD };
    struct str text = { .arena = &cli->ctx->perm };

    for (int i = 0; i < cli->args.options[OPTION_SHAPE].n; i++)
        str_printf(&text, " --shape %s", cli->args.options[OPTION_SHAPE].at[i]);
    for (int i = 0; i < cli->args.options[OPTION_FREEZE].n; i++)
        str_printf(&text, " --freeze %s", cli->args.options[OPTION_FREEZE].at[i]);
    if (has_option(&cli->args, OPTION_WEIGHTS))
        str_printf(&text, " --weights=%s", option_text(&cli->args, OPTION_WEIGHTS, ""));
    if (has_option(&cli->args, OPTION_STEP))
        str_add(&text, " --step");
    if (has_option(&cli->args, OPTION_DETERMINISTIC))
        str_add(&text, " --deterministic");
    if (has_option(&cli->args, OPTION_PARALLEL))
        str_printf(&text, " --parallel %d", cli->parts);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        if (has_option(&cli->args, budgets[i]))
            str_printf(&text, " --%s %s", option_name(budgets[i]),
                       base_name(option_text(&cli->args, budgets[i], "")));
    if (has_option(&cli->args, OPTION_GUARD))
        str_add(&text, " --guard");
    if (has_option(&cli->args, OPTION_IO_IN_ARENA))
        str_add(&text, " --io-in-arena");
    for (int i = 0; i < cli->args.options[OPTION_POOL].n; i++)
        str_printf(&text, " --pool %s", cli->args.options[OPTION_POOL].at[i]);
    if (cli->machine != &machines[0])
        str_printf(&text, " --target %s", cli->machine->name);
    for (int i = 0; i < cli->args.options[OPTION_TUNE_LOG].n; i++)
        str_printf(&text, " --tune-log %s", base_name(cli->args.options[OPTION_TUNE_LOG].at[i]));
    if (has_option(&cli->args, OPTION_WINOGRAD))
        str_printf(&text, " --winograd=%s", option_text(&cli->args, OPTION_WINOGRAD, ""));
    if (cli->optimize_size)
        str_add(&text, " --optimize size");
    if (has_option(&cli->args, OPTION_SKIP_ZEROS))
        str_printf(&text, " --skip-zeros %s", option_text(&cli->args, OPTION_SKIP_ZEROS, ""));
    str_add(&text, offload_options(cli, false)); /* folders are another machine's business */
    return *str_text(&text) ? str_text(&text) + 1 : "";
}

static void report_measured(struct cli *cli, const struct codegen_measured *measured)
{
    cJSON *json;

    if (!measured)
        return;
    say(cli,
        "  code    %" PRIu64 " bytes, constants %" PRIu64 ", data %" PRIu64 ", bss %" PRIu64
        " (%s)\n",
        measured->text, measured->rodata, measured->data, measured->bss, measured->compiler);
    if (measured->has_stack)
        say(cli, "  stack   %zu bytes%s%s\n", measured->stack,
            *measured->beyond ? ", and what these take: " : "", measured->beyond);
    if (!cli->json)
        return;
    json = cJSON_AddObjectToObject(cli->json, "measured");
    cJSON_AddStringToObject(json, "compiler", measured->compiler);
    cJSON_AddNumberToObject(json, "text", (double)measured->text);
    cJSON_AddNumberToObject(json, "rodata", (double)measured->rodata);
    cJSON_AddNumberToObject(json, "data", (double)measured->data);
    cJSON_AddNumberToObject(json, "bss", (double)measured->bss);
    if (measured->has_stack)
        cJSON_AddNumberToObject(json, "stack", (double)measured->stack);
}

/* With --pool nothing is proved of the sum. */
static void report_arena(struct cli *cli, const struct codegen_options *options,
                         const struct codegen_result *result)
{
    say(cli, "  arena   %zu bytes", result->arena_bytes);
    if (result->arena_optimal)
        say(cli, " = lower bound, optimal");
    else if (!options->n_pools)
        say(cli, ", lower bound %zu (in this order %zu)", result->arena_order_bound,
            result->arena_lower_bound);
    say(cli, "; without sharing %zu, in-place only %zu\n", result->arena_naive_bytes,
        result->arena_in_place_bytes);
}

static void report(struct cli *cli, const struct module *module, const struct budget *budget,
                   const struct codegen_options *options, const struct codegen_result *result)
{
    report_precision(cli);
    say(cli, "%s: %d ONNX node%s -> %d region%s, %.2f M MACs\n", options->name,
        result->n_onnx_nodes, result->n_onnx_nodes == 1 ? "" : "s", result->n_regions,
        result->n_regions == 1 ? "" : "s", (double)result->macs / 1e6);
    report_offload(cli, module);
    report_tuning(cli, result);
    say(cli, "  flash   %zu bytes of weights\n", result->weight_bytes);
    if (result->n_winograd)
        say(cli,
            "  winograd %d convolution%s: %zu bytes more weights, up to %zu of the arena; "
            "--winograd off "
            "goes without\n",
            result->n_winograd, result->n_winograd == 1 ? "" : "s", result->winograd_weight_bytes,
            result->winograd_scratch_bytes);
    if (result->n_pairs)
        say(cli,
            "  pairs   %d convolution%s: two products by one multiplication; --winograd off goes "
            "without\n",
            result->n_pairs, result->n_pairs == 1 ? "" : "s");
    if (result->n_amx)
        say(cli,
            "  amx     %d convolution%s: matrices of weights in three parts, %zu bytes more; "
            "--winograd off goes without\n",
            result->n_amx, result->n_amx == 1 ? "" : "s", result->amx_weight_bytes);
    if (result->n_skips)
        say(cli,
            "  zeros   %d product%s of one row: no weights of inputs that are 0 are read, so the "
            "time depends on the data; --skip-zeros off goes without\n",
            result->n_skips, result->n_skips == 1 ? "" : "s");
    report_arena(cli, options, result);
    report_pools(cli, options, result);
    report_measured(cli, options->measured);
    report_budget(cli, budget, options, result);
    if (result->n_stripes)
        say(cli,
            "  stripes %d layers in %d group%s, row by row: layer by layer the arena takes %zu "
            "bytes; "
            "the operations are the same\n",
            result->n_striped, result->n_stripes, result->n_stripes == 1 ? "" : "s",
            result->arena_whole_bytes);
    for (int i = 0; i < result->n_files; i++)
        say(cli, "%s%s%s", i ? ", " : "  wrote   ", result->files[i],
            i + 1 == result->n_files ? "\n" : "");
    say(cli, "  next    relayc verify %s", for_shell(cli, cli->args.operands[0]));
    for (int i = 0; i < cli->args.options[OPTION_SHAPE].n; i++)
        say(cli, " --shape %s", for_shell(cli, cli->args.options[OPTION_SHAPE].at[i]));
    for (int i = 0; i < cli->args.options[OPTION_FREEZE].n; i++)
        say(cli, " --freeze %s", for_shell(cli, cli->args.options[OPTION_FREEZE].at[i]));
    if (has_option(&cli->args, OPTION_TARGET) || cli->board)
        say(cli, " --target %s", cli->machine->name);
    for (int i = 0; i < cli->args.options[OPTION_TUNE_LOG].n; i++)
        say(cli, " --tune-log %s", for_shell(cli, cli->args.options[OPTION_TUNE_LOG].at[i]));
    if (has_option(&cli->args, OPTION_WINOGRAD))
        say(cli, " --winograd %s", option_text(&cli->args, OPTION_WINOGRAD, ""));
    if (options->optimize_size)
        say(cli, " --optimize size");
    if (has_option(&cli->args, OPTION_SKIP_ZEROS))
        say(cli, " --skip-zeros %s", option_text(&cli->args, OPTION_SKIP_ZEROS, ""));
    if (options->deterministic)
        say(cli, " --deterministic");
    if (has_option(&cli->args, OPTION_PARALLEL))
        say(cli, " --parallel %d", options->parts);
    if (cli->ram)
        say(cli, " --ram %s", option_text(&cli->args, OPTION_RAM, ""));
    repeat_pools(cli);
    if (options->io_in_arena)
        say(cli, " --io-in-arena");
    say(cli, "%s\n", offload_options(cli, true));
    if (cli->json) {
        cJSON *files = cJSON_AddArrayToObject(cli->json, "files");

        cJSON_AddStringToObject(cli->json, "name", options->name);
        cJSON_AddStringToObject(cli->json, "target", cli->machine->name);
        cJSON_AddBoolToObject(cli->json, "deterministic", options->deterministic);
        cJSON_AddNumberToObject(cli->json, "onnx_nodes", result->n_onnx_nodes);
        cJSON_AddNumberToObject(cli->json, "regions", result->n_regions);
        cJSON_AddNumberToObject(cli->json, "macs", (double)result->macs);
        cJSON_AddNumberToObject(cli->json, "weight_bytes", (double)result->weight_bytes);
        cJSON_AddNumberToObject(cli->json, "arena_bytes", (double)result->arena_bytes);
        cJSON_AddNumberToObject(cli->json, "striped_regions", result->n_striped);
        cJSON_AddNumberToObject(
            cli->json, "arena_bytes_without_stripes",
            (double)(result->n_stripes ? result->arena_whole_bytes : result->arena_bytes));
        cJSON_AddNumberToObject(cli->json, "winograd_regions", result->n_winograd);
        cJSON_AddNumberToObject(cli->json, "pairs_regions", result->n_pairs);
        cJSON_AddNumberToObject(cli->json, "amx_regions", result->n_amx);
        cJSON_AddNumberToObject(cli->json, "skips_zeros_regions", result->n_skips);
        cJSON_AddNumberToObject(cli->json, "amx_more_weight_bytes",
                                (double)result->amx_weight_bytes);
        cJSON_AddNumberToObject(cli->json, "winograd_more_weight_bytes",
                                (double)result->winograd_weight_bytes);
        cJSON_AddNumberToObject(cli->json, "winograd_scratch_bytes",
                                (double)result->winograd_scratch_bytes);
        for (int i = 0; i < result->n_files; i++)
            cJSON_AddItemToArray(files, cJSON_CreateString(result->files[i]));
    }
}

static bool plan_only(struct module *module, const struct codegen_options *options,
                      struct output_set *set, struct codegen_result *result)
{
    struct codegen_options plan = *options;

    plan.plan_only = true;
    return codegen_c(module, &plan, set, result);
}

/* Begins the files. */
static bool write_files(struct cli *cli, struct output_set *set, struct compilation *c)
{
    const bool force = has_option(&cli->args, OPTION_FORCE);

    c->fits = true;
    if (c->emit.c && has_option(&cli->args, OPTION_CC)) {
        c->options.measured = measure_footprint(cli, c->module, &c->options);
        if (!c->options.measured)
            return false;
    }
    if (c->emit.c && (c->budget.ram || c->budget.flash)) { /* before any file is begun */
        if (!plan_only(c->module, &c->options, set, &c->result))
            return false;
        c->fits = check_budget(cli, &c->budget, &c->options, &c->result);
        if (!c->fits && !force)
            return false;
    }
    return (!c->emit.json ||
            write_graph_json(cli, c->module, set, c->options.dir, c->options.name)) &&
           (!c->emit.c || codegen_c(c->module, &c->options, set, &c->result));
}

void compile_report(struct cli *cli, const struct compilation *c)
{
    if (c->emit.c)
        report(cli, c->module, &c->budget, &c->options, &c->result);
    if (c->emit.json)
        report_graph_json(cli, c->module, c->options.dir, c->options.name);
}

bool compile_model(struct cli *cli, struct output_set *set, struct compilation *c)
{
    static const char *const forms[] = { "auto", "inline", "file", NULL };
    struct codegen_options *options = &c->options;
    int weights;
    bool ok;

    *c = (struct compilation){ .options = { .dir = option_text(&cli->args, OPTION_OUTPUT_DIR, "."),
                                            .step = has_option(&cli->args, OPTION_STEP),
                                            .guard = has_option(&cli->args, OPTION_GUARD),
                                            .deterministic =
                                                has_option(&cli->args, OPTION_DETERMINISTIC) } };
    ok = option_word(cli->ctx, &cli->args, OPTION_WEIGHTS, forms, WEIGHTS_AUTO, &weights);
    ok = check_dump_option(cli) && ok;
    ok = parse_emit(cli, &c->emit) && ok;
    ok = prepare_budget(cli, &c->budget) && ok;
    ok = prepare_pools(cli) && ok;
    ok = prepare_machine(cli) && ok;
    ok = prepare_offload(cli) && ok;
    if (!model_name(cli, &options->name) || !ok)
        return false;
    options->weights = (enum weights_form)weights;
    options->machine = cli->machine;
    options->ram_bytes = c->budget.ram;
    options->flash_bytes = c->budget.flash;
    options->parts = cli->parts;
    options->ram = c->budget.ram;
    options->io_in_arena = cli->io_in_arena;
    options->n_pools = cli->n_pools;
    options->pools = cli->pools;
    options->choices = cli->choices;
    options->winograd = cli->winograd;
    options->optimize_size = cli->optimize_size;
    options->keep_zeros = cli->keep_zeros;
    c->module = load_model(cli);
    if (!c->module)
        return false;
    options->model_file = base_name(cli->args.operands[0]);
    options->model_sha256 = model_sha256(cli->ctx, cli->args.operands[0]);
    options->command = banner_options(cli);
    ok = options->model_sha256 && run_passes(cli, c->module);
    options->numbers = chosen_numbers(cli);
    options->targets = cli->offload.targets.first ? &cli->offload.targets : NULL;
    return ok && write_files(cli, set, c);
}

bool command_compile(struct cli *cli)
{
    struct compilation compilation;
    bool ok;

    if (has_option(&cli->args, OPTION_PASSES)) {
        list_passes(cli);
        return true;
    }
    if (show_machines_wanted(cli) || show_boards_wanted(cli))
        return true;
    if (cli->args.n_operands > 1 || has_option(&cli->args, OPTION_SHARE_ARENA))
        return compile_shared(cli);
    ok = compile_model(cli, cli->outputs, &compilation) && output_finish(cli->outputs);
    if (ok)
        compile_report(cli, &compilation);
    module_free(compilation.module);
    return ok && compilation.fits;
}
