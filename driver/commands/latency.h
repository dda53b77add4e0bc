/* latency.h - estimates the latency of generated C from measurements of other networks.
 *
 * The log is output of `relayc bench --json`: regions with signatures
 * (codegen_c/select/signature.h). Regions with equal signatures take equal time. Unmeasured ones
 * are scaled from the most similar (enum likeness), by MACs, or by bytes if they have none.
 *
 * The estimate is the sum over regions run one by one, warm, on one core of the measured CPU. */
#ifndef DRIVER_COMMANDS_LATENCY_H
#define DRIVER_COMMANDS_LATENCY_H

#include "codegen_c/codegen.h"

struct latency_log {
    struct measured *at;
    int n, capacity;
};

/* Adds the regions of a report; texts are in ctx->perm. False after a LATENCY_LOG error. */
bool latency_read(struct ctx *ctx, const char *path, struct latency_log *log);

/* Seconds of a region; *known: measured, not scaled. 0 if the log has nothing similar. */
double latency_of(const struct latency_log *log, const struct codegen_region *region, bool *known);

/* Bytes that a call reads and writes in the arena, the inputs and the outputs. */
size_t call_activation_bytes(const struct node *call);

#endif
