/* engine.h - the host executor: the graph on oneDNN, f32.
 *
 * Convolution, inner product, matmul, pooling, element-wise, binary, softmax, concat and reorders
 * are oneDNN primitives made once, with weights reordered once into the layout that the primitive
 * prefers; what oneDNN has no primitive for (or another element type) is evaluated by relay_ir's
 * reference. Calls of region functions are executed in place. */
#ifndef RUNTIME_ENGINE_ENGINE_H
#define RUNTIME_ENGINE_ENGINE_H

#include "relay_ir/interpret.h"

struct engine; /* opaque: owns oneDNN objects */

/* Prepares fn (which must outlive the engine). NULL after an error. */
struct engine *engine_new(struct ctx *ctx, struct function *fn);

/* As interpret(): outputs are allocated in bulk, observer may be NULL. May be called repeatedly. */
bool engine_run(struct engine *engine, const struct tensor *inputs, struct tensor *outputs,
                struct bulk *bulk, const struct observer *observer);

/* How many nodes run on oneDNN and how many on the reference evaluator; for reports. */
void engine_count(const struct engine *engine, int *n_onednn, int *n_reference);

void engine_free(struct engine *engine);

#endif
