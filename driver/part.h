/* part.h - --cut and --extract: the part of the model that is compiled; and --dequantize, how it is read. */
#ifndef DRIVER_PART_H
#define DRIVER_PART_H

#include "driver/driver.h"
#include "frontend/onnx/import.h"

/* Fills n_to, to, n_from and from. False after a USAGE error. */
bool read_part(struct driver_state *driver, struct import_options *options);

/* The options as given, each preceded by a blank, quoted for a shell if asked; "" = the whole model. */
const char *part_options(const struct driver_state *driver, bool for_a_shell);

#endif
