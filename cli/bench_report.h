/* bench_report.h - report of relayc bench. */
#ifndef CLI_BENCH_REPORT_H
#define CLI_BENCH_REPORT_H

#include "cli/cli.h"
#include "driver/commands/bench.h"

/* Prints text, or adds members to cli->json. */
void bench_report(struct cli *cli, struct bench *bench);

/* Of --vary: a line for a size, and the code of all. */
void bench_report_size(struct cli *cli, const char *at, struct bench *bench);
void bench_report_code(struct cli *cli, struct bench *bench);

#endif
