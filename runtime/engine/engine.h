/* engine.h - the host executor: the graph on oneDNN, f32.
 *
 * Convolution, inner product, matmul, pooling, element-wise, binary, softmax, concat and reorders
 * are oneDNN primitives made once, with weights reordered once into the layout that the primitive
 * prefers; what oneDNN has no primitive for (or another element type) is evaluated by relay_ir's
 * reference. Calls of region functions are executed in place, and their element-wise nodes fused to
 * what they follow (not when an observer wants to see inside).
 *
 * Results are those of the reference to about 1e-5 of the largest number around, except that some
 * of oneDNN's element-wise functions take NaN for a number and subnormal numbers for 0. */
#ifndef RUNTIME_ENGINE_ENGINE_H
#define RUNTIME_ENGINE_ENGINE_H

#include "relay_ir/interpret.h"

struct engine; /* opaque: owns oneDNN objects */

/* Prepares fn (which must outlive the engine). NULL after an error. */
struct engine *engine_new(struct ctx *ctx, struct function *fn);

/* As interpret(): outputs are allocated in bulk, observer may be NULL. May be called repeatedly. */
bool engine_run(struct engine *engine, const struct tensor *inputs, struct tensor *outputs,
                struct bulk *bulk, const struct observer *observer);

/* How many nodes run on oneDNN (or on loops of the engine's own) and how many on the reference
 * evaluator; for reports. */
void engine_count(const struct engine *engine, int *n_onednn, int *n_reference);

/* Every step in the order of execution: the node (NULL = a change of layout) with oneDNN's name for
 * the implementation, or, for the reference evaluator (impl NULL), why it is not oneDNN. */
void engine_explain(const struct engine *engine,
                    void (*see)(void *user, const struct node *node, const char *impl,
                                const char *why),
                    void *user);

/* Engines that run on the calling thread use no other from now on. */
void engine_use_one_core(void);

void engine_free(struct engine *engine); /* NULL is fine */

#endif
