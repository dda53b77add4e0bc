/* fake_quant.h - graphs before and after fake_quant_to_integer. */
#ifndef TESTS_SUPPORT_FAKE_QUANT_H
#define TESTS_SUPPORT_FAKE_QUANT_H

#include "tests/support/pass_case.h"

/* Lines that most graphs have. */
#define IN                                                                                         \
    "  const @xs : () f32 = [0.5]\n"                                                               \
    "  const @xz : () i8 = [3]\n"
#define OUT                                                                                        \
    "  const @ys : () f32 = [2]\n"                                                                 \
    "  const @yz : () i8 = [-5]\n"
#define B                                                                                          \
    "  const @bs : () f32 = [0.25]\n"                                                              \
    "  const @bz : () i8 = [1]\n"
#define W_SCALE                                                                                    \
    "  const @ws : () f32 = [0.25]\n"                                                              \
    "  const @wz : () i8 = [0]\n"
#define W "  const @w : (2,1,2,2) i8 = [1, -2, 3, 4, 5, 6, -7, 8]\n"
#define DX "  %xf = qnn.dequantize(%x, @xs, @xz)\n"
#define DW "  %wf = qnn.dequantize(@w, @ws, @wz)\n"
#define DA "  %af = qnn.dequantize(%a, @xs, @xz)\n"
#define DB "  %bf = qnn.dequantize(%b, @bs, @bz)\n"
#define FN_X "fn main(%x: (1,1,3,3) i8) -> (%y) {\n"
#define FN_AB "fn main(%a: (2,3) i8, %b: (1,3) i8) -> (%y) {\n"
#define QUANTIZE(x) "  %y = qnn.quantize(%" x ", @ys, @yz) {axis=0, saturate=true}\n"

/* Runs the pass on `before`: the graph must become `after` (payloads included), the rule must have
 * fired, and random inputs must give the same floats to the bit, bools, and integers up to one
 * step. */
void fake_quant_check(const struct pass_case *row);

/* Fails the test unless the results of `got` are those of `wanted`, as above, for random inputs. */
void fake_quant_compare(struct module *got, struct module *wanted, unsigned seed);
void fake_quant_compare_exactly(struct module *got, struct module *wanted, unsigned seed);

#endif
