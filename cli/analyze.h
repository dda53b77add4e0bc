/* analyze.h - the analysis of facts, with what the options add. */
#ifndef CLI_ANALYZE_H
#define CLI_ANALYZE_H

#include "cli/cli.h"
#include "report/analysis.h"

/* Adds --board, --ram, --flash, --latency-log, --compare and --eval. False after an error. */
bool analyze(struct cli *cli, struct facts *facts, struct analysis *out);

#endif
