/* sized_code.h - generated C for several sizes (--vary), built for this machine; for verify, run and bench. */
#ifndef DRIVER_SIZED_CODE_H
#define DRIVER_SIZED_CODE_H

#include "driver/host_code.h"
#include "relay_ir/variants.h"

struct sized_code {
    struct driver_state driver; /* of the compilation, as `compile` runs it */
    struct host_code code;
    const struct variants *variants; /* NULL before */
};

/* Writes the C as the options say. False after an error; call sized_code_free in any case. */
bool sized_code_write(struct driver_state *given, struct sized_code *out);

/* Likewise, and builds it. */
bool sized_code_build(struct driver_state *given, struct sized_code *out);

/* NAME_run's arguments for combination v: [n_symbols], of the arena of ctx. */
const int32_t *sized_code_sizes(const struct sized_code *code, int v);

/* The combination that --shape NAME=VALUE of each size names; -1 after an error. */
int sized_code_chosen(const struct driver_state *driver, const struct sized_code *code);

void sized_code_free(struct sized_code *code);

#endif
