/* First layers of few output channels, whose vectors lie across these
 * (codegen_c/kernels/conv/conv_columns.c), as generated C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/knob.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

/* With vectors of 4, 8 and 16 lanes. */
static const char *const machines_with_vectors[] = { "x86-64", "x86-64-v3", "x86-64-v4" };

#define ROW(attrs, inputs)                                                                         \
    {                                                                                              \
        "conv_columns", "nn.conv2d", "groups=1, " attrs, inputs                                    \
    }
#define LAST ", data_layout=\"NCHW\", out_layout=\"NHWC\""

/* Channels last: whole vectors in a row, rows whose last vector overlaps, one vector; all numbers
 * of channels; each stride, padding and dilation in either direction; several bands; images. */
static const struct kernel_case channels_last[] = {
    ROW("strides=[2,2], padding=[0,0,1,1]" LAST, "f32[1,3,64,64]; const f32[8,3,3,3]"),
    ROW("padding=[1,1,1,1]" LAST, "f32[1,3,5,45]; const f32[8,3,3,3]"),
    ROW("strides=[2,2], padding=[1,1,1,1]" LAST, "f32[2,3,11,61]; const f32[8,3,3,3]"),
    ROW("strides=[1,2], padding=[0,2,0,1]" LAST, "f32[1,2,6,94]; const f32[4,2,2,4]"),
    ROW("strides=[2,1], padding=[3,3,3,3]" LAST, "f32[1,4,9,16]; const f32[6,4,7,7]"),
    ROW("strides=[3,2], padding=[1,2,2,1]" LAST, "f32[1,3,19,97]; const f32[3,3,5,5]"),
    ROW("strides=[4,2], dilation=[2,3], padding=[2,3,2,3]" LAST,
        "f32[1,2,12,126]; const f32[5,2,3,3]"),
    ROW("strides=[2,2], dilation=[1,2]" LAST, "f32[2,3,7,67]; const f32[7,3,2,3]"),
    ROW("padding=[1,1,1,1]" LAST, "f32[1,1,4,28]; const f32[8,1,3,3]"),
    ROW("strides=[2,2], padding=[9,9,9,9]" LAST, "f32[1,1,1,16]; const f32[4,1,3,3]"),
    ROW("padding=[2,2,2,2]" LAST, "f32[3,1,3,31]; const f32[1,1,5,5]"),
    ROW("padding=[1,1,1,1], data_layout=\"NHWC\"", "f32[1,9,31,1]; const f32[8,1,5,4]"),
    ROW("" LAST, "f32[1,4,3,17]; const f32[2,4,1,2]"),
};

static const struct kernel_case planar[] = {
    ROW("strides=[2,2], padding=[0,0,1,1]", "f32[1,3,64,64]; const f32[8,3,3,3]"),
    ROW("padding=[1,1,1,1]", "f32[2,3,5,45]; const f32[3,3,3,3]"),
    ROW("padding=[2,2,2,2]", "f32[1,2,8,61]; const f32[1,2,5,5]"),
    ROW("padding=[2,2,2,2]", "f32[1,1,8,61]; const f32[1,1,5,5]"),
    ROW("strides=[2,2], padding=[1,1,1,1]", "f32[2,4,9,93]; const f32[5,4,3,3]"),
    ROW("strides=[1,2], padding=[0,1,1,0]", "f32[1,2,4,95]; const f32[7,2,3,2]"),
    ROW("", "f32[1,3,4,29]; const f32[2,3,1,1]"),
    ROW("padding=[1,1,1,1]", "f32[1,2,3,16]; const f32[6,2,3,3]"),
    ROW("padding=[4,4,4,4]", "f32[1,3,20,32]; const f32[4,3,9,9]"),
    { "conv_columns", "nn.conv1d", "groups=1, strides=[2], padding=[1,2], dilation=[2]",
      "f32[1,3,94]; const f32[5,3,4]" },
    { "conv_columns", "nn.conv1d", "groups=1", "f32[2,2,33]; const f32[8,2,3]" },
};

/* x channels last, whose rows are transposed: results of either layout; padding on one side, both
 * and none; several bands, whose rows at the top and at the bottom are padding; dilation, strides
 * of rows; channels that are no multiple of what is transposed at a time; images. */
