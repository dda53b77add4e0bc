/* report.h - what a compilation has done, for people and for --json. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/cli.h"

/* What became small; nothing when nothing was asked for. */
void report_precision(struct cli *cli);

/* How many regions went where; nothing when nothing was asked for. */
void report_offload(struct cli *cli, const struct module *module);

/* Which regions were written as the log says. */
void report_tuning(struct cli *cli, const struct codegen_result *result);

/* --pool: how much of each is taken, and the options again. */
void report_pools(struct cli *cli);
void repeat_pools(struct cli *cli);

/* How much is taken of what --ram, --flash or --board allow; nothing without these. The verdict
 * is for --json, and comes before all else. */
void report_budget(struct cli *cli);
void report_verdict(struct cli *cli);

/* compile, once the files are there (cmd_compile.c). */
void report_compilation(struct cli *cli);

#endif
