/* verify_report.h - report of relayc verify. */
#ifndef CLI_VERIFY_REPORT_H
#define CLI_VERIFY_REPORT_H

#include "cli/cli.h"
#include "driver/commands/verify.h"

/* Prints the table; false after errors for each difference. */
bool verify_report(struct cli *cli, struct verification *v);

/* With --vary: a line for a size, behind the table's head if it is the first one. False after errors. */
bool verify_report_size(struct cli *cli, const char *at, bool is_first, struct verification *v);

/* --- verify_saturated_report.c ---------------------------------------------------------------- */

void verify_say_saturated(struct cli *cli, const struct verification *v);

/* --- verify_peer_report.c --------------------------------------------------------------------- */

void verify_judge_bits(const struct verification *v); /* where they are promised */
void verify_say_peer(struct cli *cli, const struct verification *v);
void verify_peer_json(struct cli *cli, const struct verification *v);

#endif