#define BOTH ", data_layout=\"NHWC\""
#define MAKES_PLANES ", data_layout=\"NHWC\", out_layout=\"NCHW\""
static const struct kernel_case transposed[] = {
    ROW("padding=[1,1,1,1]" MAKES_PLANES, "f32[1,40,32,32]; const f32[3,32,3,3]"),
    ROW("padding=[4,4,4,4]" BOTH, "f32[1,20,45,16]; const f32[3,16,9,9]"),
    ROW("" BOTH, "f32[1,7,66,5]; const f32[4,5,3,3]"),
    ROW("padding=[2,1,0,3]" BOTH, "f32[2,9,31,3]; const f32[1,3,2,4]"),
    ROW("padding=[2,0,2,4], dilation=[2,2], strides=[2,1]" MAKES_PLANES,
        "f32[2,11,32,7]; const f32[2,7,3,3]"),
    ROW("padding=[9,2,9,2]" BOTH, "f32[1,1,16,2]; const f32[3,2,3,5]"),
    { "conv_columns", "nn.conv1d", "groups=1, padding=[3,3], data_layout=\"NWC\"",
      "f32[1,64,24]; const f32[1,24,7]" },
};

#define CHECK(rows)                                                                                \
    kernel_cases_check_as(rows, (int)(sizeof(rows) / sizeof *(rows)), 1e-5, WINOGRAD_AUTO,         \
                          machine_find(ctx, machines_with_vectors[_i]))

START_TEST(pixels_become_channels)
{
    struct ctx *ctx = ctx_new("last");

    CHECK(channels_last);
    ctx_free(ctx);
}
END_TEST

START_TEST(planes_become_planes)
{
    struct ctx *ctx = ctx_new("planar");

    CHECK(planar);
    ctx_free(ctx);
}
END_TEST

START_TEST(channels_are_transposed)
{
    struct ctx *ctx = ctx_new("transposed");

    CHECK(transposed);
    ctx_free(ctx);
}
END_TEST

