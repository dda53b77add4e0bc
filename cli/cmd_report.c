/* cmd_report.c - report and analyze: one compilation, explained, as a page, as text, as JSON. */
#include "cli/open_facts.h"
#include "cli/analyze.h"
#include "driver/board.h"

static const char *pool_source(struct cli *cli, const struct board_pool *pool,
                               const struct board *board)
{
    return arena_printf(&cli->ctx->perm, "the pool %s of %s", pool->name, board->name);
}

/* --ram, --flash, and what they leave open of --board. False after an error. */
static bool read_limits(struct cli *cli, struct report_limits *limits)
{
    const struct arguments *args = &cli->driver->args;
    const char *name = option_text(args, OPTION_BOARD, NULL);
    const struct board *board = name ? board_read(cli->ctx, name) : NULL;
    const struct board_pool *ram, *flash;
    size_t n_ram, n_flash;

    if ((name && !board) || !option_bytes(cli->ctx, args, OPTION_RAM, 0, &n_ram) ||
        !option_bytes(cli->ctx, args, OPTION_FLASH, 0, &n_flash))
        return false;
    ram = board ? board_greatest(board, false) : NULL;
    flash = board ? board_greatest(board, true) : NULL;
    *limits = (struct report_limits){
        .board = board ? board->name : NULL,
        .chip = board ? board->chip : NULL,
        .clock_mhz = board ? board->clock_mhz : 0,
        .ram = (double)(n_ram ? n_ram
                        : ram ? ram->bytes
                              : 0),
        .flash = (double)(n_flash ? n_flash
                          : flash ? flash->bytes
                                  : 0),
        .ram_source = n_ram || !ram ? "--ram" : pool_source(cli, ram, board),
        .flash_source = n_flash || !flash ? "--flash" : pool_source(cli, flash, board),
    };
    return true;
}

static bool add_tried(struct cli *cli, struct analysis *out)
{
    const struct option_values *given = &cli->driver->args.options[OPTION_SEARCH];

    for (int i = 0; i < given->n; i++)
        if (!tried_read(cli->ctx, given->at[i], &out->trials, &out->points))
            return false;
    return true;
}

bool analyze(struct cli *cli, struct facts *facts, struct analysis *out)
{
    const struct arguments *args = &cli->driver->args;

    *out = (struct analysis){ .facts = facts,
                              .times_from = option_text(args, OPTION_LATENCY_LOG, NULL),
                              .losses_from = option_text(args, OPTION_COMPARE, NULL) };
    if (!read_limits(cli, &out->limits))
        return false;
    analysis_estimate(facts, out->limits.clock_mhz);
    return (!out->times_from || analysis_add_times(cli->ctx, facts, out->times_from)) &&
           (!out->losses_from || analysis_add_losses(cli->ctx, facts, out->losses_from)) &&
           (!has_option(args, OPTION_EVAL) ||
            scores_read(cli->ctx, option_text(args, OPTION_EVAL, ""), &out->scores)) &&
           add_tried(cli, out);
}

/* Opens the operand, and hands its analysis to `show`. */
static bool with_analysis(struct cli *cli,
                          bool (*show)(struct cli *cli, const struct analysis *analysis))
{
    struct opened_facts opened;
    struct analysis analysis;
    const char *operand;
    bool ok;

    if (show_machines_wanted(cli) || show_boards_wanted(cli))
        return true;
    operand = cli->driver->args.operands[0];
    ok = open_facts(cli, operand, &opened);
    if (ok && opened.folder) /* compiled just now, with symbols that do not matter */
        opened.facts->name = default_name(cli->ctx, operand);
    ok = ok && analyze(cli, opened.facts, &analysis) && show(cli, &analysis);
    close_facts(&opened);
    return ok;
}

static bool show_table(struct cli *cli, const struct analysis *analysis)
{
    if (cli->json)
        analysis_add_json(&cli->ctx->perm, analysis, cli->json);
    else
        say(cli, "%s", analysis_text(&cli->ctx->perm, analysis));
    return true;
}

bool command_analyze(struct cli *cli)
{
    return with_analysis(cli, show_table);
}

static bool write_page(struct cli *cli, const struct analysis *analysis)
{
    enum { PAGE, NETRON, MODEL_EXPLORER };
    static const char *const forms[] = { "html", "netron", "model-explorer", NULL };
    static const char *const endings[] = { "html", "netron.json", "model-explorer.json" };
    const char *verdict = analysis_verdict(&cli->ctx->perm, analysis), *path;
    struct writer *out;
    int form;

    if (!option_word(cli->ctx, &cli->driver->args, OPTION_FORMAT, forms, PAGE, &form))
        return false;
    path =
        option_text(&cli->driver->args, OPTION_OUTPUT,
                    arena_printf(&cli->ctx->perm, "%s.%s", analysis->facts->name, endings[form]));
    out = output_open(cli->outputs, path);
    switch (form) {
    case NETRON: analysis_write_netron(cli->ctx, out, analysis); break;
    case MODEL_EXPLORER: analysis_write_model_explorer(out, analysis); break;
    default: analysis_write_html(cli->ctx, out, analysis);
    }
    if (!output_finish(cli->outputs))
        return false;
    if (cli->json)
        analysis_add_json(&cli->ctx->perm, analysis, cli->json);
    say(cli, "%s%swrote %s\n", verdict ? verdict : "", verdict ? "\n" : "", path);
    return true;
}

bool command_report(struct cli *cli)
{
    return with_analysis(cli, write_page);
}
