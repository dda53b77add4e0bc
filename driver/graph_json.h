/* graph_json.h - JSON graphs as input and output of compile. */
#ifndef DRIVER_GRAPH_JSON_H
#define DRIVER_GRAPH_JSON_H

#include "driver/driver.h"
#include "frontend/onnx/import.h"

/* Reads the model operand: a JSON graph if the name ends in .json, or if it is "-" and the input
 * begins with '{'; else ONNX. NULL after errors. */
struct module *read_model(struct driver_state *driver, const struct import_options *options);

/* After the passes: checks that offloaded regions of a JSON graph are valid for their backends,
 * which are loaded if necessary. */
bool check_graph_regions(struct driver_state *driver, struct module *module);

/* Fills driver->emit from --emit. False after an error. */
bool prepare_emit(struct driver_state *driver);

#endif
