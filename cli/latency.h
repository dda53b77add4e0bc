/* latency.h - how long generated C will take, from times that were measured of other networks.
 *
 * A log is what `relayc bench --json` has printed: regions with signatures
 * (codegen_c/select/signature.h). A region of the same signature takes as long, as operators,
 * shapes and types are the same. One that nobody has measured is scaled from those that are most
 * like it (enum likeness), by multiplications, or by bytes where there are none.
 *
 * What comes out is the sum of regions that run one by one, warm, on one core of what the log was
 * measured on. */
#ifndef CLI_LATENCY_H
#define CLI_LATENCY_H

#include "codegen_c/codegen.h"

struct latency_log {
    struct measured *at;
    int n, capacity;
};

/* Adds a report's regions; texts live in ctx->perm. False after a LATENCY_LOG error. */
bool latency_read(struct ctx *ctx, const char *path, struct latency_log *log);

/* Seconds of a region; *known: it was measured. 0 when nothing in the log is like it. */
double latency_of(const struct latency_log *log, const struct codegen_region *region, bool *known);

/* What a call reads and writes in the arena, and of the model's inputs and outputs: bytes. */
size_t call_activation_bytes(const struct node *call);

#endif
