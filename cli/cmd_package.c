/* cmd_package.c - the files of `relayc compile` as a package for Zephyr, Arduino, CMake ... */
#include "cli/cli.h"
#include "package/package.h"

bool command_package(struct cli *cli)
{
    const struct arguments *args = &cli->driver->args;
    const struct option_values *facts = &args->options[OPTION_SET];
    struct package package = {
        .ctx = cli->ctx,
        .outputs = cli->outputs,
        .from = args->operands[0],
        .to = option_text(args, OPTION_OUTPUT_DIR, NULL),
        .name = option_text(args, OPTION_NAME, NULL),
        .cc = option_text(args, OPTION_CC, NULL),
        .cflags = option_text(args, OPTION_CFLAGS, NULL),
        .keys = { .arena = &cli->ctx->perm },
        .n_facts = facts->n,
        .facts = facts->at,
    };

    if (!package.to)
        return diag_error(cli->ctx, DIAG_USAGE, NULL, "'relayc package' needs --output-dir");
    if (!package_formats_parse(cli->ctx, option_text(args, OPTION_FORMAT, "all"),
                               &package.formats) ||
        !package_write(&package) || !output_finish(cli->outputs))
        return false;
    say(cli, "%s: %d model%s in %s\n  next    read %s/README.md\n", package.name, package.n_models,
        str_plural(package.n_models), package.to, package.to);
    return true;
}
