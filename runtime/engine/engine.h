/* engine.h - the host executor: the graph on oneDNN, f32.
 *
 * Convolution, inner product, matmul, pooling, element-wise, binary, softmax, concat and reorders
 * are oneDNN primitives, created once, with weights reordered once to the primitive's preferred
 * layout; other operators and element types are evaluated by relay_ir's reference. Region functions
 * are inlined, with their element-wise nodes fused as post-ops (unless an observer looks inside).
 *
 * Results differ from the reference by about 1e-5 of the largest value; some of oneDNN's
 * element-wise functions lose NaN and flush subnormals to 0. */
#ifndef RUNTIME_ENGINE_ENGINE_H
#define RUNTIME_ENGINE_ENGINE_H

#include "relay_ir/interpret.h"

struct engine; /* opaque: owns oneDNN objects */

/* Prepares fn (which must outlive the engine). NULL after an error. */
struct engine *engine_new(struct ctx *ctx, struct function *fn);

/* Like interpret(): outputs are allocated in bulk, observer may be NULL. May be called
 * repeatedly. */
bool engine_run(struct engine *engine, const struct tensor *inputs, struct tensor *outputs,
                struct bulk *bulk, const struct observer *observer);

/* Number of nodes that run on oneDNN (or the engine's own loops), and on the reference evaluator;
 * for reports. */
void engine_count(const struct engine *engine, int *n_onednn, int *n_reference);

/* Calls see() for every step in execution order: the node (NULL = a reorder) with oneDNN's
 * implementation name, or, for the reference evaluator (impl NULL), why oneDNN is not used. */
void engine_explain(const struct engine *engine,
                    void (*see)(void *user, const struct node *node, const char *impl,
                                const char *why),
                    void *user);

/* From now on, engines on the calling thread use one core only. */
void engine_use_one_core(void);

void engine_free(struct engine *engine); /* NULL is fine */

#endif
