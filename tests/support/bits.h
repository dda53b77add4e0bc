/* bits.h - generated C on other processors, bit for bit: it is compiled for x86-64 (gcc, clang),
 * AArch64, ARMv7 and RV64, run (there under QEMU), and its results must be those of
 * simulate() to the last bit. Products and sums are not contracted. NaN is NaN, whatever
 * its payload. */
#ifndef TESTS_SUPPORT_BITS_H
#define TESTS_SUPPORT_BITS_H

#include "relay_ir/ir.h"

/* A module that has passed fuse_ops, whose regions are all c's; NULL inputs: random ones. A warning
 * of a compiler or a difference fails the test. Where a module is built for several machines, every
 * fourth has its turn (builds.h); all where RELAYC_TEST_ALL_BUILDS is set. */
void bits_check_module(struct module *module, const struct tensor *inputs);

/* The same of what --deterministic makes. */
void bits_check_deterministic(struct module *module, const struct tensor *inputs);

/* The same of C for machines with vectors (--target), by compilers that make use of them, as far as
 * such programs run here. */
void bits_check_targets(struct module *module, const struct tensor *inputs);

/* The same of what --deterministic makes for machines with FMA, where the text fuses. */
void bits_check_fused(struct module *module, const struct tensor *inputs);

/* Whether the results have other bits, on this machine, where a piece of the text of NAME.c, which
 * must be there, is replaced. */
bool bits_differ(struct module *module, const char *from, const char *to);

/* As bits_check_module from IR text, after fuse_ops. */
void bits_check(const char *text);

#endif
