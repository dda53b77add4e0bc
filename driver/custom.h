/* custom.h - --custom-op: operators that are C functions of the user. */
#ifndef DRIVER_CUSTOM_H
#define DRIVER_CUSTOM_H

#include "driver/driver.h"
#include "frontend/onnx/import.h"

/* Fills n_custom and custom. False after a USAGE error. */
bool read_custom(struct driver_state *driver, struct import_options *options);

#endif
