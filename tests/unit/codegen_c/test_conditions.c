/* Preprocessor conditions that --target answers: what is left out, and that the rest means the
 * same. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "codegen_c/machine/conditions.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/op_case.h"

static const struct row {
    const char *machine, *text, *want;
} rows[] = {
    /* arms */
    { "cortex-m4", "#if defined __AVX2__\na\n#else\nb\n#endif\n", "b\n" },
    { "cortex-m4", "#ifdef __SSE2__\na\n#endif\nb\n", "b\n" },
    { "cortex-m4", "#ifndef __SSE2__\na\n#else\nb\n#endif\n", "a\n" },
    { "cortex-m4", "#if defined __AVX__\na\n#elif defined X\nb\n#else\nc\n#endif\n",
      "#if defined X\nb\n#else\nc\n#endif\n" },
    { "cortex-m4",
      "#if defined X\na\n#elif !defined __AVX__ /* y */\nb\n#elif defined Y\nc\n#endif\n",
      "#if defined X\na\n#else\nb\n#endif\n" },
    { "cortex-m4", "#if defined X\na\n#elif defined __AVX__\nb\n#elif defined Y\nc\n#endif\n",
      "#if defined X\na\n#elif defined Y\nc\n#endif\n" },
    { "cortex-m4",
      "#if defined __AVX__ && (X > 2)\n#if defined X\na\n#else\nb\n#endif\nc\n#endif\nd\n", "d\n" },
    { "cortex-m4", "#if defined X\n#if defined __SSE2__\na\n#else\nb\n#endif\n#else\nc\n#endif\n",
      "#if defined X\nb\n#else\nc\n#endif\n" },
    /* terms */
    { "cortex-m4", "#if defined X && !defined __SSE2__ /* why */\na\n#endif\n",
      "#if defined X /* why */\na\n#endif\n" },
    { "cortex-m4",
      "#if defined X \\\n    && (defined(__SSE2__) || defined Y || defined Z)\na\n#endif\n",
      "#if defined X && (defined Y || defined Z)\na\n#endif\n" },
    { "cortex-m4", "#if !(defined X && !defined __SSE2__)\na\n#endif\n",
      "#if !defined X\na\n#endif\n" },
    { "cortex-m4", "#if defined X || __GNUC__ >= 8 || defined __AVX__\na\n#endif\n",
      "#if defined X || __GNUC__ >= 8\na\n#endif\n" },
    /* numbers, and macros that the text defines */
    { "cortex-m4", "#define LANES 1\n#if LANES == 1\na\n#else\nb\n#endif\n",
      "#define LANES 1\na\n" },
    { "cortex-m4", "#define LANES 4\n#define LANES8 LANES\n#if LANES8 > 1\na\n#endif\n",
      "#define LANES 4\n#define LANES8 LANES\na\n" },
    { "cortex-m4", "#define LANES 4\n#if LANES < 16 && defined X\na\n#endif\n",
      "#define LANES 4\n#if defined X\na\n#endif\n" },
    { "cortex-m4",
      "#if defined __AVX__\n#define WAY 7\n#endif\n#if defined WAY && WAY == 7\na\n#endif\nb\n",
      "b\n" },
    { "cortex-m4", "#if defined X\n#define WAY 7\n#endif\n#if defined WAY\na\n#endif\n",
      "#if defined X\n#define WAY 7\n#endif\n#if defined WAY\na\n#endif\n" },
    { "cortex-m4", "#define A 1\n#undef A\n#if A == 1\na\n#endif\n",
      "#define A 1\n#undef A\n#if A == 1\na\n#endif\n" },
    { "cortex-m4", "#ifndef N\n#define N 2\n#endif\n#if N == 2\na\n#endif\n",
      "#ifndef N\n#define N 2\n#endif\n#if N == 2\na\n#endif\n" },
    /* one blank line where text was, and the text's own */
    { "cortex-m4", "a\n\n#if defined __AVX__\nb\n#endif\n\nc\n\n\nd\n", "a\n\nc\n\n\nd\n" },
    /* not looked into */
    { "cortex-m4", "#if __has_feature(x) && !defined __AVX__\na\n#endif\n",
      "#if __has_feature(x) && !defined __AVX__\na\n#endif\n" },
    { "cortex-m4", "#if X + 1 == 2\na\n#endif\n", "#if X + 1 == 2\na\n#endif\n" },
    { "cortex-m4", "#if defined X\\\n || defined Y\na\n#endif\n",
      "#if defined X\\\n || defined Y\na\n#endif\n" },
    { "generic", "#if defined __AVX__\na\n#endif\n", "#if defined __AVX__\na\n#endif\n" },
    /* machines */
    { "x86-64-v4", "#if defined __AVX512F__\na\n#elif defined __ARM_NEON\nb\n#endif\n",
      "#if defined __AVX512F__\na\n#endif\n" },
    /* branches for lesser CPUs than this one, behind its own; not in front of it, nor if the compiler may lack that */
    { "x86-64-v4",
      "#if defined __AVX512VNNI__\na\n#elif defined __AVX2__\nb\n#elif defined "
      "__GNUC__\nc\n#else\nd\n#endif\n",
      "#if defined __AVX512VNNI__\na\n#elif defined __GNUC__\nc\n#else\nd\n#endif\n" },
    { "aarch64",
      "#if defined __ARM_NEON && defined __ARM_FEATURE_DOTPROD\na\n#elif defined "
      "__ARM_NEON\nb\n#else\nc\n#endif\n",
      "#if defined __ARM_NEON && defined __ARM_FEATURE_DOTPROD\na\n#else\nc\n#endif\n" },
    { "x86-64-v3",
      "#if defined X\na\n#elif defined __AVX2__\nb\n#elif defined __SSE2__\nc\n#endif\n",
      "#if defined X\na\n#elif defined __AVX2__\nb\n#endif\n" },
    { "x86-64-v4",
      "#if defined __AVX2__ && defined __GNUC__\na\n#elif defined __SSE2__\nb\n#endif\n",
      "#if defined __AVX2__ && defined __GNUC__\na\n#elif defined __SSE2__\nb\n#endif\n" },
    { "x86-64-v3", "#if defined __AVX512F__\na\n#elif defined __AVX2__\nb\n#endif\n",
      "#if defined __AVX2__\nb\n#endif\n" },
    { "cortex-m0", "#if defined __ARM_FEATURE_DSP\na\n#elif defined __ARM_ARCH_6M__\nb\n#endif\n",
      "#if defined __ARM_ARCH_6M__\nb\n#endif\n" },
    { "cortex-m55", "#if defined __ARM_NEON\na\n#elif defined __ARM_FEATURE_MVE\nb\n#endif\n",
      "#if defined __ARM_FEATURE_MVE\nb\n#endif\n" },
    { "armv7",
      "#if defined __ARM_NEON && defined __aarch64__\na\n#elif defined __ARM_NEON\nb\n#endif\n",
      "#if defined __ARM_NEON\nb\n#endif\n" },
    { "rv64gcv", "#if defined __riscv_vector\na\n#elif defined __ARM_NEON\nb\n#endif\n",
      "#if defined __riscv_vector\na\n#endif\n" },
};

START_TEST(what_the_machine_cannot_take_is_left_out)
{
    const struct row *row = &rows[_i];
    struct ctx *ctx = ctx_new("test");
    const char *text = row->text;

    conditions_resolve(&ctx->perm, machine_find(ctx, row->machine), &text, 1);
    ck_assert_str_eq(text, row->want);
    ctx_free(ctx);
}
END_TEST

/* Macros of one text are known in the others of the file. */
START_TEST(texts_of_one_file_know_each_other)
{
    struct ctx *ctx = ctx_new("test");
    const char *texts[] = { "#define LANES 1\n#if defined __AVX__\n#define FAST\n#endif\n",
                            "#if LANES > 1\na\n#endif\n#if defined FAST\nb\n#endif\nc\n" };

    conditions_resolve(&ctx->perm, machine_find(ctx, "cortex-m4"), texts, 2);
    ck_assert_str_eq(texts[0], "#define LANES 1\n");
    ck_assert_str_eq(texts[1], "c\n");
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conditions");
    TCase *tcase = tcase_create("conditions");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(tcase, what_the_machine_cannot_take_is_left_out, 0, N_ROWS(rows));
    tcase_add_test(tcase, texts_of_one_file_know_each_other);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
