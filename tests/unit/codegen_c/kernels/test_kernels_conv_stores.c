/* What stands behind a convolution, stored from registers: the epilogue stores of convolutions. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/graph.h"
#include "tests/support/run_generated.h"

/* What follows a convolution of 16 channels to out_c ones, of 25 positions: no tile has a divisor
 * of that. T is the type. */
static const struct {
    int out_c, kernel, groups;
    const char *nodes;
} endings[] = {
    { 8, 1, 1, "%y = nn.relu(%c)" },
    { 16, 1, 1, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.relu(%d)" },
    { 32, 3, 1, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = clip(%d) {a_min=-0.5, a_max=0.75}" },
    { 4, 1, 1, "%y = clip(%c) {a_min=-0.5, a_max=inf}" },
    { 64, 1, 1, "%y = clip(%c) {a_min=-inf, a_max=0.25}" },
    { 48, 1, 1,
      "%d = nn.bias_add(%c, @b) {axis=3} : T\n %e = add(%d, %r) : T\n "
      "%y = nn.relu(%e)" },
    { 32, 1, 2, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = add(%r, %d)" },
    { 8, 3, 2, "%d = subtract(@b, %c) : T\n %y = multiply(%d, @n)" },
    { 16, 3, 1, "%y = nn.leaky_relu(%c) {alpha=0.1, beta=0}" },
    { 96, 1, 1, "%y = nn.prelu(%c, @b)" },
    { 8, 1, 1, "%y = nn.hard_sigmoid(%c) {alpha=0.2, beta=0.5}" },
    { 128, 1, 1, "%y = nn.hard_swish(%c)" },
    /* over an array: other functions, and channels that fill no vectors */
    { 16, 1, 1, "%y = nn.silu(%c)" },
    { 13, 1, 1, "%y = nn.relu(%c)" },
    { 21, 1, 1, "%y = nn.relu(%c)" },
};

enum { N_ENDINGS = sizeof endings / sizeof *endings };

/* All of them behind the same x; a `%` or `@` name of row i ends with i. */
static const char *endings_text(struct ctx *ctx, int images)
{
    struct arena *arena = &ctx->perm;
    struct str params = { .arena = arena }, constants = { .arena = arena },
               nodes = { .arena = arena };
    struct str results = { .arena = arena };

    for (int i = 0; i < N_ENDINGS; i++) {
        const int out_c = endings[i].out_c, kernel = endings[i].kernel, groups = endings[i].groups;
        const char *type = arena_printf(arena, "(%d,5,5,%d) f32", images, out_c);

        str_printf(&params, ", %%r%d: %s", i, type);
        str_printf(&results, "%s%%y%d", i ? ", " : "", i);
        str_printf(&constants,
                   "  const @w%d : (%d,%d,%d,%d) f32 = crc32:00000000\n"
                   "  const @b%d : (%d) f32 = crc32:00000000\n"
                   "  const @n%d : (1) f32 = crc32:00000000\n",
                   i, out_c, 16 / groups, kernel, kernel, i, out_c, i);
        str_printf(&nodes,
                   "  %%c%d = nn.conv2d(%%x, @w%d) {padding=[%d,%d,%d,%d], groups=%d, "
                   "data_layout=\"NHWC\", out_layout=\"NHWC\"} : %s\n ",
                   i, i, kernel / 2, kernel / 2, kernel / 2, kernel / 2, groups, type);
        graph_add_numbered(&nodes, endings[i].nodes, type, i);
        str_printf(&nodes, " : %s\n", type);
    }
    return arena_printf(arena, "fn main(%%x: (%d,5,5,16) f32%s) -> (%s) {\n%s%s}\n", images,
                        str_text(&params), str_text(&results), str_text(&constants),
                        str_text(&nodes));
}

/* For machines with vectors of every length: the bits are those of sums in an array, one by one. */
START_TEST(sums_go_from_registers_to_y)
{
    static const struct {
        const char *machine;
        int images;
    } cases[] = { { "generic", 1 }, { "x86-64", 2 }, { "x86-64-v3", 1 }, { "x86-64-v4", 2 } };
    static const char *const names[] = { "_stores_relu(",
                                         "_stores_bias_add_relu(",
                                         "_stores_bias_add_within(",
                                         "_stores_at_least(",
                                         "_stores_at_most(",
                                         "_stores_bias_add_add_results_relu(",
                                         "_stores_bias_add_add_of_results_v_1(",
                                         "_stores_subtract_of_channels_v_0_multiply_number(",
                                         "_stores_leaky_relu(",
                                         "_stores_prelu(",
                                         "_stores_hard_sigmoid(",
                                         "_stores_hard_swish(" };
    struct ctx *ctx = ctx_new("endings");
    struct generated_case row = { .tolerance = 1e-5 };
    const char *text;

    generated_vector_builds();
    row.machine = machine_find(ctx, cases[_i].machine);
    row.text = endings_text(ctx, cases[_i].images);
    text = generated_text(ctx, &row, ".c");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(strstr(text, names[i]), "no %s", names[i]);
    ck_assert(!strstr(text, "_stores_silu"));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Of planes, read by steps and by pointers, with rows that are not whole tiles. */
START_TEST(sums_of_bands_go_from_registers_to_y)
{
    static const char text[] =
        "fn main(%x: (2,3,19,45) f32) -> (%y, %z) {\n"
        "  const @w : (8,3,3,3) f32 = crc32:00000000\n"
        "  const @v : (48,3,2,5) f32 = crc32:00000000\n"
        "  const @b : (8) f32 = crc32:00000000\n"
        "  %c = nn.conv2d(%x, @w) {strides=[2,2], padding=[1,1,1,1], groups=1, "
        "data_layout=\"NCHW\", out_layout=\"NHWC\"} : (2,10,23,8) f32\n"
        "  %d = nn.bias_add(%c, @b) {axis=3} : (2,10,23,8) f32\n"
        "  %y = clip(%d) {a_min=0, a_max=6} : (2,10,23,8) f32\n"
        "  %e = nn.conv2d(%x, @v) {padding=[1,1,0,3], groups=1, "
        "data_layout=\"NCHW\", out_layout=\"NHWC\"} : (2,19,45,48) f32\n"
        "  %z = nn.relu(%e) : (2,19,45,48) f32\n"
        "}\n";
    static const char *const named[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4" };
    struct ctx *ctx = ctx_new("bands");
    struct generated_case row = { .text = text, .tolerance = 1e-5 };
    const char *generated;

    generated_vector_builds();
    row.machine = machine_find(ctx, named[_i]);
    generated = generated_text(ctx, &row, ".c");
    ck_assert(strstr(generated, "_stores_bias_add_within") && strstr(generated, "_stores_relu"));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* NaN stays NaN behind limits, as it does one by one; -0 and what is equal to a limit stay, too. */
START_TEST(numbers_that_are_none_stay_so)
{
    struct ctx *ctx = ctx_new("none");
    struct generated_case row = { .text = endings_text(ctx, 1), .tolerance = 1e-5 };
    struct module *module = generated_module(ctx, &row);
    struct tensor *inputs = arena_array(&ctx->perm, struct tensor, N_ENDINGS + 1);

    for (int i = 0; i <= N_ENDINGS; i++) {
        const struct type *type = &module->main->params[i]->type;
        const int64_t n = type_elements(type);
        float *numbers = arena_array(&ctx->perm, float, n);

        for (int64_t k = 0; k < n; k++)
            numbers[k] = (float)(k * 37 % 101) / 50 - 1;
        inputs[i] = (struct tensor){ *type, numbers };
        numbers[n / 3] = NAN;
        if (i > 0) /* what silu makes of it is another matter */
            numbers[n / 2] = INFINITY;
        numbers[n - 1] = -0.0f;
    }
    generated_vector_builds();
    generated_check_module(module, &row, inputs);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* gcc has no comparisons of their vectors, or they have none. */
START_TEST(sums_go_over_an_array_without_comparisons)
{
    static const char *const named[] = { "cortex-m55", "cortex-m4", "rv64gcv", "armv7" };
    struct ctx *ctx = ctx_new("arrays");
    struct generated_case row = { .machine = machine_find(ctx, named[_i]) };

    row.text = endings_text(ctx, 1);
    ck_assert(!strstr(generated_text(ctx, &row, ".c"), "_stores"));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_conv_stores");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, sums_go_from_registers_to_y, 0, 4);
    tcase_add_loop_test(tests, sums_of_bands_go_from_registers_to_y, 0, 4);
    tcase_add_test(tests, numbers_that_are_none_stay_so);
    tcase_add_loop_test(tests, sums_go_over_an_array_without_comparisons, 0, 4);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
