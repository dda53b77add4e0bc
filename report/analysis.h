/* analysis.h - one compilation, explained: as text (relayc analyze), JSON and HTML (relayc report).
 */
#ifndef REPORT_ANALYSIS_H
#define REPORT_ANALYSIS_H

#include "base/file.h"
#include "report/facts.h"
#include "report/scores.h"
#include "report/tried.h"

/* Limits to judge by; 0 = none. */
struct report_limits {
    const char *board, *chip; /* NULL = no board */
    double clock_mhz;
    double ram, flash;                     /* bytes */
    const char *ram_source, *flash_source; /* "the pool sram of nucleo-..." */
};

struct analysis {
    const struct facts *facts;
    struct report_limits limits;
    const char *times_from;           /* file of the measured times; NULL = none */
    const char *losses_from;          /* file of the losses; NULL = none */
    struct scores scores;             /* n = 0: none */
    struct tried_list trials, points; /* of searches (--search); n = 0: none */
};

/* Reads measured times of regions from relayc bench --json, for regions of the same signature, and
 * losses of their results from relayc compare. False after an error. */
bool analysis_add_times(struct ctx *ctx, struct facts *facts, const char *path);
bool analysis_add_losses(struct ctx *ctx, struct facts *facts, const char *path);

/* Estimates cycles of regions that generated C runs, where the target and the kernel have a row in
 * cycles.def, and seconds if the clock is known (0 = not). */
void analysis_estimate(struct facts *facts, double clock_mhz);

/* Sums of what is estimated: `cycles` of generated C, `seconds` of all, and of how many regions; 0
 * = nothing is. */
struct estimate {
    double cycles, seconds;
    int n;
};

struct estimate facts_estimate(const struct facts *facts);

/* "about 41.2 ms (estimate)", or "at least ... (estimate of 12 of 13 regions)"; NULL without any. */
const char *estimate_text(struct arena *arena, const struct facts *facts);

/* Whether it fits the limits. */
bool analysis_fits(const struct analysis *analysis);

/* "fits: RAM 58624 of 131072 bytes (44.7 %), flash ..."; NULL without limits. */
const char *analysis_verdict(struct arena *arena, const struct analysis *analysis);

const char *analysis_text(struct arena *arena, const struct analysis *analysis);

struct cJSON;
void analysis_add_json(struct arena *arena, const struct analysis *analysis, struct cJSON *json);

/* One file that asks for no other. */
void analysis_write_html(struct ctx *ctx, struct writer *out, const struct analysis *analysis);

/* Numbers to be laid over the model: an attachment of Netron, node data of Model Explorer. */
void analysis_write_netron(struct ctx *ctx, struct writer *out, const struct analysis *analysis);
void analysis_write_model_explorer(struct writer *out, const struct analysis *analysis);

#endif
