/* bench.h - generates, inspects and runs C of offloaded regions, for tests. */
#ifndef TESTS_SUPPORT_BENCH_H
#define TESTS_SUPPORT_BENCH_H

#include <cjson/cJSON.h>

#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"
#include "tests/support/toy_target.h"

struct bench {
    struct ctx *ctx;
    struct temp_dir dir;
};

struct bench bench_new(void);
void bench_free(struct bench *bench);

/* Builds and runs IR text with its regions given, as generated_check does: results are those of the
 * reference. */
void bench_check(struct bench *bench, const char *text, const struct targets *targets,
                 enum weights_form weights, bool step);

/* Writes the files of "net" into the folder; it must work, or fail. */
struct codegen_result bench_generate(struct bench *bench, const char *text,
                                     const struct targets *targets, enum weights_form weights,
                                     bool fails);

/* Text of a file in the folder; checks that it has, or lacks, a part. */
const char *bench_file(struct bench *bench, const char *name);
void bench_has(struct bench *bench, const char *file, const char *part);
void bench_lacks(struct bench *bench, const char *file, const char *part);

/* Compiles the source with the files of "net", with the address sanitizer, and runs it: the exit
 * code. */
int bench_run(struct bench *bench, const char *source, const char *compiler);

/* Members of JSON; fail the test if missing. */
const cJSON *json_item(const cJSON *object, const char *key);
int json_number(const cJSON *object, const char *key);
const char *json_text_at(const cJSON *list, int i);

#endif
