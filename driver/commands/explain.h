/* explain.h - relayc targets --explain: why a model's nodes go where they go. */
#ifndef DRIVER_COMMANDS_EXPLAIN_H
#define DRIVER_COMMANDS_EXPLAIN_H

#include "driver/driver.h"

/* Runs the passes on the model of --explain up to the last step that chooses; the graph is not
 * rewritten. The explanation is driver->offload.partition->explanation; the module is
 * driver->module, which the caller frees. False after an error. prepare_offload has run. */
bool driver_explain(struct driver_state *driver);

#endif
