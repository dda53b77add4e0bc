/* simulate.h - bit-exact simulation of generated C on the host.
 *
 * relay_ir's evaluators compute in double and round once: they define the operators. Here f32 is
 * computed as in the C: rounded after every operation, functions from the source that is pasted
 * into the C (runtime/embed, codegen_c/expr/scalar_ops.def), sums in the order of the kernel that
 * codegen_c selects. Integers, quantised values and data movement are exact in relay_ir's
 * evaluators already.
 *
 * Results equal those of the C, except for NaN payloads, on every CPU with IEEE floats and no
 * contraction beyond explicit FMA: always with --deterministic, else if the compiler does not
 * contract (-ffp-contract=off; implied by gcc's -std=c99, not by clang's). Exceptions
 * (docs/design/simulation.md): f64, functions of <math.h>, Winograd convolutions and inner products
 * (simulate_exception), kernels chosen by --tune-log. */
#ifndef SIMULATE_SIMULATE_H
#define SIMULATE_SIMULATE_H

#include "codegen_c/codegen.h"
#include "relay_ir/interpret.h"

/* What the bits depend on, besides the graph. */
struct simulate_options {
    const struct machine *machine; /* NULL = generic */
    bool deterministic;
};

/* interpret() for a function after fuse_ops whose regions are all the host's; options NULL: generic
 * CPU. */
bool simulate(struct ctx *ctx, struct function *fn, const struct simulate_options *options,
              const struct tensor *inputs, struct tensor *outputs, struct bulk *bulk,
              const struct observer *observer);

/* First region of generated C that simulate() does not reproduce; NULL = none. */
const struct codegen_region *simulate_exception(const struct codegen_result *result);

#endif