/* What follows; T is the type. */
static const struct {
    int out_c;
    const char *nodes;
} endings[] = {
    { 8, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = clip(%d) {a_min=0, a_max=1.5}" },
    { 4, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.relu(%d)" },
    { 1, "%y = nn.leaky_relu(%c) {alpha=0.1, beta=0}" },
    { 8, "%d = subtract(@b, %c) : T\n %y = nn.prelu(%d, @b)" },
    { 4, "%y = nn.hard_swish(%c)" },
    /* over an array */
    { 8, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.silu(%d)" },
    { 4, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %e = add(%d, %r) : T\n %y = nn.relu(%e)" },
    { 3, "%d = nn.bias_add(%c, @b) {axis=3} : T\n %y = nn.relu(%d)" },
};

enum { N_ENDINGS = sizeof endings / sizeof *endings };

/* All of them behind the same x; a `%` or `@` name of row i ends with i. Rows of y are of 45
 * pixels.
 */
static const char *endings_text(struct ctx *ctx, int images)
{
    struct arena *arena = &ctx->perm;
    struct str params = { .arena = arena }, constants = { .arena = arena },
               nodes = { .arena = arena }, results = { .arena = arena };

    for (int i = 0; i < N_ENDINGS; i++) {
        const int out_c = endings[i].out_c;
        const char *type = arena_printf(arena, "(%d,10,45,%d) f32", images, out_c);

        str_printf(&params, ", %%r%d: %s", i, type);
        str_printf(&results, "%s%%y%d", i ? ", " : "", i);
        str_printf(&constants,
                   "  const @w%d : (%d,3,3,3) f32 = crc32:0000000%d\n"
                   "  const @b%d : (%d) f32 = crc32:0000001%d\n",
                   i, out_c, i, i, out_c, i);
        str_printf(&nodes,
                   "  %%c%d = nn.conv2d(%%x, @w%d) {strides=[2,2], padding=[1,1,1,1], groups=1, "
                   "data_layout=\"NCHW\", out_layout=\"NHWC\"} : %s\n ",
                   i, i, type);
        graph_add_numbered(&nodes, endings[i].nodes, type, i);
        str_printf(&nodes, " : %s\n", type);
    }
    return arena_printf(arena, "fn main(%%x: (%d,3,19,90) f32%s) -> (%s) {\n%s%s}\n", images,
                        str_text(&params), str_text(&results), str_text(&constants),
                        str_text(&nodes));
}

static const char layers[] = "Pixel vectors: a vector is LANES neighbouring pixels";

START_TEST(sums_are_finished_before_they_are_stored)
{
    static const char *const names[] = { "_stores_bias_add_within(", "_stores_bias_add_relu(",
                                         "_stores_leaky_relu(",
                                         "_stores_subtract_of_channels_v_0_prelu(",
                                         "_stores_hard_swish(" };
    struct ctx *ctx = ctx_new("endings");
    struct generated_case row = { .tolerance = 1e-5,
                                  .machine = machine_find(ctx, machines_with_vectors[_i]) };

    row.text = endings_text(ctx, 1);
    ck_assert_int_eq(generated_count(ctx, &row, layers), N_ENDINGS);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(generated_count(ctx, &row, names[i]) > 0, "no %s", names[i]);
    ck_assert_int_eq(generated_count(ctx, &row, "_stores_bias_add_silu"), 0);
    generated_check(&row);
    row.text = endings_text(ctx, 2);
    row.parts = 3;
    row.one_build = true;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* NaN stays NaN behind limits; -0 and what is equal to a limit stay, too. */
START_TEST(numbers_that_are_none_stay_so)
{
    struct ctx *ctx = ctx_new("none");
    struct generated_case row = { .text = endings_text(ctx, 1),
                                  .tolerance = 1e-5,
                                  .machine = machine_find(ctx, machines_with_vectors[_i]) };
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
        numbers[n - 1] = -0.0f;
    }
    generated_check_module(module, &row, inputs);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Two that become one value: their pixels are parts of greater ones. */
START_TEST(pixels_that_are_parts_of_others)
{
    struct ctx *ctx = ctx_new("parts");
    struct generated_case row = {
#define PART(y, w, channels)                                                                       \
    "  " y " = nn.conv2d(%x, " w ") {padding=[1,1,1,1], groups=1, data_layout=\"NCHW\", "          \
    "out_layout=\"NHWC\"} : (2,6,31," channels ") f32\n"
        .text =
            "fn main(%x: (2,3,6,31) f32) -> (%y) {\n"
            "  const @u : (1,3,3,3) f32 = crc32:00000000\n"
            "  const @v : (4,3,3,3) f32 = crc32:00000001\n"
            "  const @w : (8,3,3,3) f32 = crc32:00000002\n" PART("%a", "@u", "1") PART("%b", "@v",
                                                                                       "4")
                PART("%c", "@w", "8") "  %y = concatenate(%a, %b, %c) {axis=3} : (2,6,31,13) f32\n"
                                      "}\n",
        .tolerance = 1e-5,
        .machine = machine_find(ctx, machines_with_vectors[_i])
    };

    ck_assert_int_eq(generated_count(ctx, &row, layers), 3);
    ck_assert_int_gt(generated_count(ctx, &row, "OUT_PIXEL_STRIDE = 13"), 0);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* What is read, b, is a part of y. */
START_TEST(parts_of_pixels_are_transposed)
{
    struct ctx *ctx = ctx_new("read");
    struct generated_case row = {
        .text = "fn main(%x: (1,3,6,32) f32) -> (%y, %c) {\n"
                "  const @v : (4,3,3,3) f32 = crc32:00000001\n"
                "  const @w : (2,4,3,3) f32 = crc32:00000002\n"
                "  %a = transpose(%x) {axes=[0,2,3,1]} : (1,6,32,3) f32\n"
                "  %b = nn.conv2d(%x, @v) {padding=[1,1,1,1], groups=1, data_layout=\"NCHW\", "
                "out_layout=\"NHWC\"} : (1,6,32,4) f32\n"
                "  %y = concatenate(%a, %b) {axis=3} : (1,6,32,7) f32\n"
                "  %c = nn.conv2d(%b, @w) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "
                "out_layout=\"NHWC\"} : (1,6,32,2) f32\n"
                "}\n",
        .tolerance = 1e-5,
        .machine = machine_find(ctx, machines_with_vectors[_i])
    };

    ck_assert_int_eq(generated_count(ctx, &row, layers), 2);
    ck_assert_int_gt(generated_count(ctx, &row, "IN_PIXEL_STRIDE = 7"), 0);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Rows that are shorter than a vector or leave too much of one over, groups, more channels, x with
 * the channels last and strides, or to more channels than is worth it, machines that the C compiler
 * knows alone or that were not measured. */
START_TEST(others_have_tiles_of_channels)
{
    static const struct {
        const char *machine;
        struct kernel_case row;
    } others[] = {
#define OTHER(machine, kernel, attrs, inputs)                                                      \
    {                                                                                              \
        machine,                                                                                   \
        {                                                                                          \
            kernel, "nn.conv2d", attrs ", padding=[1,1,1,1]", inputs                               \
        }                                                                                          \
    }
        OTHER("x86-64-v4", "conv_band", "groups=1", "f32[1,3,4,15]; const f32[8,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1", "f32[1,3,4,19]; const f32[8,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1", "f32[1,3,4,32]; const f32[9,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=3", "f32[1,6,4,32]; const f32[6,2,3,3]"),
        OTHER("x86-64-v4", "conv", "groups=1, strides=[1,2], data_layout=\"NHWC\"",
              "f32[1,4,64,3]; const f32[3,3,3,3]"),
        OTHER("x86-64-v3", "conv", "groups=1, data_layout=\"NHWC\"",
              "f32[1,4,32,6]; const f32[8,6,5,5]"),
        OTHER("generic", "conv_band", "groups=1", "f32[1,3,4,32]; const f32[8,3,3,3]"),
        OTHER("aarch64", "conv_band", "groups=1", "f32[1,3,4,32]; const f32[8,3,3,3]"),
    };
    struct ctx *ctx = ctx_new("others");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        kernel_cases_check_as(&others[i].row, 1, 1e-5, WINOGRAD_OFF,
                              machine_find(ctx, others[i].machine));
    ctx_free(ctx);
}
END_TEST

/* What is not chosen as usual, but can be (KNOB_KERNEL). */
START_TEST(what_was_not_faster_may_be_chosen)
{
    static const char *const names[] = { "x86-64", "x86-64-v4", "aarch64", "wasm32" };
    struct ctx *ctx = ctx_new("chosen");
    struct choice choice = { .value = { [KNOB_KERNEL] = "conv_columns" } };
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct output_set set = { .ctx = ctx };
    struct temp_dir dir = temp_dir_new();
    struct generated_case row = {
#define CONV(y, w, attrs, type)                                                                    \
    "  " y " = nn.conv2d(%x, " w ") {" attrs ", groups=1, data_layout=\"NCHW\", "                  \
    "out_layout=\"NHWC\"} : " type " f32\n"
        .text = "fn main(%x: (1,3,9,62) f32) -> (%a, %b, %c, %d) {\n"
                "  const @u : (4,3,3,3) f32 = crc32:00000000\n"
                "  const @v : (5,3,1,1) f32 = crc32:00000001\n"
                "  const @w : (8,3,3,3) f32 = crc32:00000002\n" CONV(
                    "%a", "@u", "strides=[2,3], padding=[1,1,1,1]",
                    "(1,5,21,4)") CONV("%b", "@v", "strides=[1,1]", "(1,9,62,5)")
                    CONV("%c", "@w", "strides=[1,3], padding=[0,5,0,6]", "(1,7,24,8)")
                        CONV("%d", "@w", "strides=[2,2], padding=[1,1,1,1]", "(1,5,31,8)") "}\n",
        .tolerance = 1e-5,
        .machine = machine_find(ctx, names[_i]),
        .one_build = true,
        .choices = &choices
    };
    const struct codegen_options options = { .name = "net",
                                             .dir = dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = row.machine };
    struct module *module = generated_module(ctx, &row);
    struct codegen_result result;

    ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(ctx));
    output_abort(&set);
    for (int i = 0; i < result.n_regions; i++)
        map_set(&choices.by_signature, result.regions[i].signature, &choice);
    ck_assert_int_eq(generated_count(ctx, &row, layers), 4);
    generated_check_module(module, &row, NULL);
    ck_assert_msg(ctx->diags.n_warnings == 0, "%s", expect_text(ctx));
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_columns");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, pixels_become_channels, 0, 3);
    tcase_add_loop_test(tests, planes_become_planes, 0, 3);
    tcase_add_loop_test(tests, channels_are_transposed, 0, 3);
    tcase_add_loop_test(tests, parts_of_pixels_are_transposed, 0, 3);
    tcase_add_loop_test(tests, sums_are_finished_before_they_are_stored, 0, 3);
    tcase_add_loop_test(tests, numbers_that_are_none_stay_so, 0, 3);
    tcase_add_loop_test(tests, pixels_that_are_parts_of_others, 0, 3);
    tcase_add_test(tests, others_have_tiles_of_channels);
    tcase_add_loop_test(tests, what_was_not_faster_may_be_chosen, 0, 4);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
