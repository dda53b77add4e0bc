/* report.h - report of a compilation, as text and for --json. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/cli.h"
#include "driver/commands/eval_data.h"

/* Quantised nodes; nothing without a request. */
void report_precision(struct cli *cli);

/* Regions per backend; nothing without a request. */
void report_offload(struct cli *cli, const struct module *module);

/* Regions that use the tuning log. */
void report_tuning(struct cli *cli, const struct codegen_result *result);

/* --pool: use of each pool; and the options as text. */
void report_pools(struct cli *cli);
void repeat_pools(struct cli *cli);

/* Use of the budgets --ram, --flash or --board; nothing without them. report_verdict adds the
 * result to --json, before all else. */
void report_budget(struct cli *cli);
void report_verdict(struct cli *cli);

/* Report of compile after its files are complete (cmd_compile.c). */
void report_compilation(struct cli *cli);

/* cmd_eval.c: a row of two networks' metric, or of one where `was` is NULL, as text and, where list
 * is not NULL, in that; and the head of such rows. */
void report_metric_head(struct cli *cli, const char *what);
void report_metric(struct cli *cli, cJSON *list, enum metric metric, const struct answers *was,
                   const struct answers *now);

#endif
