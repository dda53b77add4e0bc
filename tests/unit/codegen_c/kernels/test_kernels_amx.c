/* Products of floats by the registers of AMX (codegen_c/kernels/{amx,conv_amx}.c), as generated C:
 * against the reference. On a machine without AMX, and in the builds for others, the same C
 * multiplies floats. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const double tolerance = 2e-6;

#define LAST "data_layout=\"NHWC\", groups=1"

/* Sums two by two and one by four; positions that fill blocks, half of them, and not; channels that
 * fill vectors and groups of them, and not; inputs that fill registers and not; images, strides,
 * dilations, padding; parts in the arena; rows by a matrix. */
static const struct kernel_case rows[] = {
    { "conv_amx", "nn.conv2d", LAST, "f32[1,8,8,64]; const f32[64,64,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,25,5,64]; const f32[64,64,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,6,6,128]; const f32[128,128,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,4,4,128]; const f32[256,128,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,20,20,32]; const f32[32,32,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,14,13,61]; const f32[64,61,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,14,13,93]; const f32[122,93,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,14,13,96]; const f32[40,96,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[3,7,7,64]; const f32[112,64,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,7,7,640]; const f32[64,640,1,1]" },
    { "conv_amx", "nn.conv2d", LAST, "f32[1,10,9,384]; const f32[200,384,1,1]" }, /* NC blocks */
    { "conv_amx", "nn.conv2d", LAST, "f32[1,12,12,1100]; const f32[48,1100,1,1]" },
    { "conv_amx", "nn.conv2d", LAST ", strides=[2,2]", "f32[1,15,16,64]; const f32[64,64,1,1]" },
    { "conv_amx", "nn.conv2d", LAST ", strides=[3,3], padding=[2,1,2,1]",
      "f32[1,20,19,32]; const f32[64,32,5,4]" },
    { "conv_amx", "nn.conv2d", LAST ", padding=[2,2,2,2], dilation=[2,2]",
      "f32[2,9,11,60]; const f32[64,60,3,3]" },
    { "conv_amx", "nn.conv1d", "data_layout=\"NWC\", groups=1, padding=[3,3]",
      "f32[1,60,64]; const f32[64,64,7]" },
    { "conv_amx", "nn.conv3d", "data_layout=\"NDHWC\", groups=1, padding=[1,1,1,1,1,1]",
      "f32[1,4,5,6,32]; const f32[64,32,3,3,3]" },
    { "conv_amx", "nn.dense", "", "f32[33,96]; const f32[128,96]" },
    { "conv_amx", "nn.matmul", "", "f32[2,32,64]; const f32[64,96]" },
    { "conv_amx", "nn.matmul", "transpose_b=true", "f32[50,90]; const f32[64,90]" },
};

/* Not where there are few products, nor groups, nor planes, nor weights whose parts are no numbers.
 */
static const struct kernel_case others[] = {
    { "conv", "nn.conv2d", LAST, "f32[1,2,2,64]; const f32[64,64,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,16,16,16]; const f32[64,16,1,1]" },
    { "conv", "nn.conv2d", "data_layout=\"NHWC\", groups=2",
      "f32[1,8,8,128]; const f32[128,64,1,1]" },
    { "conv_parts", "nn.conv2d", LAST, "f32[1,4,6,5504]; const f32[64,5504,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,8,8,64]; const f32[64,64,1,1] 1 2 inf 3" },
    { "conv", "nn.conv2d", LAST, "f32[1,8,8,64]; const f32[64,64,1,1] 1 2 1e31 3" },
};

