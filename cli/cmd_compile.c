/* cmd_compile.c - the main job: model.onnx in, NAME.h, NAME.c, NAME_weights.c, NAME.json out, or
 * the graph as JSON. */
#include <inttypes.h>

#include "cli/analyze.h"
#include "cli/compile.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/part.h"

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
    if (result->state_bytes)
        say(cli, "  state   %zu bytes, kept from run to run\n", result->state_bytes);
}

static void report(struct cli *cli)
{
    const struct module *module = cli->driver->module;
    const struct codegen_options *options = &cli->driver->codegen;
    const struct codegen_result *result = &cli->driver->result;

    report_precision(cli);
    say(cli, "%s: %d %s node%s -> %d region%s, %.2f M MACs\n", options->name, result->n_onnx_nodes,
        module->format, result->n_onnx_nodes == 1 ? "" : "s", result->n_regions,
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
    report_pools(cli);
    report_measured(cli, options->measured);
    report_budget(cli);
    if (result->n_stripes)
        say(cli,
            "  stripes %d layers in %d group%s, row by row: layer by layer the arena takes %zu "
            "bytes; "
            "the operations are the same\n",
            result->n_striped, result->n_stripes, result->n_stripes == 1 ? "" : "s",
            result->arena_whole_bytes);
    for (int i = 0; i < result->n_files; i++)
        say(cli, "%s%s", i ? ", " : "  wrote   ", result->files[i]);
    if (has_option(&cli->driver->args, OPTION_REPORT))
        say(cli, ", %s", option_text(&cli->driver->args, OPTION_REPORT, ""));
    say(cli, result->n_files ? "\n" : "");
    if (has_option(&cli->driver->args, OPTION_CUSTOM_OP)) /* verify does not call the functions */
        return;
    say(cli, "  next    relayc verify %s", for_shell(cli->driver, cli->driver->args.operands[0]));
    for (int i = 0; i < cli->driver->args.options[OPTION_SHAPE].n; i++)
        say(cli, " --shape %s",
            for_shell(cli->driver, cli->driver->args.options[OPTION_SHAPE].at[i]));
    say(cli, "%s", vary_options(cli->driver));
    for (int i = 0; i < cli->driver->args.options[OPTION_FREEZE].n; i++)
        say(cli, " --freeze %s",
            for_shell(cli->driver, cli->driver->args.options[OPTION_FREEZE].at[i]));
    say(cli, "%s", part_options(cli->driver, true));
    if (has_option(&cli->driver->args, OPTION_TARGET) || cli->driver->board)
        say(cli, " --target %s", cli->driver->machine->name);
    for (int i = 0; i < cli->driver->args.options[OPTION_TUNE_LOG].n; i++)
        say(cli, " --tune-log %s",
            for_shell(cli->driver, cli->driver->args.options[OPTION_TUNE_LOG].at[i]));
    if (has_option(&cli->driver->args, OPTION_WINOGRAD))
        say(cli, " --winograd %s", option_text(&cli->driver->args, OPTION_WINOGRAD, ""));
    if (has_option(&cli->driver->args, OPTION_OPTIMIZE))
        say(cli, " --optimize %s", option_text(&cli->driver->args, OPTION_OPTIMIZE, ""));
    if (has_option(&cli->driver->args, OPTION_SKIP_ZEROS))
        say(cli, " --skip-zeros %s", option_text(&cli->driver->args, OPTION_SKIP_ZEROS, ""));
    if (options->deterministic)
        say(cli, " --deterministic");
    if (has_option(&cli->driver->args, OPTION_PARALLEL))
        say(cli, " --parallel %d", options->parts);
    if (cli->driver->ram)
        say(cli, " --ram %s", option_text(&cli->driver->args, OPTION_RAM, ""));
    repeat_pools(cli);
    if (options->io_in_arena)
        say(cli, " --io-in-arena");
    say(cli, "%s\n", offload_options(cli->driver, true));
    if (cli->json) {
        cJSON *files = cJSON_AddArrayToObject(cli->json, "files");

        cJSON_AddStringToObject(cli->json, "name", options->name);
        cJSON_AddStringToObject(cli->json, "target", cli->driver->machine->name);
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

static void report_graph(struct cli *cli)
{
    const char *name = cli->driver->codegen.name;
    const char *files[2];
    const int n = driver_graph_files(cli->driver, files);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cli->json, "files");

    if (cli->json && !list) {
        cJSON_AddStringToObject(cli->json, "name", name);
        list = cJSON_AddArrayToObject(cli->json, "files");
    }
    for (int i = 0; i < n && list; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(files[i]));
    say(cli, "%s: the graph after all passes\n  wrote   %s%s%s\n", name, files[0],
        n > 1 ? ", " : "", n > 1 ? files[1] : "");
}

void report_compilation(struct cli *cli)
{
    if (cli->driver->emit.c)
        report(cli);
    if (cli->driver->emit.json)
        report_graph(cli);
}

/* --report: the page of what has just been compiled, among the other files. */
static bool add_page(struct cli *cli)
{
    const char *path = option_text(&cli->driver->args, OPTION_REPORT, NULL);
    struct analysis analysis;
    struct facts *facts;

    if (!path)
        return true;
    if (!cli->driver->emit.c)
        return diag_error(cli->ctx, DIAG_USAGE, NULL, "--report needs the C: --emit c");
    facts = facts_parse(cli->ctx, cli->driver->codegen.model_file, cli->driver->result.json);
    if (!facts || !analyze(cli, facts, &analysis))
        return false;
    analysis_write_html(cli->ctx, output_open(cli->outputs, path), &analysis);
    return true;
}

bool command_compile(struct cli *cli)
{
    bool ok;

    if (has_option(&cli->driver->args, OPTION_PASSES)) {
        list_passes(cli);
        return true;
    }
    if (show_machines_wanted(cli) || show_boards_wanted(cli))
        return true;
    if (cli->driver->args.n_operands > 1 || has_option(&cli->driver->args, OPTION_SHARE_ARENA) ||
        has_option(&cli->driver->args, OPTION_SHARED_KERNELS))
        return compile_shared(cli);
    ok = driver_compile(cli->driver);
    report_verdict(cli);
    ok = ok && add_page(cli) && output_finish(cli->outputs);
    if (ok)
        report_compilation(cli);
    module_free(cli->driver->module);
    return ok && cli->driver->budget.fits;
}
