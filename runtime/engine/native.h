/* native.h - internal: element-wise steps between f32 and quantised values, which oneDNN lacks and
 * the reference evaluators are slow at. Bit-identical to the reference. They work on elements in
 * any layout. */
#ifndef RUNTIME_ENGINE_NATIVE_H
#define RUNTIME_ENGINE_NATIVE_H

#include "runtime/engine/primitive.h"

/* Adds the step of a node that quantises f32 with one scale, or maps bytes to f32 or bytes
 * (qnn.dequantize, cast, clip ...). NULL: not such a node. Sets *failed after an error. */
struct slot *native_build(struct plan *plan, const struct node *node, struct slot *const *inputs,
                          bool *failed);

/* Evaluates the node now; all inputs are fixed. NULL: not worthwhile. Sets *failed after an
 * error. */
struct slot *native_fold(struct plan *plan, const struct node *node, struct slot *const *inputs,
                         bool *failed);

/* Hash of everything that determines the result. */
struct mark native_mark(const struct native *native, struct mark mark);

void native_run(const struct native *native, const void *in, void *out);

#endif
