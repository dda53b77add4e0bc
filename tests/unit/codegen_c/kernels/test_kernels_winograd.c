/* Convolutions by Winograd's tiles (codegen_c/kernels/conv/winograd.c), as generated C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/knob.h"
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/machine/machine.h"
#include "codegen_c/select/signature.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

/* Errors relative to the largest output. A few hundred products of each sum, and differences of
 * tiles of 4 x 4 whose weights are up to 8 times as large. */
static const double tolerance_two = 2e-6, tolerance_four = 2e-5;

/* Every extent of y from 1 to 20, in one dim or both; channels of every remainder by 4, 8 and 16.
 */
static const struct kernel_case extents[] = {
#define EXTENT(h, w, in_c, out_c)                                                                  \
    {                                                                                              \
        "winograd", "nn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",              \
            "f32[1," #h "," #w "," #in_c "]; const f32[" #out_c "," #in_c ",3,3]"                  \
    }
    EXTENT(1, 1, 3, 5),    EXTENT(1, 20, 3, 2),    EXTENT(2, 19, 5, 8),   EXTENT(3, 3, 8, 16),
    EXTENT(4, 17, 7, 17),  EXTENT(5, 16, 9, 12),   EXTENT(6, 6, 31, 40),  EXTENT(7, 14, 15, 31),
    EXTENT(8, 13, 18, 7),  EXTENT(9, 9, 11, 70),   EXTENT(10, 10, 24, 6), EXTENT(11, 18, 2, 33),
    EXTENT(12, 12, 33, 5), EXTENT(14, 8, 1, 36),   EXTENT(15, 7, 4, 19),  EXTENT(16, 5, 10, 65),
    EXTENT(18, 3, 21, 10), EXTENT(20, 20, 16, 32),
};

/* Padding that is missing, uneven, larger than a kernel needs, or than the image; images. Where a
 * window sees nothing but padding its result need not be an exact 0: no comparison with 0 follows
 * there, as it does behind every fourth row. */
static const struct kernel_case paddings[] = {
#define PADDING(pads, shape, in_c, out_c)                                                          \
    {                                                                                              \
        "winograd", "nn.conv2d", "groups=1, padding=[" pads "], data_layout=\"NHWC\"",             \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",3,3]"                        \
    }
    PADDING("0,0,0,0", "1,6,6", 16, 16), PADDING("0,0,0,0", "1,9,14", 5, 9),
    PADDING("0,0,0,0", "2,10,10", 8, 8), PADDING("1,0,0,1", "1,7,8", 6, 33),
    PADDING("0,2,1,0", "1,8,7", 20, 4),  PADDING("2,1,1,2", "1,2,3", 4, 10),
    PADDING("2,2,2,2", "1,3,3", 7, 7),   PADDING("1,1,1,1", "3,5,6", 9, 17),
    PADDING("1,1,1,1", "2,8,8", 32, 32), PADDING("0,0,2,2", "2,4,4", 12, 5),
};

/* More tiles than are taken at a time, more channels than a panel has. */
static const struct kernel_case large[] = {
    EXTENT(36, 37, 70, 40),
    EXTENT(70, 70, 16, 16),
    EXTENT(15, 16, 150, 100),
};

/* With strides of 2: every extent of y from 1 to 10 and of x even and odd, paddings of all kinds,
 * images, groups. */
static const struct kernel_case strided[] = {
#define STRIDED(pads, shape, in_c, out_c)                                                          \
    {                                                                                              \
        "winograd", "nn.conv2d",                                                                   \
            "groups=1, strides=[2,2], padding=[" pads "], data_layout=\"NHWC\"",                   \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",3,3]"                        \
    }
    STRIDED("1,1,1,1", "1,1,1", 3, 5),   STRIDED("1,1,1,1", "1,2,20", 3, 2),
    STRIDED("1,1,1,1", "1,3,19", 5, 8),  STRIDED("1,1,1,1", "1,5,5", 8, 16),
    STRIDED("1,1,1,1", "1,7,17", 7, 17), STRIDED("1,1,1,1", "1,10,12", 9, 12),
    STRIDED("1,1,1,1", "1,13,14", 5, 9), STRIDED("0,0,0,0", "1,9,9", 16, 16),
    STRIDED("0,0,0,0", "2,17,9", 6, 7),  STRIDED("0,0,1,1", "1,16,15", 20, 4),
    STRIDED("1,0,0,1", "1,7,8", 6, 33),  STRIDED("0,2,1,0", "1,8,7", 20, 4),
    STRIDED("2,1,1,2", "1,2,3", 4, 10),  STRIDED("2,2,2,2", "1,3,3", 7, 7),
    STRIDED("1,1,1,1", "3,5,6", 9, 17),  STRIDED("0,0,1,1", "2,8,8", 32, 32),
    STRIDED("1,1,1,1", "1,72,70", 9, 6), STRIDED("1,1,1,1", "1,16,18", 70, 100),
    STRIDED("0,0,0,0", "1,3,3", 2, 65),
};

