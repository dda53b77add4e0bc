/* compare.h - relayc compare: layer by layer, what storing quantised values costs; and what the
 * generated C makes of it in the end. */
#ifndef DRIVER_COMMANDS_COMPARE_H
#define DRIVER_COMMANDS_COMPARE_H

#include "driver/host_code.h"
#include "quantize/compare.h"

/* Results of the generated C, against the float model on the engine. */
struct realised {
    struct module *module; /* NULL: not asked for */
    struct host_code code;
    int n;                    /* results */
    struct loss_sums *sums;   /* [n], over all samples */
    int64_t n_samples, *same; /* [n] samples whose greatest number is at the same place */
};

/* The float model, its simulation from another reading of the file, and the C. */
struct precision_cost {
    struct driver_state *driver;
    struct module *reference, *quantized;
    struct calibration_source source; /* of the samples that all run on */
    struct samples *samples;          /* --data; NULL without it */
    struct tensor *inputs;            /* without --data */
    bool with_code;                   /* --with generated */
    struct realised realised;
    struct comparison comparison;
    const char *log, *json; /* paths written */
};

/* Runs all three and writes the logs to driver->outputs. False after an error. Call
 * driver_compare_free in any case. */
bool driver_compare(struct driver_state *driver, struct precision_cost *out);
void driver_compare_free(struct precision_cost *cost);

#endif
