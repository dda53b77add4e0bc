/* common_formats.h: which formats `auto` takes, how many, and which tensors are exceptions. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "quantize/common_formats.h"
#include "tests/support/executions.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { MOST_TENSORS = 4 };

#define NO INFINITY /* cannot have the format */

static const struct {
    const char *what;
    int n_formats, n; /* of formats; negative: one for each kind of tensor */
    struct {
        enum tensor_kind kind;
        double noise[ALL_FORMATS];
    } tensors[MOST_TENSORS];
    unsigned set;
    int formats[MOST_TENSORS], n_exceptions;
} rows[] = {
    { "what gains less than a tenth of the sum brings no format of its own",
      0,
      3,
      { { KIND_WEIGHT, { NO, 9, NO, 9, NO, 1, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 1, NO, 1.2, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 9, NO, 1, 9 } } },
      0x20,
      { 5, 5, 5 },
      0 },
    { "what gains more does; then the kind's own format is left only where it costs too much",
      0,
      3,
      { { KIND_WEIGHT, { NO, 9, NO, 9, NO, 1, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 1, NO, 1.5, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 1.4, NO, 1, 9 } } },
      0x28,
      { 5, 3, 5 },
      1 },
    { "a format without a sign is worth it where it gains enough",
      0,
      2,
      { { KIND_SIGNED, { NO, 9, NO, 9, NO, 1, 9 } }, { KIND_UNSIGNED, { 9, 9, 9, 9, 1, 4, 9 } } },
      0x30,
      { 5, 4 },
      0 },
    { "and is not taken where it gains little",
      0,
      2,
      { { KIND_SIGNED, { NO, 9, NO, 9, NO, 1, 9 } },
        { KIND_UNSIGNED, { 9, 9, 9, 9, 0.01, 0.04, 9 } } },
      0x20,
      { 5, 5 },
      0 },
    { "weights and data share a format, of several the one with the least noise",
      0,
      2,
      { { KIND_WEIGHT, { NO, 1, NO, 1.05, NO, 9, 9 } },
        { KIND_SIGNED, { NO, 1.05, NO, 1.01, NO, 9, 9 } } },
      0x2,
      { 1, 1 },
      0 },
    { "of one format, the one with which all lose least",
      1,
      2,
      { { KIND_WEIGHT, { NO, 1, NO, 2, NO, 3, 9 } }, { KIND_SIGNED, { NO, 7, NO, 2, NO, 1, 9 } } },
      0x8,
      { 3, 3 },
      0 },
    { "one for each kind, whatever its exceptions would gain",
      -2,
      4,
      { { KIND_WEIGHT, { NO, 9, NO, 9, NO, 1, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 1, NO, 5, 9 } },
        { KIND_SIGNED, { NO, 9, NO, 8, NO, 1, 9 } },
        { KIND_UNSIGNED, { 9, 9, 2, 9, 1, 9, 9 } } },
      0x30,
      { 5, 5, 5, 4 },
      0 },
    { "of all formats, each its best",
      ALL_FORMATS,
      3,
      { { KIND_WEIGHT, { NO, 1, NO, 1.01, NO, 9, 9 } },
        { KIND_SIGNED, { NO, 1.01, NO, 1, NO, 9, 9 } },
        { KIND_SIGNED, { NO, 1, NO, 1.01, NO, 9, 9 } } },
      0xa,
      { 1, 3, 1 },
      1 },
};

START_TEST(as_few_formats_as_the_noise_allows)
{
    struct arena arena = { NULL };
    struct common_formats common = { .tensors = { .arena = &arena } };
    struct common_tensor tensors[MOST_TENSORS];

    for (int i = 0; i < rows[_i].n; i++) {
        tensors[i] = (struct common_tensor){ .kind = rows[_i].tensors[i].kind };
        for (int k = 0; k < ALL_FORMATS; k++)
            tensors[i].noise[k] = rows[_i].tensors[i].noise[k];
        map_set(&common.tensors, arena_printf(&arena, "%d", i), &tensors[i]);
    }
    common_formats_choose(&common, rows[_i].n_formats < 0
                                       ? (struct format_count){ -rows[_i].n_formats, true }
                                       : (struct format_count){ rows[_i].n_formats, false });
    ck_assert_msg(common.set.formats == rows[_i].set, "%s: set %#x", rows[_i].what,
                  common.set.formats);
    ck_assert_msg(common.set.n_exceptions == rows[_i].n_exceptions, "%s: %d exceptions",
                  rows[_i].what, common.set.n_exceptions);
    for (int i = 0; i < rows[_i].n; i++)
        ck_assert_msg(tensors[i].format == rows[_i].formats[i], "%s: tensor %d has format %d",
                      rows[_i].what, i, tensors[i].format);
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common_formats");
    TCase *tests = tcase_create("common_formats");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, as_few_formats_as_the_noise_allows, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
