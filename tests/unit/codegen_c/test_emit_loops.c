/* Calls that repeat themselves are loops; the results stay. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/run_generated.h"

/* A cell over n steps, whose state each step hands to the next; `own_weights`: each step has others. */
static const char *steps(struct ctx *ctx, int n, bool own_weights, bool backwards)
{
    struct str text = { .arena = &ctx->perm };

    str_printf(&text, "fn main(%%x: (%d,4) f32, %%s0: (1,4) f32) -> (%%y, %%s%d) {\n", n, n);
    for (int i = 0; i < (own_weights ? n : 1); i++)
        str_printf(&text, "  const @w%d : (4,4) f32 = crc32:%08x\n", i, i + 1);
    for (int i = 0; i < n; i++) {
        str_printf(
            &text,
            "  %%x%d = strided_slice(%%x) {begin=[%d,0], strides=[1,1], size=[1,4]} : (1,4) f32\n",
            i, backwards ? n - 1 - i : i);
        str_printf(&text, "  %%a%d = nn.dense(%%s%d, @w%d) : (1,4) f32\n", i, i,
                   own_weights ? i : 0);
        str_printf(&text, "  %%b%d = add(%%a%d, %%x%d) : (1,4) f32\n", i, i, i);
        str_printf(&text, "  %%s%d = tanh(%%b%d) : (1,4) f32\n", i + 1, i);
        str_printf(&text, "  %%p%d = nn.softmax(%%s%d) {axis=1} : (1,4) f32\n", i, i + 1);
    }
    str_add(&text, "  %y = concatenate(");
    for (int i = 0; i < n; i++)
        str_printf(&text, "%s%%p%d", i ? ", " : "", i);
    str_printf(&text, ") {axis=0} : (%d,4) f32\n}\n", n);
    return str_text(&text);
}

static const struct {
    int n;
    bool own_weights, backwards, step, ships, optimize_size, for_m4;
    int loops, parts, steps;
} rows[] = {
    { 3, .loops = 0 },
    { 24, .loops = 1 },
    { 24, .backwards = true, .loops = 1 },
    { 24, .optimize_size = true, .loops = 1 },
    { 24, .for_m4 = true, .loops = 1 },
    { 24, .parts = 2, .loops = 1 },
    { 24, .step = true, .steps = 1 }, /* NAME_run calls NAME_step */
    { 24, .step = true, .ships = true, .loops = 1, .steps = 1 },
    { 24, .own_weights = true, .loops = 0 },
    { 24, .own_weights = true, .optimize_size = true, .loops = 0 },
};

START_TEST(steps_are_a_loop)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = {
        .text = steps(ctx, rows[_i].n, rows[_i].own_weights, rows[_i].backwards),
        .tolerance = 1e-5,
        .step = rows[_i].step,
        .ships = rows[_i].ships,
        .parts = rows[_i].parts,
        .optimize_size = rows[_i].optimize_size,
        .machine = rows[_i].for_m4 ? machine_find(ctx, "cortex-m4") : NULL,
    };

    ck_assert_int_eq(generated_count(ctx, &row, "for (int iteration = 0;"), rows[_i].loops);
    ck_assert_int_eq(generated_count(ctx, &row, "const int iteration = "), rows[_i].steps);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* One function for all steps, those outside of the loop included. */
START_TEST(steps_share_functions)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = { .text = steps(ctx, 24, false, false), .tolerance = 1e-5 };

    ck_assert_int_eq(generated_count(ctx, &row, "static NOINLINE void region_p"), 1);
    ck_assert_int_le(generated_count(ctx, &row, "region_p0("), 6);
    ck_assert_int_ge(generated_count(ctx, &row, "8 * iteration"), 2);
    ctx_free(ctx);
}
END_TEST

/* An input has the counter's name. */
START_TEST(the_counter_has_a_name_of_its_own)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .tolerance = 1e-5 };
    struct str text = { .arena = &ctx->perm };

    str_add(&text, "fn main(%iteration: (1,4) f32) -> (%s12) {\n"
                   "  %s0 = nn.softmax(%iteration) {axis=1} : (1,4) f32\n");
    for (int i = 0; i < 12; i++)
        str_printf(&text, "  %%s%d = nn.softmax(%%s%d) {axis=1} : (1,4) f32\n", i + 1, i);
    str_add(&text, "}\n");
    row.text = str_text(&text);
    ck_assert_int_eq(generated_count(ctx, &row, "for (int iteration_2 = 0;"), 1);
    generated_check(&row);
    row.step = true; /* whose steps are all in one place: no counter */
    ck_assert_int_eq(generated_count(ctx, &row, "int iteration_2 = "), 0);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Each step runs if the one before has left less than a half somewhere. */
START_TEST(steps_may_be_skipped)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .tolerance = 1e-5 };
    struct str text = { .arena = &ctx->perm };
    const char *c;

    str_add(&text, "fn main(%s0: (1,4) f32) -> (%s24) {\n  const @half : () f32 = [0.5]\n");
    for (int i = 0; i < 24; i++) {
        str_printf(&text, "  %%m%d = max(%%s%d) {axis=[0,1], keepdims=false} : () f32\n", i, i);
        str_printf(&text, "  %%on%d = less(%%m%d, @half) : () bool\n", i, i);
        str_printf(&text, "  %%t%d = cumsum(%%s%d) {axis=1} : (1,4) f32\n", i, i);
        str_printf(&text, "  %%s%d = if(%%on%d, %%t%d, %%s%d) : (1,4) f32\n", i + 1, i, i, i);
    }
    str_add(&text, "}\n");
    row.text = str_text(&text);
    c = strstr(generated_text(ctx, &row, ".c"), "each iteration");
    ck_assert_ptr_nonnull(c);
    ck_assert_msg(strstr(c, "        if (*on") && strstr(c, "            region_t"), "%.1500s", c);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emit_loops");
    TCase *tests = tcase_create("emit_loops");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, steps_are_a_loop, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(tests, steps_share_functions);
    tcase_add_test(tests, the_counter_has_a_name_of_its_own);
    tcase_add_test(tests, steps_may_be_skipped);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
