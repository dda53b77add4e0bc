/* calibrate.h - relayc calibrate: a network on data, and what its tensors hold. */
#ifndef DRIVER_COMMANDS_CALIBRATE_H
#define DRIVER_COMMANDS_CALIBRATE_H

#include "driver/driver.h"
#include "quantize/calib_table.h"

struct calibration {
    const char *output; /* -o */
    struct calib_table table;
};

/* Runs the model on --data and writes the table to driver->outputs. False after an error. */
bool driver_calibrate(struct driver_state *driver, struct calibration *out);

#endif
