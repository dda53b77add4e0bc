/* toy_target.h - a small target made in a test from JSON and templates, without files. */
#ifndef TESTS_SUPPORT_TOY_TARGET_H
#define TESTS_SUPPORT_TOY_TARGET_H

#include "partition/target.h"

struct toy_file {
    const char *name, *text;
};

/* Parses target.json; `files` (ends with a NULL name) are the files that it names. Fails the test
 * when that goes wrong. */
struct target *toy_target(struct ctx *ctx, const char *json, const struct toy_file *files);

/* A list of such targets. */
struct targets *toy_targets(struct ctx *ctx, int n, struct target *const *targets);

#endif
