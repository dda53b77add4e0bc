/* simulate.h - what generated C computes, on the host and bit for bit.
 *
 * relay_ir's evaluators compute in double and round once: they are the oracle of what an operator
 * means. Here f32 is computed as the C does: rounded after every operation, functions by the very
 * text that is pasted into the C (runtime/embed, codegen_c/expr/scalar_ops.def), sums in the order of
 * the kernel that takes the node, which codegen_c is asked for. Whole numbers, codes and what only
 * moves elements are exact in relay_ir's evaluators already.
 *
 * The results are those of the C, NaN being NaN whatever its payload, on every processor with IEEE
 * floats, where products and sums are rounded one by one: with --deterministic that is so
 * everywhere, but where the text fuses them (codegen_c: a machine with FMA), as is done here then;
 * without it where the compiler is told (-ffp-contract=off; gcc's -std=c99 implies it, clang's does
 * not). docs/design/simulation.md names what is outside of that: f64, functions of <math.h> (those
 * of the C library that relayc runs with), Winograd's tiles and pairs of products
 * (simulate_exception), kernels that a --tune-log chose. */
#ifndef SIMULATE_SIMULATE_H
#define SIMULATE_SIMULATE_H

#include "codegen_c/codegen.h"
#include "relay_ir/interpret.h"

/* What decides about the bits besides the graph. */
struct simulate_options {
    const struct machine *machine; /* NULL = generic */
    bool deterministic;
};

/* As interpret(), of a function that fuse_ops has been through and whose regions are all c's;
 * options NULL: generic. */
bool simulate(struct ctx *ctx, struct function *fn, const struct simulate_options *options,
              const struct tensor *inputs, struct tensor *outputs, struct bulk *bulk,
              const struct observer *observer);

/* The first region of generated C that computes otherwise than simulate(); NULL = none does. */
const struct codegen_region *simulate_exception(const struct codegen_result *result);

#endif
