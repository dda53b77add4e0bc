/* Inputs that are 0 (codegen_c/core/zeros.h): behind which operators their weights are left out, and
 * that nothing else changes. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static bool leaves_out(struct ctx *ctx, const struct generated_case *row)
{
    return strstr(generated_text(ctx, row, ".c"), "gemv_nonzero_f32(") != NULL;
}

/* --- where ------------------------------------------------------------------------------------ */

/* What makes %v of %x. */
static const struct {
    const char *shape, *nodes;
    bool leaves_out;
} makers[] = {
    { "(1,24)", "%v = nn.relu(%x)", true },
    { "(1,24)", "%v = clip(%x) {a_min=0, a_max=6}", true },
    { "(1,24)", "%v = clip(%x) {a_min=-1, a_max=6}", false },
    { "(1,24)", "%v = nn.thresholded_relu(%x) {alpha=0.5, beta=0}", true },
    { "(1,24)", "%v = sigmoid(%x)", false },
    { "(1,24)", "%r = nn.relu(%x) : (1,24) f32\n  %v = exp(%r)", false },
    { "(1,2,3,4)",
      "%r = nn.relu(%x) : (1,2,3,4) f32\n"
      "  %v = reshape(%r) {shape=[1,24]}",
      true },
    { "(24,1)", "%r = nn.relu(%x) : (24,1) f32\n  %v = transpose(%r) {axes=[1,0]}", true },
    { "(1,2,7,4)",
      "%r = nn.relu(%x) : (1,2,7,4) f32\n"
      "  %p = nn.max_pool2d(%r) {pool_size=[2,2], strides=[1,2], padding=[0,0,0,0], "
      "dilation=[1,1], layout=\"NCHW\"} : (1,2,6,2) f32\n"
      "  %v = reshape(%p) {shape=[1,24]}",
      true },
    { "(1,2,7,4)",
      "%r = nn.relu(%x) : (1,2,7,4) f32\n"
      "  %p = nn.avg_pool2d(%r) {pool_size=[2,2], strides=[1,2], padding=[0,0,0,0], "
      "dilation=[1,1], layout=\"NCHW\"} : (1,2,6,2) f32\n"
      "  %v = reshape(%p) {shape=[1,24]}",
      false },
};

static void check(struct ctx *ctx, const char *text, bool expected)
{
    struct generated_case row = { .text = text, .tolerance = 1e-6, .keep_zeros = true };

    ck_assert(!leaves_out(ctx, &row));
    row.keep_zeros = false;
    ck_assert_int_eq(leaves_out(ctx, &row), expected);
    generated_check(&row);
}

START_TEST(behind_what_makes_zeros)
{
    struct ctx *ctx = ctx_new("makers");

    check(ctx,
          arena_printf(&ctx->perm,
                       "fn main(%%x: %s f32) -> (%%y) {\n  %s : (1,24) f32\n"
                       "  const @w : (16,24) f32 = crc32:00000000\n"
                       "  %%y = nn.dense(%%v, @w) : (1,16) f32\n}\n",
                       makers[_i].shape, makers[_i].nodes),
          makers[_i].leaves_out);
    ctx_free(ctx);
}
END_TEST

/* What reads %v, which is nn.relu(%x), and others that do not. */
static const struct {
    const char *shape, *nodes;
    bool leaves_out;
} readers[] = {
    { "(1,24)",
      "const @w : (24,16) f32 = crc32:00000000\n"
      "  %y = nn.matmul(%v, @w) : (1,16) f32",
      true },
    { "(1,24,1,1)",
      "const @w : (16,24,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%v, @w) {groups=1, data_layout=\"NCHW\", out_layout=\"NCHW\"} : "
      "(1,16,1,1) f32",
      true },
    { "(1,24)",
      "const @w : (16,24) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (1,16) f32",
      false },
    /* 0 times an infinite weight is no number. */
    { "(1,1)",
      "const @w : (16,1) f32 = [1, 2, inf, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n"
      "  %y = nn.dense(%v, @w) : (1,16) f32",
      false },
    { "(1,1)",
      "const @w : (16,1) f16 = [1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n"
      "  %y = nn.dense(%v, @w) {out_dtype=f32} : (1,16) f32",
      false },
    { "(2,24)",
      "const @w : (16,24) f32 = crc32:00000000\n"
      "  %y = nn.dense(%v, @w) : (2,16) f32",
      false },
    { "(1,24)",
      "const @w : (15,24) f32 = crc32:00000000\n"
      "  %y = nn.dense(%v, @w) : (1,15) f32",
      false },
};