static const enum winograd sizes[] = { WINOGRAD_F2, WINOGRAD_F4 };

static void check(const struct kernel_case *rows, int n, enum winograd size)
{
    kernel_cases_check_as(rows, n, size == WINOGRAD_F2 ? tolerance_two : tolerance_four, size,
                          NULL);
}

#define CHECK(rows, size) check(rows, (int)(sizeof(rows) / sizeof *(rows)), size)

START_TEST(extents_agree_with_the_reference)
{
    CHECK(extents, sizes[_i]);
}
END_TEST

START_TEST(paddings_agree_with_the_reference)
{
    CHECK(paddings, sizes[_i]);
}
END_TEST

START_TEST(groups_of_tiles_agree_with_the_reference)
{
    CHECK(large, sizes[_i]);
}
END_TEST

START_TEST(strides_agree_with_the_reference)
{
    CHECK(strided, sizes[_i]);
}
END_TEST

/* Where the third cache is far, weights that come from there are fetched evenly, for as many tiles
 * as leave room in the second cache, and are transformed at run time where that is faster; others
 * stay, and have groups as elsewhere. */
START_TEST(weights_from_afar_serve_many_tiles)
{
#define CONV(h, c)                                                                                 \
    "fn main(%x: (1," h "," h "," c ") f32) -> (%y) {\n"                                           \
    "  const @t : (" c "," c ",3,3) f32 = crc32:00000000\n"                                        \
    "  %y = nn.conv2d(%x, @t) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "                \
    "out_layout=\"NHWC\"} : (1," h "," h "," c ") f32\n"                                           \
    "}\n"
    static const struct {
        const char *text, *machine, *group, *fetch;
    } far[] = {
        { CONV("28", "128"), "sapphirerapids", "GROUP = 49, ROOM", "FETCH = 5, /*" },
        { CONV("7", "512"), "sapphirerapids", "GROUP = 4, ROOM", "FETCH = 8, /*" },
        { CONV("14", "256"), "sapphirerapids", "GROUP = 16, ROOM", "FETCH = 4, /*" },
        { CONV("56", "32"), "sapphirerapids", "GROUP = 32, ROOM", "FETCH = 8, /*" },
        { CONV("14", "256"), "znver5", "GROUP = 16, ROOM", "% 2)" },
    };
    struct ctx *ctx = ctx_new("afar");
    struct generated_case row = {
        .text = far[_i].text,
        .tolerance = tolerance_four,
        .machine = machine_find(ctx, far[_i].machine),
        .one_build = true,
    };

    ck_assert_int_eq(generated_count(ctx, &row, far[_i].group), 1);
    ck_assert_int_eq(generated_count(ctx, &row, far[_i].fetch), 1);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Weights that are transformed when they are needed: on every machine that has vectors, or single
 * numbers, of known length; some inputs at a time, and all at once. */
START_TEST(late_weights_agree_with_the_reference)
{
#define LATE(shape, y, in_c, out_c, pads)                                                          \
    "fn main(%x: " shape " f32, %r: " y " f32) -> (%y) {\n"                                        \
    "  const @t : (" out_c "," in_c ",3,3) f32 = crc32:00000000\n"                                 \
    "  %c = nn.conv2d(%x, @t) {padding=[" pads "], groups=1, data_layout=\"NHWC\", "               \
    "out_layout=\"NHWC\"} : " y " f32\n"                                                           \
    "  %a = add(%c, %r) : " y " f32\n"                                                             \
    "  %y = nn.relu(%a) : " y " f32\n"                                                             \
    "}\n"
    static const struct {
        const char *text, *machine, *depth, *pairs;
    } late[] = {
        { LATE("(1,9,10,24)", "(1,9,10,64)", "24", "64", "1,1,1,1"), "x86-64", "8", NULL },
        { LATE("(1,9,10,24)", "(1,9,10,64)", "24", "64", "1,1,1,1"), "x86-64-v3", "8", NULL },
        { LATE("(1,9,10,24)", "(1,9,10,64)", "24", "64", "1,1,1,1"), "x86-64-v4", "8", "0" },
        { LATE("(1,9,10,24)", "(1,9,10,64)", "24", "64", "1,1,1,1"), "cortex-m7", "8", NULL },
        { LATE("(2,7,7,32)", "(2,7,7,32)", "32", "32", "1,1,1,1"), "x86-64-v3", "32", NULL },
        { LATE("(1,6,18,64)", "(1,4,16,96)", "64", "96", "0,0,0,0"), "znver4", "16", "0" },
        { LATE("(1,1,1,16)", "(1,2,2,32)", "16", "32", "2,1,1,2"), "x86-64-v3", "16", NULL },
        { LATE("(1,21,22,16)", "(1,21,22,32)", "16", "32", "1,1,1,1"), "sapphirerapids", "8", "0" },
    };
    struct ctx *ctx = ctx_new("late");
    struct choice choice = { .value = { [KNOB_KERNEL] = "winograd",
                                        [KNOB_WINOGRAD] = "4",
                                        [KNOB_PAIRS] = late[_i].pairs,
                                        [KNOB_NC] = late[_i].depth } };
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct generated_case row = {
        .text = late[_i].text,
        .tolerance = tolerance_four,
        .machine = machine_find(ctx, late[_i].machine),
        .choices = &choices,
    };
    struct module *module = generated_module(ctx, &row);

    for (const struct node *node = module->main->first; node; node = node->next)
        if (node->op == OP_CALL)
            map_set(&choices.by_signature, region_signature(&ctx->perm, node->callee), &choice);
    ck_assert_int_eq(generated_count(ctx, &row, "inputs whose weights are transformed at a time"),
                     1);
    ck_assert_msg(ctx->diags.n_warnings == 0, "%s", late[_i].machine);
    generated_check(&row);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Where scratch is what --ram has no room for, the message says how to do without. */
START_TEST(scratch_beyond_ram_has_a_way_out)
{
    struct ctx *ctx = ctx_new("ram");
    const struct generated_case row = { .text = CONV("8", "16") };
    struct module *module = generated_module(ctx, &row);
    struct temp_dir dir = temp_dir_new();
    const struct codegen_options options = { .name = "net",
                                             .dir = dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = machine_find(ctx, "x86-64-v3"),
                                             .winograd = WINOGRAD_F4,
                                             .ram = 1024 };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert(!codegen_c(module, &options, &set, &result));
    ck_assert_ptr_nonnull(strstr(expect_text(ctx), "--winograd off does without"));
    output_abort(&set);
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* What is refused goes to the direct kernels, whatever --winograd says. */
START_TEST(other_convolutions_stay_direct)
{
    static const struct kernel_case others[] = {
        { "conv_band", "nn.conv2d", "groups=1, padding=[1,1,1,1]",
          "f32[1,16,8,8]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d",
          "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\", out_layout=\"NCHW\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, strides=[2,1], data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, strides=[3,3], data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, strides=[2,2], padding=[3,0,0,0], data_layout=\"NHWC\"",
          "f32[1,9,9,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, dilation=[1,2], data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, padding=[3,0,0,0], data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=1, padding=[0,0,0,3], data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,3]" },
        { "conv", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,8,3,3]" },
        { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
          "f32[1,8,8,16]; const f32[16,16,3,1]" },
        { "conv_small", "nn.conv2d", "groups=1, data_layout=\"NHWC\", out_dtype=f32",
          "f32[1,8,8,16]; const f8e4m3[16,16,3,3]" },
        { "conv_depthwise", "nn.conv2d", "groups=4", "f32[1,4,8,8]; const f32[4,1,3,3]" },
    };

    CHECK(others, sizes[_i]);
}
END_TEST

enum { MOST_N = 9, MOST_M = 4 };

/* The matrices of a tile: of n inputs, and of the n products of which m outputs are made. */
struct paper {
    int m, stride, n;
    double in[MOST_N][MOST_N], out[MOST_M][MOST_N];
};

/* F(2, 3) and F(4, 3) of Lavin and Gray; with strides F(2, 2) and F(4, 2) of what is at even
 * places, and what is at odd places as it is. */
static const struct paper papers[] = {
    { 2,
      1,
      4,
      { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 } },
      { { 1, 1, 1, 0 }, { 0, 1, -1, -1 } } },
    { 4,
      1,
      6,
      { { 4, 0, -5, 0, 1, 0 },
        { 0, -4, -4, 1, 1, 0 },
        { 0, 4, -4, -1, 1, 0 },
        { 0, -2, -1, 2, 1, 0 },
        { 0, 2, -1, -2, 1, 0 },
        { 0, 4, 0, -5, 0, 1 } },
      { { 1, 1, 1, 1, 1, 0 },
        { 0, 1, -1, 2, -2, 0 },
        { 0, 1, 1, 4, 4, 0 },
        { 0, 1, -1, 8, -8, 1 } } },
    { 2,
      2,
      5,
      { { 1, 0, -1 }, { 0, 0, 1 }, { 0, 0, -1, 0, 1 }, { 0, 1 }, { 0, 0, 0, 1 } },
      { { 1, 1, 0, 1, 0 }, { 0, 1, 1, 0, 1 } } },
    { 4,
      2,
      9,
      { { 2, 0, -1, 0, -2, 0, 1 },
        { 0, 0, 2, 0, 1, 0, -1 },
        { 0, 0, -2, 0, 3, 0, -1 },
        { 0, 0, -1, 0, 0, 0, 1 },
        { 0, 0, 2, 0, -1, 0, -2, 0, 1 },
        { 0, 1 },
        { 0, 0, 0, 1 },
        { 0, 0, 0, 0, 0, 1 },
        { 0, 0, 0, 0, 0, 0, 0, 1 } },
      { { 1, 1, 1, 1, 0, 1, 0, 0, 0 },
        { 0, 1, -1, 2, 0, 0, 1, 0, 0 },
        { 0, 1, 1, 4, 0, 0, 0, 1, 0 },
        { 0, 1, -1, 8, 1, 0, 0, 0, 1 } } },
};

/* Which row or column of the weights product i of a line has: all odd places have the last. */
static int matrix_of(const struct paper *p, int i)
{
    return i < p->m + 2 ? i : p->m + 1;
}

/* A convolution of one tile, in double, by the weights as they are stored and the transforms of the
 * papers: equal to the sum over the window. */
START_TEST(weights_are_those_of_the_paper)
{
    const struct paper *p = &papers[_i];
    const int n = p->n;
    static const float kernel[9] = { 0.5f, -1, 2, 3, 0.25f, -0.75f, 1, -2, 1.5f };
    double transformed[36], x[MOST_N * MOST_N], v[MOST_N * MOST_N] = { 0 };

    winograd_transform(p->m, p->stride, kernel, transformed);
    for (int i = 0; i < n * n; i++)
        x[i] = (i * 7 % 11 - 5) / 4.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    v[i * n + j] += p->in[i][k] * x[k * n + l] * p->in[j][l];
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->m; j++) {
            double wanted = 0, got = 0;

            for (int k = 0; k < 9; k++)
                wanted += kernel[k] * x[(i * p->stride + k / 3) * n + j * p->stride + k % 3];
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    got += p->out[i][k] * v[k * n + l] *
                           transformed[matrix_of(p, k) * (p->m + 2) + matrix_of(p, l)] *
                           p->out[j][l];
            ck_assert_double_eq_tol(got, wanted, 1e-13);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("winograd");
    TCase *tcase = tcase_create("winograd");
    SRunner *runner;
    int failed;

    generated_vector_builds();
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, weights_are_those_of_the_paper, 0, sizeof papers / sizeof *papers);
    tcase_add_loop_test(tcase, extents_agree_with_the_reference, 0, 2);
    tcase_add_loop_test(tcase, paddings_agree_with_the_reference, 0, 2);
    tcase_add_loop_test(tcase, groups_of_tiles_agree_with_the_reference, 0, 2);
    tcase_add_loop_test(tcase, strides_agree_with_the_reference, 0, 2);
    tcase_add_loop_test(tcase, other_convolutions_stay_direct, 0, 2);
    tcase_add_loop_test(tcase, weights_from_afar_serve_many_tiles, 0, 5);
    tcase_add_loop_test(tcase, late_weights_agree_with_the_reference, 0, 8);
    tcase_add_test(tcase, scratch_beyond_ram_has_a_way_out);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
