/* cli.h - what the commands share: a file each, one function each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "driver/driver.h"

struct cli {
    struct ctx *ctx;
    struct driver_state *driver; /* the options, and the compilation that they ask for */
    struct output_set *outputs;  /* the command's files: it finishes them, main puts them into their
                                    places when all that is to be said was written */
    cJSON *json;                 /* the object that --json prints; NULL without --json */
    bool quiet;
    struct progress progress; /* of the driver's work */
};

/* Each returns false after an error. Diagnostics are printed by main. */
bool command_bench(struct cli *cli);
bool command_calibrate(struct cli *cli);
bool command_compare(struct cli *cli);
bool command_compile(struct cli *cli);
bool command_eval(struct cli *cli);
bool command_explain(struct cli *cli);
bool command_inspect(struct cli *cli);
bool command_run(struct cli *cli);
bool command_search(struct cli *cli);
bool command_targets(struct cli *cli);
bool command_tune(struct cli *cli);
bool command_verify(struct cli *cli);

/* list.c: `--target help`, `--board help`, --passes. True: there is nothing else to do. */
bool show_machines_wanted(struct cli *cli);
bool show_boards_wanted(struct cli *cli);
void list_machines(struct cli *cli);
void list_passes(struct cli *cli);

/* Text for people: to standard output unless --json or --quiet. */
void say(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