START_TEST(where_a_row_meets_many_weights)
{
    struct ctx *ctx = ctx_new("readers");

    check(ctx,
          arena_printf(&ctx->perm,
                       "fn main(%%x: %s f32) -> (%%y, %%v) {\n"
                       "  %%v = nn.relu(%%x) : %s f32\n  %s\n}\n",
                       readers[_i].shape, readers[_i].shape, readers[_i].nodes),
          readers[_i].leaves_out);
    ctx_free(ctx);
}
END_TEST

/* --- sums ------------------------------------------------------------------------------------- */

/* Outputs in panels of every kind; inputs that are looked at all at once, and block by block. */
static const struct {
    int in_c, out_c;
} sizes[] = {
    { 1, 17 }, { 17, 44 }, { 256, 128 }, { 257, 130 }, { 600, 300 }, { 35, 231 },
};

static const char *const machine_names[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4",
                                             "cortex-m4" };

static const char *layer(struct ctx *ctx, int in_c, int out_c)
{
    return arena_printf(&ctx->perm,
                        "fn main(%%x: (1,%d) f32) -> (%%y) {\n"
                        "  const @w : (%d,%d) f32 = crc32:00000000\n"
                        "  %%r = nn.relu(%%x) : (1,%d) f32\n"
                        "  %%y = nn.dense(%%r, @w) : (1,%d) f32\n}\n",
                        in_c, out_c, in_c, in_c, out_c);
}

/* Half of the inputs, all and none of them are 0: generated_check compares the bits with those of
 * all products, which the simulation adds up. */
START_TEST(sums_are_those_of_all_products)
{
    static const struct generated_range ranges[] = { { -2, 2 }, { -2, -1 }, { 1, 2 } };
    struct ctx *ctx = ctx_new("sums");
    const int n = N_ROWS(machine_names);
    const struct generated_case row = {
        .text = layer(ctx, sizes[_i / n].in_c, sizes[_i / n].out_c),
        .tolerance = 1e-5,
        .machine = machine_find(ctx, machine_names[_i % n]),
    };

    ck_assert(leaves_out(ctx, &row));
    generated_vector_builds();
    generated_check_ranges(&row, N_ROWS(ranges), ranges);
    ctx_free(ctx);
}
END_TEST

START_TEST(parts_leave_zeros_out)
{
    struct ctx *ctx = ctx_new("parts");
    const struct generated_case row = { .text = layer(ctx, _i ? 300 : 90, 700),
                                        .tolerance = 1e-5,
                                        .parts = 2 };

    ck_assert(leaves_out(ctx, &row));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* What is no number is not 0, -0 is. */
START_TEST(numbers_that_are_none_are_kept)
{
    struct ctx *ctx = ctx_new("none");
    const struct generated_case row = { .text = layer(ctx, 40, 24), .tolerance = 1e-6 };
    struct module *module = generated_module(ctx, &row);
    float numbers[40] = { 0 };
    const struct tensor input = { module->main->params[0]->type, numbers };

    ck_assert(leaves_out(ctx, &row));
    numbers[3] = 1;
    numbers[5] = -0.0f;
    numbers[20] = 1e-45f;
    generated_check_module(module, &row, &input);
    numbers[39] = INFINITY;
    generated_check_module(module, &row, &input);
    numbers[18] = NAN;
    generated_check_module(module, &row, &input);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("zeros");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, behind_what_makes_zeros, 0, N_ROWS(makers));
    tcase_add_loop_test(tests, where_a_row_meets_many_weights, 0, N_ROWS(readers));
    tcase_add_loop_test(tests, sums_are_those_of_all_products, 0,
                        N_ROWS(sizes) * N_ROWS(machine_names));
    tcase_add_loop_test(tests, parts_leave_zeros_out, 0, 2);
    tcase_add_test(tests, numbers_that_are_none_are_kept);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
