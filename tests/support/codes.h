/* codes.h - graphs of FP8 codes, in floats and in integers. */
#ifndef TESTS_SUPPORT_CODES_H
#define TESTS_SUPPORT_CODES_H

#include "relay_ir/interpret.h"

/* The text with another format for f8e4m3. */
const char *codes_in_format(struct arena *arena, const char *text, const char *format);

bool codes_has_floats(const struct module *module);

/* Gives all constants of narrow floats, but single ones, random codes of finite numbers. */
void codes_fill(struct module *module);

/* Random codes for all parameters; in bulk. */
struct tensor *codes_inputs(struct ctx *ctx, struct bulk *bulk, const struct function *fn,
                            unsigned *seed);

/* Runs both on the same random codes. The greatest distance of their results, in codes; counts all
 * results, and those that differ. */
int codes_compare(struct ctx *ctx, struct module *before, struct module *after, unsigned seed,
                  long *n, long *n_off);

#endif