static const struct machine *amx_machine(struct ctx *ctx)
{
    return machine_find(ctx, "sapphirerapids");
}

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, N_ROWS(rows), tolerance, WINOGRAD_AUTO, amx_machine(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(others_go_without)
{
    static const struct kernel_case plain = { "conv", "nn.conv2d", LAST,
                                              "f32[1,8,8,64]; const f32[64,64,1,1]" };
    struct ctx *ctx = ctx_new("others");

    kernel_cases_check_as(others, N_ROWS(others), 1e-5, WINOGRAD_AUTO, amx_machine(ctx));
    kernel_cases_check_as(&plain, 1, 1e-5, WINOGRAD_AUTO, machine_find(ctx, "x86-64-v4"));
    kernel_cases_check_as(&plain, 1, 1e-5, WINOGRAD_OFF, amx_machine(ctx));
    ctx_free(ctx);
}
END_TEST

static const char text[] =
    "fn main(%x: (1,6,10,96) f32) -> (%y) {\n"
    "  const @w : (64,96,1,1) f32 = crc32:00000000\n"
    "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
    "(1,6,10,64) f32\n"
    "}\n";

/* What is no number, or infinite, is multiplied as it is, with all that goes with it; it does not
 * reach other pixels. Zeros give exact zeros. */
START_TEST(numbers_that_are_none)
{
    struct ctx *ctx = ctx_new("none");
    struct generated_case row = { .text = text,
                                  .tolerance = tolerance,
                                  .machine = amx_machine(ctx) };
    struct module *module = generated_module(ctx, &row);
    float *numbers = arena_array(&ctx->perm, float, 60 * 96);
    const struct tensor input = { module->main->params[0]->type, numbers };

    ck_assert(strstr(generated_text(ctx, &row, ".c"), "amx_floats(&tap["));
    for (int i = 20 * 96; i < 60 * 96; i++)
        numbers[i] = (float)(i * 37 % 101) / 50 - 1;
    generated_check_module(module, &row, &input);
    numbers[45 * 96 + 7] = 3e38f; /* its upper half is a number: so are its parts */
    generated_check_module(module, &row, &input);
    numbers[27 * 96 + 5] = INFINITY;
    numbers[28 * 96 + 40] = -INFINITY;
    numbers[59 * 96 + 95] = NAN;
    generated_check_module(module, &row, &input);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Of numbers of one sign, too. Parts of small ones are 0, if they are below 2^-126. */
START_TEST(inputs_of_every_size)
{
    static const double most[] = { 0x1p-90, 0x1p-60, 1.0 / 4096, 1, 40, 0x1p40 };
    enum { N_SIZES = sizeof most / sizeof *most };
    struct generated_range ranges[2 * N_SIZES];
    struct ctx *ctx = ctx_new("sizes");
    const struct generated_case row = { .text = text,
                                        .tolerance = tolerance,
                                        .machine = amx_machine(ctx) };

    for (int i = 0; i < N_SIZES; i++) {
        ranges[2 * i] = (struct generated_range){ -most[i], most[i] };
        ranges[2 * i + 1] = (struct generated_range){ 0, most[i] };
    }
    generated_check_ranges(&row, 2 * N_SIZES, ranges);
    ctx_free(ctx);
}
END_TEST

/* The clock is slower after such products: a network with few of them goes without. */
START_TEST(networks_with_few_go_without)
{
    static const char *const net =
        "fn main(%%x: (1,%d,%d,16) f32, %%z: (1,8,8,64) f32) -> (%%y, %%r) {\n"
        "  const @v : (16,16,3,3) f32 = crc32:00000000\n"
        "  const @w : (64,64,1,1) f32 = crc32:00000000\n"
        "  %%y = nn.conv2d(%%x, @v) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "
        "out_layout=\"NHWC\"} : (1,%d,%d,16) f32\n"
        "  %%r = nn.conv2d(%%z, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
        "(1,8,8,64) f32\n"
        "}\n";
    struct ctx *ctx = ctx_new("few");
    const int size = _i ? 56 : 16;
    const struct generated_case row = {
        .text = arena_printf(&ctx->perm, net, size, size, size, size),
        .tolerance = 1e-5,
        .machine = amx_machine(ctx),
    };

    ck_assert((strstr(generated_text(ctx, &row, ".c"), "amx_begin(") == NULL) == (_i == 1));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Nodes behind the products, whose name is a part of that of the function that stores their
 * results; NULL: sums become results one by one. */
static const struct {
    int out_c;
    const char *nodes, *name;
} endings[] = {
    { 64, "%y = nn.relu(%c)", "_64_of_64_relu" },
    { 64, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = clip(%d) {a_min=-0.5, a_max=0.75}",
      "_64_of_64_bias_add_within" },
    { 122, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %e = add(%d, %r) : T\n %y = nn.relu(%e)",
      "_some_bias_add_add_results_relu" },
    { 112, "%y = nn.leaky_relu(%c) {alpha=0.1, beta=0}", "_48_of_64_leaky_relu" },
    { 64, "%y = nn.silu(%c)", NULL },
    { 122, "%d = add(%c, @p) : T\n %y = nn.relu(%d)", NULL }, /* a number for each row of pixels */
};

START_TEST(sums_become_results)
{
    struct ctx *ctx = ctx_new("endings");
    struct arena *arena = &ctx->perm;
    const char *type = arena_printf(arena, "(1,6,6,%d) f32", endings[_i].out_c);
    struct generated_case row = { .tolerance = 1e-5, .machine = amx_machine(ctx) };
    struct str nodes = { .arena = arena };
    const char *c;

    for (const char *at = endings[_i].nodes; *at; at++)
        if (*at == 'T')
            str_add(&nodes, type);
        else
            str_addn(&nodes, at, 1);
    row.text =
        arena_printf(arena,
                     "fn main(%%x: (1,6,6,96) f32, %%r: %s) -> (%%y) {\n"
                     "  const @w : (%d,96,1,1) f32 = crc32:00000000\n"
                     "  const @b : (%d) f32 = crc32:00000000\n"
                     "  const @p : (6,1,1) f32 = crc32:00000000\n"
                     "  %%c = nn.conv2d(%%x, @w) {groups=1, data_layout=\"NHWC\", "
                     "out_layout=\"NHWC\"} : %s\n %s : %s\n}\n",
                     type, endings[_i].out_c, endings[_i].out_c, type, str_text(&nodes), type);
    c = generated_text(ctx, &row, ".c");
    ck_assert_msg(strstr(c, "amx_1_by_4_split(") != NULL, "another kernel, or shape");
    ck_assert_msg(endings[_i].name ? strstr(c, endings[_i].name) != NULL : !strstr(c, "store_sums"),
                  "no %s", endings[_i].name ? endings[_i].name : "other text");
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_amx");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, rows_agree_with_the_reference);
    tcase_add_test(tests, others_go_without);
    tcase_add_test(tests, numbers_that_are_none);
    tcase_add_test(tests, inputs_of_every_size);
    tcase_add_loop_test(tests, networks_with_few_go_without, 0, 2);
    tcase_add_loop_test(tests, sums_become_results, 0, N_ROWS(endings));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
