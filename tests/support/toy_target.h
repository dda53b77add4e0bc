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

/* toy_target from JSON with ' for ", for C literals; every named file exists, with its name as
 * text. */
struct target *toy_target_quoted(struct ctx *ctx, const char *json);

/* A list of such targets. */
struct targets *toy_targets(struct ctx *ctx, int n, struct target *const *targets);

/* A target of convolutions, dense layers and element-wise operators in plain C, with scratch,
 * optional captures, several outputs, a prologue and a header. */
extern const char toy_plain_json[];
extern const struct toy_file toy_plain_files[];
struct targets *toy_plain(struct ctx *ctx);

/* IR text: main(%x, %skip) -> (%y, %b) of two of its regions, the first of three composites, and
 * one of c between them. */
extern const char toy_net[];

#endif
