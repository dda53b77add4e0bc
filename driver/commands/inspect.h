/* inspect.h - relayc inspect: a model as it is in its file, and the passes with their dumps. */
#ifndef DRIVER_COMMANDS_INSPECT_H
#define DRIVER_COMMANDS_INSPECT_H

#include "driver/driver.h"
#include "frontend/onnx/import.h"

/* Loads the model into driver->module, without what nothing reads. False after an error. The caller
 * frees it. */
bool driver_inspect(struct driver_state *driver);

/* The passes, if --dump-after, --time-passes or --stats ask for them. False after an error. */
bool driver_inspect_passes(struct driver_state *driver);

/* Everything that a compilation would refuse, as errors; what else was found in *found (n_nodes = 0:
 * not an ONNX model). Open dims are assumed to have a length with few errors: found->open_length.
 * True if there is no obstacle. driver->module is the caller's to free, if any. */
bool driver_preflight(struct driver_state *driver, struct import_obstacles *found);

/* The module as text, in ctx->perm. */
const char *driver_module_text(struct driver_state *driver);

struct known_operator {
    const char *domain, *name;   /* domain "" is "ai.onnx" */
    int first_opset, last_opset; /* of the domain */
};

/* ONNX operators that are imported, by domain and name; in ctx->perm. */
const struct known_operator *driver_onnx_operators(struct driver_state *driver, int *n);

#endif
