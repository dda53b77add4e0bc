/* Depthwise convolutions by Winograd's F(2, 3) (codegen_c/kernels/conv/depthwise_winograd.c), as
 * generated C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* Errors relative to the largest output. */
static const double tolerance = 1e-6;

#define RELU "nn.relu(%s)"
#define SILU "nn.silu(%s)" /* sums wait in y for it */
#define SIX "clip(%s) {a_min=0, a_max=1.5}"

struct layer {
    int batch, h, w, channels;
    int pad[4]; /* top, left, bottom, right */
    bool bias;
    const char *last; /* NULL = nothing */
};

/* Heights that are even and odd, all remainders of widths by the three columns that are at hand,
 * paddings on either side or not, vectors of 16 and of 8 lanes, and of two pixels, images. */
static const struct layer taken[] = {
    { 1, 25, 5, 64, { 1, 1, 1, 1 }, true, RELU },
    { 1, 3, 3, 16, { 1, 1, 1, 1 }, false, NULL },
    { 1, 4, 1, 8, { 1, 1, 1, 1 }, true, NULL },
    { 1, 5, 2, 24, { 1, 1, 1, 1 }, true, SIX },
    { 1, 6, 6, 32, { 1, 1, 1, 1 }, false, RELU },
    { 1, 7, 7, 48, { 0, 0, 0, 0 }, true, "clip(%s) {a_min=-0.5, a_max=inf}" },
    { 2, 5, 8, 16, { 1, 0, 0, 1 }, false, "clip(%s) {a_min=-inf, a_max=0.25}" },
    { 3, 4, 4, 40, { 0, 1, 1, 0 }, true, SIX },
    { 1, 6, 3, 8, { 0, 0, 0, 0 }, false, "clip(%s) {a_min=2, a_max=1.5}" },
    { 1, 9, 10, 16, { 1, 1, 0, 0 }, true, RELU },
    { 1, 5, 11, 8, { 0, 0, 1, 1 }, false, NULL },
    { 2, 7, 12, 80, { 1, 1, 1, 1 }, true, RELU },
    { 1, 3, 4, 16, { 1, 0, 1, 0 }, true, NULL },
    { 1, 12, 9, 8, { 1, 1, 1, 1 }, true, SIX },
    { 1, 5, 4, 8, { 1, 1, 1, 1 }, true, SIX },
    { 3, 6, 10, 8, { 0, 1, 0, 1 }, false, RELU },
    { 1, 7, 2, 8, { 1, 1, 1, 1 }, true, RELU },
    { 1, 5, 7, 32, { 1, 1, 1, 1 }, true, SILU },
    { 2, 6, 5, 24, { 0, 1, 1, 0 }, false, SILU },
    { 3, 7, 4, 8, { 1, 1, 1, 1 }, true, SILU },
};

/* How many of these have two pixels in a vector. */
#define N_ABREAST 3

#define N_TAKEN ((int)(sizeof taken / sizeof *taken))

/* All layers as one network, each with its input and its result. */
static const char *network(struct ctx *ctx, const struct layer *layers, int n)
{
    struct arena *arena = &ctx->perm;
    struct str params = { .arena = arena }, results = params, text = params;

    for (int i = 0; i < n; i++) {
        const struct layer *l = &layers[i];
        const char *y = arena_printf(arena, "%%s%d", i);
        const char *type =
            arena_printf(arena, "(%d,%d,%d,%d) f32", l->batch, l->h + l->pad[0] + l->pad[2] - 2,
                         l->w + l->pad[1] + l->pad[3] - 2, l->channels);

        str_printf(&params, "%s%%x%d: (%d,%d,%d,%d) f32", i ? ", " : "", i, l->batch, l->h, l->w,
                   l->channels);
        str_printf(&text, "  const @w%d : (%d,1,3,3) f32 = crc32:0000%04x\n", i, l->channels, i);
        str_printf(&text,
                   "  %s = nn.conv2d(%%x%d, @w%d) {padding=[%d,%d,%d,%d], groups=%d, "
                   "data_layout=\"NHWC\", out_layout=\"NHWC\"} : %s\n",
                   y, i, i, l->pad[0], l->pad[1], l->pad[2], l->pad[3], l->channels, type);
        if (l->bias) {
            str_printf(&text, "  const @b%d : (%d) f32 = crc32:0001%04x\n", i, l->channels, i);
            str_printf(&text, "  %%t%d = nn.bias_add(%s, @b%d) {axis=3} : %s\n", i, y, i, type);
            y = arena_printf(arena, "%%t%d", i);
        }
        if (l->last) {
            str_printf(&text, "  %%y%d = ", i);
            str_printf(&text, l->last, y);
            str_printf(&text, " : %s\n", type);
            y = arena_printf(arena, "%%y%d", i);
        }
        str_printf(&results, "%s%s", i ? ", " : "", y);
    }
    return arena_printf(arena, "fn main(%s) -> (%s) {\n%s}\n", str_text(&params),
                        str_text(&results), str_text(&text));
}

