/* native.h - inside the engine: element-wise steps between f32 and quantised values, which oneDNN
 * does not have and the reference evaluators take long for. Results are those of the reference, to
 * the bit. They run over the elements in whatever layout those lie. */
#ifndef RUNTIME_ENGINE_NATIVE_H
#define RUNTIME_ENGINE_NATIVE_H

#include "runtime/engine/primitive.h"

/* Adds the step of a node that quantises f32 with one scale, or maps single bytes to f32 or bytes
 * (qnn.dequantize, cast, clip ...). NULL: it is no such node. *failed is set after an error. */
struct slot *native_build(struct plan *plan, const struct node *node, struct slot *const *inputs,
                          bool *failed);

/* The node evaluated now: all its inputs are fixed. NULL: better not; *failed as above. */
struct slot *native_fold(struct plan *plan, const struct node *node, struct slot *const *inputs,
                         bool *failed);

/* Of all that decides what it computes, and of nothing else. */
struct mark native_mark(const struct native *native, struct mark mark);

void native_run(const struct native *native, const void *in, void *out);

#endif
