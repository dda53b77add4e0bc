/* cli.h - shared by the commands, which have one file and one function each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "driver/driver.h"

struct cli {
    struct ctx *ctx;
    struct driver_state *driver; /* options and compilation */
    struct output_set *outputs;  /* output files: the command completes them, main commits them
                                    after all output was written */
    cJSON *json;                 /* the object that --json prints; NULL without --json */
    bool quiet;
};

/* Each returns false after an error. Diagnostics are printed by main. */
bool command_analyze(struct cli *cli);
bool command_bench(struct cli *cli);
bool command_calibrate(struct cli *cli);
bool command_compare(struct cli *cli);
bool command_compile(struct cli *cli);
bool command_completion(struct cli *cli);
bool command_diff(struct cli *cli);
bool command_eval(struct cli *cli);
bool command_explain(struct cli *cli);
bool command_help(struct cli *cli);
bool command_inspect(struct cli *cli);
bool command_package(struct cli *cli);
bool command_quantize(struct cli *cli);
bool command_report(struct cli *cli);
bool command_run(struct cli *cli);
bool command_search(struct cli *cli);
bool command_targets(struct cli *cli);
bool command_tune(struct cli *cli);
bool command_verify(struct cli *cli);

/* config.c: adds the options of relayc.toml, or of --config's file, that the command line does not give. False after
 * errors. */
bool config_read(struct cli *cli);

/* list.c: `--target help`, `--board help`, --passes. True: the command is done. */
bool show_machines_wanted(struct cli *cli);
bool show_boards_wanted(struct cli *cli);
void list_machines(struct cli *cli);
void list_passes(struct cli *cli);

/* Prints text to standard output unless --json or --quiet. */
void say(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
