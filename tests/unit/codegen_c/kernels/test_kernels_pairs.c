/* Sums by pairs of products (codegen_c/microkernel/pairs.h), as generated C: conv_pairs and winograd.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/builds.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* Errors relative to the largest output: of inputs of the size that weights are scaled for, and at
 * most, where inputs are as small or as great as may be; of Winograd's tiles of 2 x 2 and 4 x 4
 * those that they have without pairs (test_kernels_winograd.c). */
static const double tolerance = 2e-6, most_tolerance = 4e-6;
static const double tolerance_two = 2e-6, tolerance_four = 2e-5;

static const struct kernel_case rows[] = {
/* Lengths of every remainder by 3, and of PAIRED(len) by 16 lanes; whole tiles, halves, parts. */
#define PAIRS(shape, in_c, out_c)                                                                  \
    {                                                                                              \
        "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",                               \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",1,1]"                        \
    }
    PAIRS("1,5,7", 16, 160),
    PAIRS("1,4,3", 17, 200),
    PAIRS("1,9,9", 24, 64),
    PAIRS("1,1,25", 25, 70),
    PAIRS("1,6,6", 32, 48),
    PAIRS("1,7,7", 35, 33),
    PAIRS("1,3,5", 48, 128),
    PAIRS("2,5,5", 64, 37),
    PAIRS("1,14,3", 70, 96),
    PAIRS("3,2,3", 96, 100),
    PAIRS("1,2,3", 200, 80),
    PAIRS("1,7,7", 320, 1280),
    /* every second place, groups */
    { "conv_pairs", "nn.conv2d", "groups=1, strides=[2,2], data_layout=\"NHWC\"",
      "f32[1,9,8,64]; const f32[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,5,5,128]; const f32[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=3, strides=[1,2], data_layout=\"NHWC\"",
      "f32[2,3,5,144]; const f32[198,48,1,1]" },
    /* pixels of x, or their copies, that would share a set of the first cache */
    PAIRS("1,3,5", 1024, 64),
    { "conv_pairs", "nn.conv2d", "groups=1, strides=[2,2], data_layout=\"NHWC\"",
      "f32[1,5,9,512]; const f32[40,512,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,2,5,1024]; const f32[96,512,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,2,5,2048]; const f32[96,1024,1,1]" },
    /* weights that are fetched ahead, over the stack, the last tile not whole */
    { "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "f32[1,5,5,1200]; const f32[112,1200,1,1]" },
    /* y in planes; other ranks */
    { "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "f32[1,5,7,48]; const f32[72,48,1,1]" },
    { "conv_pairs", "nn.conv1d", "groups=1, data_layout=\"NWC\"",
      "f32[1,50,80]; const f32[64,80,1]" },
    /* rows by a known matrix, which lies either way round */
    { "conv_pairs", "nn.dense", "", "f32[9,48]; const f32[70,48]" },
    { "conv_pairs", "nn.matmul", "", "f32[2,5,64]; const f32[64,96]" },
    { "conv_pairs", "nn.matmul", "transpose_b=true", "f32[13,100]; const f32[64,100]" },
    { "dense_tiles", "nn.dense", "", "f32[4,48]; const f32[70,48]" },
    { "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,300]; const f32[9,300,1,1]" },
    /* not where it would take longer, or cannot be */
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,300]; const f32[8,300,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,32]; const f32[16,32,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,15]; const f32[256,15,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,64]; const f32[96,64,1,1] 1 2 inf 3 5" },
    { "conv", "nn.conv2d", "groups=1, padding=[1,0,0,0], data_layout=\"NHWC\"",
      "f32[1,5,7,64]; const f32[96,64,1,1]" },
};

static const struct machine *znver4(struct ctx *ctx)
{
    return machine_find(ctx, "znver4");
}

/* What takes compilers longest is taken by halves; each half sees the builds of two turns. */
static bool is_turn_of(int half)
{
    return builds_all() || (builds_turn() / 2 + (unsigned)half) % 2 == 0;
}

START_TEST(rows_agree_with_the_reference)
{
    const int n = sizeof rows / sizeof *rows, middle = n / 2;
    struct ctx *ctx = ctx_new("rows");

    if (is_turn_of(_i))
        kernel_cases_check_as(_i ? rows + middle : rows, _i ? n - middle : middle, tolerance,
                              WINOGRAD_AUTO, znver4(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(winograd_off_and_other_machines_go_without)
{
    static const struct kernel_case plain = { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
                                              "f32[1,5,7,48]; const f32[96,48,1,1]" };
    struct ctx *ctx = ctx_new("plain");

    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_OFF, znver4(ctx));
    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_AUTO, machine_find(ctx, "x86-64-v4"));
    ctx_free(ctx);
}
END_TEST

/* Whole tiles, halves, parts; more tiles than are taken at a time; padding, images, strides. */
static const struct kernel_case tiles[] = {
#define TILES(attrs, shape, in_c, out_c)                                                           \
    {                                                                                              \
        "winograd", "nn.conv2d", "groups=1, data_layout=\"NHWC\", " attrs,                         \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",3,3]"                        \
    }
#define PADDED "padding=[1,1,1,1]"
    TILES(PADDED, "1,8,8", 64, 64),
    TILES(PADDED, "1,9,14", 49, 70),
    TILES(PADDED, "1,20,21", 48, 192),
    TILES(PADDED, "1,7,7", 96, 80),
    TILES(PADDED, "2,12,5", 50, 48),
    TILES("padding=[0,0,0,0]", "1,28,30", 64, 33),
    TILES("padding=[0,2,1,0]", "1,6,7", 130, 40),
    TILES(PADDED ", strides=[2,2]", "1,15,16", 64, 96),
    TILES("padding=[0,0,1,1], strides=[2,2]", "1,24,24", 70, 40),
};

static const enum winograd sizes[] = { WINOGRAD_AUTO, WINOGRAD_F2, WINOGRAD_F4 };

START_TEST(tiles_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("tiles");

    kernel_cases_check_as(tiles, (int)(sizeof tiles / sizeof *tiles),
                          sizes[_i] == WINOGRAD_F2 ? tolerance_two : tolerance_four, sizes[_i],
                          znver4(ctx));
    ctx_free(ctx);
}
END_TEST

/* A convolution of 3 x 3 that F(4,3) takes, and in pairs where the channels are enough. */
static const char *three_by_three(struct ctx *ctx, int in_c, int out_c)
{
    return arena_printf(&ctx->perm,
                        "fn main(%%x: (1,16,16,%d) f32) -> (%%y) {\n"
                        "  const @w : (%d,%d,3,3) f32 = crc32:00000000\n"
                        "  %%y = nn.conv2d(%%x, @w) {padding=[1,1,1,1], groups=1, "
                        "data_layout=\"NHWC\", out_layout=\"NHWC\"} : (1,16,16,%d) f32\n"
                        "}\n",
                        in_c, out_c, in_c, out_c);
}

static bool tiles_are_paired(struct ctx *ctx, const struct generated_case *row)
{
    const char *text = generated_text(ctx, row, ".c");

    ck_assert_msg(strstr(text, "Winograd F("), "%s", text);
    return strstr(text, "pair_rows(") != NULL;
}

START_TEST(tiles_are_paired_where_it_pays)
{
    struct ctx *ctx = ctx_new("where");
    struct generated_case row = { .text = three_by_three(ctx, 64, 64), .machine = znver4(ctx) };

    ck_assert(tiles_are_paired(ctx, &row));
    row.winograd = WINOGRAD_F4;
    ck_assert(tiles_are_paired(ctx, &row));
    row.winograd = WINOGRAD_AUTO;
    row.machine = machine_find(ctx, "x86-64-v4");
    ck_assert(!tiles_are_paired(ctx, &row));
    row.machine = znver4(ctx);
    row.text = three_by_three(ctx, 32, 64); /* too few inputs */
    ck_assert(!tiles_are_paired(ctx, &row));
    row.text = three_by_three(ctx, 64, 16); /* too few outputs */
    ck_assert(!tiles_are_paired(ctx, &row));
    ctx_free(ctx);
}
END_TEST

/* Inputs of 2^-60 to 2^40: beyond what weights are scaled for they are multiplied with powers of
 * two. At the edges of what is taken as it is the errors are greatest. 0: one by one. And with one
 * sign, as behind a relu: then so have the products of pairs, whose sum is great. */
START_TEST(inputs_of_every_size)
{
    static const double most[] = { 0x1p-60, 1.0 / 4096, 1.0 / 64, 1.0 / 20, 0.1, 0.25,
                                   1,       4,          6.9,      13,       40,  0x1p40 };
    enum { N_SIZES = sizeof most / sizeof *most };
    struct generated_range ranges[2 * N_SIZES];
    struct ctx *ctx = ctx_new("sizes");
    const struct generated_case rows_of_pixels = {
        .text = "fn main(%x: (1,9,9,96) f32) -> (%y) {\n"
                "  const @w : (64,96,1,1) f32 = crc32:00000000\n"
                "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
                "(1,9,9,64) f32\n"
                "}\n",
        .tolerance = most_tolerance,
        .machine = znver4(ctx),
    };
    const struct generated_case winograd = { .text = three_by_three(ctx, 64, 64),
                                             .tolerance = tolerance_four,
                                             .machine = znver4(ctx) };

    /* Pixels 4096 bytes apart: all are copied, multiplied or not. */
    struct generated_case copied = rows_of_pixels;
    const struct generated_case *const cases[] = { &rows_of_pixels, &winograd, &copied };

    copied.text = "fn main(%x: (1,3,5,1024) f32) -> (%y) {\n"
                  "  const @w : (33,1024,1,1) f32 = crc32:00000000\n"
                  "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", "
                  "out_layout=\"NHWC\"} : (1,3,5,33) f32\n"
                  "}\n";
    for (int i = 0; i < N_SIZES; i++) {
        ranges[2 * i] = (struct generated_range){ -most[i], most[i] };
        ranges[2 * i + 1] = (struct generated_range){ 0, most[i] };
    }
    generated_check_ranges(cases[_i], 2 * N_SIZES, ranges);
    ctx_free(ctx);
}
END_TEST

/* What is no number, or infinite, is multiplied one by one with all that is in its tile: it does
 * not reach other pixels. A tile of zeros gives exact zeros. */
START_TEST(numbers_that_are_none)
{
    static const char text[] =
        "fn main(%x: (1,6,10,96) f32) -> (%y) {\n"
        "  const @w : (64,96,1,1) f32 = crc32:00000000\n"
        "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
        "(1,6,10,64) f32\n"
        "}\n";
    struct ctx *ctx = ctx_new("none");
    struct generated_case row = { .text = text, .tolerance = tolerance, .machine = znver4(ctx) };
    struct module *module = generated_module(ctx, &row);
    float *numbers = arena_array(&ctx->perm, float, 60 * 96);
    const struct tensor input = { module->main->params[0]->type, numbers };

    for (int i = 12 * 96; i < 60 * 96; i++) /* the first tile is of zeros */
        numbers[i] = (float)(i * 37 % 101) / 50 - 1;
    numbers[17 * 96 + 5] = INFINITY;
    numbers[18 * 96 + 40] = -INFINITY;
    numbers[30 * 96 + 95] = NAN;
    generated_check_module(module, &row, &input);
    numbers[45 * 96 + 7] = 3e38f; /* its square is too great */
    generated_check_module(module, &row, &input);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Relative to limits, not to the sums that they cut off. */
static const double limited_tolerance = 1e-5;

/* Nodes behind the products, of 25 pixels: tiles of 9, 9 and 7. `name` is a part of what the
 * tile is called that stores their results, NULL: sums go over an array. */
static const struct {
    int out_c;
    const char *nodes, *name;
} endings[] = {
    { 64, "%y = nn.relu(%c)", "_stores_relu" },
    { 64, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.relu(%d)", "_stores_bias_add_relu" },
    { 64, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = clip(%d) {a_min=-0.5, a_max=0.75}",
      "_stores_bias_add_within" },
    { 64, "%y = clip(%c) {a_min=-0.5, a_max=inf}", "_stores_at_least" },
    { 64, "%y = clip(%c) {a_min=-inf, a_max=0.25}", "_stores_at_most" },
    { 64, "%y = clip(%c) {a_min=2, a_max=0.25}", "_stores_within" },
    { 64, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %e = add(%d, %r) : T\n %y = nn.relu(%e)",
      "_stores_bias_add_add_results_relu" },
    { 64, "%d = subtract(%r, %c) : T\n %y = multiply(%d, @b)",
      "_stores_subtract_of_results_v_0_multiply" },
    { 64, "%d = subtract(@b, %c) : T\n %y = subtract(%d, @n)",
      "_stores_subtract_of_channels_v_0_subtract_number" },
    { 64, "%y = nn.leaky_relu(%c) {alpha=0.1, beta=0}", "_stores_leaky_relu" },
    { 64, "%y = nn.prelu(%c, @b)", "_stores_prelu" },
    { 64, "%y = nn.hard_sigmoid(%c) {alpha=0.2, beta=0.5}", "_stores_hard_sigmoid" },
    { 64, "%y = nn.hard_swish(%c)", "_stores_hard_swish" },
    { 64,
      "%d = nn.hard_sigmoid(%c) {alpha=0.2, beta=0.5} : T\n %e = multiply(%c, %d) : T\n %y = "
      "add(%r, %e)",
      "_stores_hard_sigmoid_multiply_v_0_v_1_add_of_results_v_2" },
    { 80, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = add(%d, %r)",
      "_half_pairs_stores_bias_add_add_results" },
    { 70, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = add(%d, %r)",
      "_stores_bias_add_add_results" },
    { 90, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = add(%d, %r)",
      "_stores_bias_add_add_results" },
    { 64, "%y = nn.silu(%c)", NULL },
    { 64, "%d = add(%c, @p) : T\n %y = nn.relu(%d)", NULL }, /* a number for each row of pixels */
};

/* The nodes, where T is the type of all of them. */
static const char *ending_text(struct ctx *ctx, int out_c, const char *nodes, int in_c, int groups)
{
    struct arena *arena = &ctx->perm;
    const char *type = arena_printf(arena, "(1,5,5,%d) f32", out_c);
    struct str text = { .arena = arena };

    str_printf(&text,
               "fn main(%%x: (1,5,5,%d) f32, %%r: %s) -> (%%y) {\n"
               "  const @w : (%d,%d,1,1) f32 = crc32:00000000\n"
               "  const @b : (%d) f32 = crc32:00000000\n"
               "  const @n : (1) f32 = crc32:00000000\n"
               "  const @p : (5,1,1) f32 = crc32:00000000\n"
               "  %%c = nn.conv2d(%%x, @w) {groups=%d, data_layout=\"NHWC\", "
               "out_layout=\"NHWC\"} : %s\n ",
               in_c, type, out_c, in_c / groups, out_c, groups, type);
    for (; *nodes; nodes++)
        if (*nodes == 'T')
            str_add(&text, type);
        else
            str_addn(&text, nodes, 1);
    str_printf(&text, " : %s\n}\n", type);
    return str_text(&text);
}

START_TEST(sums_go_from_registers_to_y)
{
    const char *name = endings[_i].name;
    struct ctx *ctx = ctx_new("endings");

    for (int groups = 1; groups <= 2; groups++) {
        struct generated_case row = { .tolerance = limited_tolerance, .machine = znver4(ctx) };
        const char *text;

        row.text =
            ending_text(ctx, groups * endings[_i].out_c, endings[_i].nodes, groups * 48, groups);
        text = generated_text(ctx, &row, ".c");
        ck_assert_msg(strstr(text, name ? name : "_pairs(tap"), "no %s", name ? name : "pairs");
        ck_assert(name || !strstr(text, "_stores"));
        if (is_turn_of(groups + _i))
            generated_check(&row);
    }
    ctx_free(ctx);
}
END_TEST

/* Few inputs, and weights that are fetched an NC block ahead: one pointer tells where all pixels are.
 */
START_TEST(pixels_a_step_apart)
{
    static const struct {
        int in_c, out_c;
        const char *name;
    } cases[] = { { 24, 64, "_pairs_stores_relu_by_24(nearest" },
                  { 700, 512, "_pairs_ahead_stores_relu_by_700(nearest" },
                  { 48, 64, "_pairs_stores_relu(tap," } };
    struct ctx *ctx = ctx_new("steps");
    struct generated_case row = { .tolerance = tolerance, .machine = znver4(ctx) };

    row.text = ending_text(ctx, cases[_i].out_c, "%y = nn.relu(%c)", cases[_i].in_c, 1);
    ck_assert_msg(strstr(generated_text(ctx, &row, ".c"), cases[_i].name), "no %s", cases[_i].name);
    generated_check(&row);
    row.low = -0x1p-40; /* they are copied */
    row.high = 0x1p-40;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pairs");
    TCase *tests = tcase_create("all"), *ends = tcase_create("ends");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rows_agree_with_the_reference, 0, 2);
    tcase_add_test(tests, winograd_off_and_other_machines_go_without);
    tcase_add_loop_test(tests, tiles_agree_with_the_reference, 0, 3);
    tcase_add_test(tests, tiles_are_paired_where_it_pays);
    tcase_add_loop_test(tests, inputs_of_every_size, 0, 3);
    tcase_add_test(tests, numbers_that_are_none);
    suite_add_tcase(suite, ends);
    tcase_set_timeout(ends, 0);
    tcase_add_loop_test(ends, sums_go_from_registers_to_y, 0,
                        (int)(sizeof endings / sizeof *endings));
    tcase_add_loop_test(ends, pixels_a_step_apart, 0, 3);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
