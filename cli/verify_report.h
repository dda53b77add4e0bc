/* verify_report.h - report of relayc verify. */
#ifndef CLI_VERIFY_REPORT_H
#define CLI_VERIFY_REPORT_H

#include "cli/cli.h"
#include "driver/commands/verify.h"

/* Prints the table; false after errors for each difference. */
bool verify_report(struct cli *cli, struct verification *v);

/* --- verify_peer_report.c --------------------------------------------------------------------- */

void verify_judge_bits(const struct verification *v); /* where they are promised */
void verify_say_peer(struct cli *cli, const struct verification *v);
void verify_peer_json(struct cli *cli, const struct verification *v);

#endif