static int n_taken(struct ctx *ctx, const struct generated_case *row)
{
    return generated_count(ctx, row, "1-D Winograd F(2, 3)");
}

START_TEST(layers_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("layers");
    struct generated_case row = { .text = network(ctx, taken, N_TAKEN),
                                  .tolerance = tolerance,
                                  .machine = machine_find(ctx, "znver4") };

    ck_assert_int_eq(n_taken(ctx, &row), N_TAKEN);
    ck_assert_int_eq(generated_count(ctx, &row, "of two neighbouring pixels"), N_ABREAST);
    generated_check(&row);
    row.parts = 3;
    row.one_build = true;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

START_TEST(winograd_off_and_other_machines_go_without)
{
    struct ctx *ctx = ctx_new("plain");
    struct generated_case row = { .text = network(ctx, taken, N_TAKEN),
                                  .winograd = WINOGRAD_OFF,
                                  .machine = machine_find(ctx, "znver4") };

    ck_assert_int_eq(n_taken(ctx, &row), 0);
    row.winograd = WINOGRAD_AUTO;
    row.machine = machine_find(ctx, "x86-64-v4");
    ck_assert_int_eq(n_taken(ctx, &row), 0);
    row.machine = machine_find(ctx, "x86-64-v3");
    ck_assert_int_eq(n_taken(ctx, &row), 0);
    ctx_free(ctx);
}
END_TEST

/* Every fourth row of kernel cases has nothing behind it; a residual and a change of type refuse
 * two of the others, a bias along another dim does not. */
static const struct kernel_case others[] = {
#define CASE(kernel, attrs, inputs)                                                                \
    {                                                                                              \
        kernel, "nn.conv2d", attrs ", data_layout=\"NHWC\"", inputs                                \
    }
#define USUAL(kernel)                                                                              \
    CASE(kernel, "groups=16, padding=[1,1,1,1]", "f32[1,4,5,16]; const f32[16,1,3,3]")
#define FOLLOWED USUAL("depthwise_winograd"), USUAL("depthwise"), USUAL("depthwise")
#define OTHER(kernel, attrs, inputs) FOLLOWED, CASE(kernel, attrs, inputs)
    FOLLOWED,
    { "depthwise_winograd", "nn.conv2d", "groups=16, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f32[1,4,5,16]; const f32[16,1,3,3]" },
    OTHER("depthwise", "groups=16, padding=[1,1,1,1], strides=[2,2]",
          "f32[1,9,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[1,1,1,1], strides=[1,2]",
          "f32[1,9,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[2,2,2,2], dilation=[2,2]",
          "f32[1,9,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[2,1,1,1]", "f32[1,9,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[1,1,1,2]", "f32[1,9,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[2,2,2,2]", "f32[1,9,9,16]; const f32[16,1,5,5]"),
    OTHER("depthwise", "groups=16, padding=[1,1,1,1]", "f32[1,9,9,16]; const f32[32,1,3,3]"),
    OTHER("depthwise", "groups=12, padding=[1,1,1,1]", "f32[1,9,9,12]; const f32[12,1,3,3]"),
    OTHER("depthwise", "groups=16, padding=[1,1,1,1]", "f32[1,2,9,16]; const f32[16,1,3,3]"),
    OTHER("depthwise", "groups=8, padding=[1,1,1,1]",
          "f32[1,5,5,8]; const f32[8,1,3,3] 1 2 inf 3 5"),
};

START_TEST(others_stay_direct)
{
    struct ctx *ctx = ctx_new("others");

    kernel_cases_check_as(others, (int)(sizeof others / sizeof *others), 1e-5, WINOGRAD_AUTO,
                          machine_find(ctx, "znver4"));
    ctx_free(ctx);
}
END_TEST

/* Two halves of one value, which a third convolution reads one of. */
START_TEST(pixels_that_are_parts_of_others)
{
    struct ctx *ctx = ctx_new("parts");
    struct generated_case row = {
#define CONV(y, x, w)                                                                              \
    "  " y " = nn.conv2d(" x ", " w ") {padding=[1,1,1,1], groups=16, data_layout=\"NHWC\", "      \
    "out_layout=\"NHWC\"} : (1,6,7,16) f32\n"
        .text = "fn main(%x: (1,6,7,16) f32) -> (%y, %z) {\n"
                "  const @v : (16,1,3,3) f32 = crc32:00000001\n"
                "  const @w : (16,1,3,3) f32 = crc32:00000002\n" CONV("%a", "%x",
                                                                      "@v") CONV("%b", "%x", "@w")
                    CONV("%z", "%b", "@v") "  %y = concatenate(%a, %b) {axis=3} : (1,6,7,32) f32\n"
                                           "}\n",
        .tolerance = tolerance,
        .machine = machine_find(ctx, "znver4")
    };

    ck_assert_int_eq(n_taken(ctx, &row), 3);
    ck_assert_int_gt(generated_count(ctx, &row, "OUT_PIXEL_STRIDE = 32"), 0);
    ck_assert_int_gt(generated_count(ctx, &row, "IN_PIXEL_STRIDE = 32"), 0);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Relative to the largest output, sizes do not matter; what is subtracted again has one sign. */
START_TEST(inputs_of_every_size)
{
    static const double sizes[] = { 0x1p-60, 1e-3, 1, 300, 0x1p60 };
    struct ctx *ctx = ctx_new("sizes");
    struct generated_case row = { .text = network(ctx, &taken[1], 1),
                                  .tolerance = tolerance,
                                  .low = -sizes[_i],
                                  .high = sizes[_i],
                                  .machine = machine_find(ctx, "znver4") };

    generated_check(&row);
    row.low = 0;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* NaN stays within the windows that it is in, and relu keeps it. */
START_TEST(not_a_number_stays_where_it_is)
{
    static const struct layer layers[] = { { 1, 8, 9, 16, { 1, 1, 1, 1 }, true, RELU },
                                           { 1, 8, 18, 8, { 1, 1, 1, 1 }, true, RELU } };
    struct ctx *ctx = ctx_new("nan");
    struct generated_case row = { .text = network(ctx, &layers[_i], 1),
                                  .tolerance = tolerance,
                                  .machine = machine_find(ctx, "znver4") };
    struct module *module = generated_module(ctx, &row);
    float *numbers = arena_array(&ctx->perm, float, 8 * 9 * 16);
    const struct tensor input = { module->main->params[0]->type, numbers };

    for (int i = 0; i < 8 * 9 * 16; i++)
        numbers[i] = (float)(i * 37 % 101) / 50 - 1;
    numbers[(2 * 9 + 4) * 16 + 3] = NAN;
    numbers[(5 * 9 + 0) * 16 + 15] = NAN;
    generated_check_module(module, &row, &input);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_depthwise_winograd");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, layers_agree_with_the_reference);
    tcase_add_test(tests, winograd_off_and_other_machines_go_without);
    tcase_add_test(tests, others_stay_direct);
    tcase_add_test(tests, pixels_that_are_parts_of_others);
    tcase_add_loop_test(tests, inputs_of_every_size, 0, 5);
    tcase_add_loop_test(tests, not_a_number_stays_where_it_is, 0, 2);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
