/* quantize.h - relayc quantize: the recipe that fits.
 *
 * Three parts of the data (driver/split.h): recipes calibrate on one, are compared on the second
 * in rounds of more and more samples, and the one that is recommended is reported on the third. */
#ifndef DRIVER_COMMANDS_QUANTIZE_H
#define DRIVER_COMMANDS_QUANTIZE_H

#include "driver/commands/recipe.h"

/* A part of the data with the float model's answers. */
struct judging {
    struct eval_request request;
    struct eval_data data;
    struct answers *f32;
};

struct quantization {
    struct driver_state *driver;
    struct recipes recipes;
    struct latency_log latency;
    struct module *module;                          /* as loaded; what the data is for */
    enum metric metric;                             /* the first */
    double most_loss;                               /* --max-loss, as recipe->loss */
    size_t ram, flash;                              /* limits; 0 = none */
    long long n_calibration, n_selection, n_report; /* wanted at most */
    struct judging selection, report;
    struct recipe f32; /* sizes only */
    int n, capacity;
    struct recipe **at; /* in the order of trial; in the end, by bytes */
    struct recipe *chosen;
    bool meets;          /* the limits and --max-loss */
    struct answers *now; /* the chosen one's, of the report */
    double loss, error;  /* the chosen one's on the report, as in struct recipe */
    const char *command;
};

/* --- quantize_rounds.c ------------------------------------------------------------------------ */

/* The recipes of --choices, or the usual ones. False after a USAGE error. */
bool quantize_list(struct quantization *q);

/* Judges recipes and drops those that are beaten. False after an error. */
bool quantize_rounds(struct quantization *q);

/* Keeps Pareto's front of what is left, and sorts it: the largest first. */
void quantize_front(struct quantization *q);

/* --- quantize.c ------------------------------------------------------------------------------- */

/* False after an error. Call driver_quantize_free in any case. */
bool driver_quantize(struct driver_state *driver, struct quantization *out);

/* -o: the chosen network's files, to be committed with driver->outputs. */
bool driver_quantize_write(struct quantization *q);

void driver_quantize_free(struct quantization *q);

#endif
