/* graph_json.h - graphs as JSON: as the model, and as what compile writes. */
#ifndef DRIVER_GRAPH_JSON_H
#define DRIVER_GRAPH_JSON_H

#include "driver/driver.h"
#include "frontend/onnx/import.h"

/* The model that the operand names: a JSON graph when the name ends in .json, or when it is "-" and
 * what comes begins with '{'; else an ONNX model. NULL after errors. */
struct module *read_model(struct driver_state *driver, const struct import_options *options);

/* After the passes: whether the regions that a JSON graph has for other targets are what these
 * targets take. Loads the targets unless they have been loaded. */
bool check_graph_regions(struct driver_state *driver, struct module *module);

/* Fills driver->emit from --emit: what compile writes. False after an error. */
bool prepare_emit(struct driver_state *driver);

/* DIR/NAME.graph.SUFFIX: the file of stage_graph, "json" or "bin" (of large constants only). */
const char *graph_path(const struct driver_state *driver, const char *suffix);

#endif
