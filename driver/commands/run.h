/* run.h - relayc run: a model on this machine, tensors in, tensors out. */
#ifndef DRIVER_COMMANDS_RUN_H
#define DRIVER_COMMANDS_RUN_H

#include "driver/driver.h"

struct execution {
    struct driver_state *driver;
    int with;               /* enum executor, run.c */
    struct module *module;  /* after the passes; its main has the outputs' names */
    struct tensor *inputs;  /* [n_params] */
    struct tensor *outputs; /* [ret->n_inputs] */
};

/* Loads the model, runs it by --with and writes the --output files to driver->outputs. False after
 * an error. Call driver_execution_free in any case. */
bool driver_execute(struct driver_state *driver, struct execution *out);
void driver_execution_free(struct execution *execution);

#endif
