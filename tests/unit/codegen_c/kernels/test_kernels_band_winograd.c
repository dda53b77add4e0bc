/* Convolutions of few planes by Winograd's F(m, r) from top to bottom
 * (codegen_c/kernels/conv/band_winograd.c), as generated C. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/core/knob.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"

/* Relative to the largest output: sums of up to two hundred products. */
static const double tolerance = 1e-5;

static const char *const targets[] = { "x86-64", "x86-64-v3", "x86-64-v4", "znver5", "aarch64" };

enum { N_MACHINES = sizeof targets / sizeof *targets };

#define CONV(attrs, inputs)                                                                        \
    {                                                                                              \
        "band_winograd", "nn.conv2d", "groups=1, " attrs, inputs                                   \
    }
#define WAYS "out_layout=\"NHWC\", data_layout=\"NCHW\""

/* Kernels of 3 to 7 rows, with strides and without; all rows of a group, and fewer; channels of
 * every remainder by 4, 8 and 16, halves of a tile, and those that need two lengths of vectors;
 * paddings that are missing, uneven, or more than the kernel; images; dilated columns; one channel,
 * which is also the last; y in planes and pixel by pixel. */
static const struct kernel_case convolutions[] = {
    CONV("padding=[1,1,1,1], " WAYS, "f32[1,3,12,32]; const f32[16,3,3,3]"),
    CONV("padding=[1,1,1,1]", "f32[2,3,12,32]; const f32[32,3,3,3]"),
    CONV("padding=[1,1,1,1], " WAYS, "f32[1,4,14,28]; const f32[20,4,3,3]"),
    CONV("padding=[1,0,1,1], " WAYS, "f32[1,2,27,31]; const f32[40,2,3,5]"),
    CONV("padding=[2,2,2,2], strides=[2,2], " WAYS, "f32[1,3,29,56]; const f32[32,3,5,5]"),
    CONV("padding=[2,2,2,2], strides=[2,2]", "f32[1,3,32,56]; const f32[64,3,6,6]"),
    CONV("padding=[3,3,3,3], strides=[2,2], " WAYS, "f32[1,3,33,60]; const f32[64,3,7,7]"),
    CONV("padding=[3,3,3,3], strides=[2,2], " WAYS, "f32[2,3,30,64]; const f32[12,3,7,7]"),
    CONV("padding=[1,1,2,1], dilation=[1,2], " WAYS, "f32[1,3,16,33]; const f32[17,3,4,4]"),
    CONV("padding=[12,9,9,12], " WAYS, "f32[1,2,9,12]; const f32[48,2,5,5]"),
    CONV("padding=[4,4,4,4], strides=[4,4], " WAYS, "f32[1,2,47,112]; const f32[64,2,11,11]"),
    CONV("padding=[0,0,0,0], strides=[3,2], " WAYS, "f32[1,1,40,63]; const f32[24,1,9,7]"),
    CONV("padding=[3,3,3,3], " WAYS, "f32[1,2,24,32]; const f32[32,2,7,7]"),
    CONV("padding=[2,2,3,3], " WAYS, "f32[3,2,21,30]; const f32[16,2,6,7]"),
    CONV("padding=[2,2,2,2], strides=[1,2], " WAYS, "f32[2,1,17,63]; const f32[64,1,5,5]"),
};

/* Worth it with vectors of 16 numbers only. */
static const struct kernel_case short_rows[] = {
    CONV("padding=[3,2,0,1], strides=[2,1], " WAYS, "f32[1,1,31,30]; const f32[33,1,8,4]"),
    CONV("padding=[4,1,5,1], strides=[2,2], data_layout=\"NHWC\"",
         "f32[1,49,10,1]; const f32[64,1,10,4]"),
};

/* Several bands, and rows that they leave over. */
static const struct kernel_case bands[] = {
    CONV("padding=[3,3,3,3], strides=[2,2], " WAYS, "f32[1,3,150,224]; const f32[16,3,7,7]"),
    CONV("padding=[1,1,1,1], " WAYS, "f32[1,3,83,224]; const f32[24,3,3,3]"),
};

#define CHECK(rows, winograd, machine)                                                             \
    kernel_cases_check_as(rows, (int)(sizeof(rows) / sizeof *(rows)), tolerance, winograd, machine)

/* Each of them goes this way where it is asked for by name. */
START_TEST(results_are_those_of_the_reference)
{
    struct ctx *ctx = ctx_new("band_winograd");

    CHECK(convolutions, WINOGRAD_AUTO, machine_find(ctx, targets[_i]));
    CHECK(bands, WINOGRAD_AUTO, machine_find(ctx, targets[_i]));
    if (machine_find(ctx, targets[_i])->lanes == 16)
        CHECK(short_rows, WINOGRAD_AUTO, machine_find(ctx, targets[_i]));
    ctx_free(ctx);
}
END_TEST

/* What has rows of other numbers, groups or dilated rows; where products are few, or tiles leave
 * much of a row over; and what the C compiler or nobody knows the machine of. */
START_TEST(others_are_direct)
{
    static const struct {
        const char *machine;
        struct kernel_case row;
    } others[] = {
#define OTHER(machine, kernel, attrs, inputs)                                                      \
    {                                                                                              \
        machine,                                                                                   \
        {                                                                                          \
            kernel, "nn.conv2d", attrs ", " WAYS, inputs                                           \
        }                                                                                          \
    }
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[1,1,1,1], strides=[2,2]",
              "f32[1,3,32,32]; const f32[32,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[3,3,3,3]",
              "f32[1,3,32,32]; const f32[32,3,8,8]"),
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[2,1,2,1], dilation=[2,1]",
              "f32[1,3,32,32]; const f32[32,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=2, padding=[1,1,1,1]",
              "f32[1,6,32,32]; const f32[64,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[0,1,0,1]",
              "f32[1,3,3,32]; const f32[32,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[1,1,1,1]",
              "f32[1,3,32,3]; const f32[16,3,3,3]"),
        OTHER("x86-64-v4", "conv_band", "groups=1, padding=[1,1,1,1]",
              "f32[1,1,32,32]; const f32[64,1,3,3]"),
        OTHER("generic", "conv_band", "groups=1, padding=[1,1,1,1]",
              "f32[1,3,32,32]; const f32[32,3,3,3]"),
        OTHER("cortex-m4", "conv_band", "groups=1, padding=[1,1,1,1]",
              "f32[1,3,32,32]; const f32[32,3,3,3]"),
    };
    struct ctx *ctx = ctx_new("others");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        kernel_cases_check_as(&others[i].row, 1, tolerance, WINOGRAD_AUTO,
                              machine_find(ctx, others[i].machine));
    ctx_free(ctx);
}
END_TEST

/* Those of 6 and of 8 points, of regions for which both are there; and where the direct products
 * are usual. */
START_TEST(all_numbers_of_points_compute_the_same)
{
    enum { N_LAYERS = 4, N_POINTS = 2 };
    static const char *const fns[] = { "_of_8_rows", "_of_6_rows" };
    struct ctx *ctx = ctx_new("points");
    struct choice choice[N_LAYERS] = { 0 };
    struct choices choices = { .by_signature = { .arena = &ctx->perm } };
    struct output_set set = { .ctx = ctx };
    struct temp_dir dir = temp_dir_new();
    struct generated_case row = {
#define LAYER(y, w, attrs, type)                                                                   \
    "  " y " = nn.conv2d(%x, " w ") {" attrs ", groups=1, data_layout=\"NCHW\", "                  \
    "out_layout=\"NHWC\"} : " type " f32\n"
        .text =
            "fn main(%x: (2,2,19,22) f32) -> (%a, %b, %c, %d) {\n"
            "  const @t : (24,2,3,3) f32 = crc32:00000000\n"
            "  const @u : (16,2,7,7) f32 = crc32:00000001\n"
            "  const @v : (13,2,5,3) f32 = crc32:00000002\n"
            "  const @w : (32,2,3,1) f32 = crc32:00000003\n" LAYER(
                "%a", "@t", "strides=[1,1], padding=[1,1,1,1]", "(2,19,22,24)")
                LAYER("%b", "@u", "strides=[2,2], padding=[3,3,3,3]", "(2,10,11,16)")
                    LAYER("%c", "@v", "strides=[1,1], padding=[2,1,2,1]", "(2,19,22,13)")
                        LAYER("%d", "@w", "strides=[1,3], padding=[1,0,1,0]", "(2,19,8,32)") "}\n",
        .tolerance = tolerance,
        .machine = machine_find(ctx, targets[_i]),
        .one_build = true,
        .choices = &choices
    };
    const struct codegen_options options = { .name = "net",
                                             .dir = dir.path,
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = row.machine,
                                             .choices = &choices };
    struct module *module = generated_module(ctx, &row);
    struct codegen_result result;

    /* A region's knobs are those of its kernel: the second result has those of this one. */
    for (int pass = 0; pass < 2; pass++) {
        ck_assert_msg(codegen_c(module, &options, &set, &result), "%s", expect_text(ctx));
        output_abort(&set);
        ck_assert_int_eq(result.n_regions, N_LAYERS);
        for (int i = 0; i < N_LAYERS; i++) {
            choice[i].value[KNOB_KERNEL] = "band_winograd";
            map_set(&choices.by_signature, result.regions[i].signature, &choice[i]);
        }
    }
    for (int p = 0; p < N_POINTS; p++) {
        for (int i = 0; i < N_LAYERS; i++) {
            const struct knob_range *range = &result.regions[i].knobs[KNOB_WINOGRAD];

            ck_assert_int_eq(range->n, N_POINTS);
            /* More rows of results are those of more points. */
            choice[i].value[KNOB_WINOGRAD] =
                range->values[(atoi(range->values[0]) < atoi(range->values[1])) != p];
        }
        ck_assert_int_gt(generated_count(ctx, &row, fns[p]), 0);
        ck_assert_int_eq(generated_count(ctx, &row, fns[!p]), 0);
        generated_check_module(module, &row, NULL);
        ck_assert_msg(ctx->diags.n_warnings == 0, "%s", expect_text(ctx));
    }
    temp_dir_free(&dir);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_band_winograd");
    TCase *tcase = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    generated_vector_builds();
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, results_are_those_of_the_reference, 0, N_MACHINES);
    tcase_add_test(tcase, others_are_direct);
    tcase_add_loop_test(tcase, all_numbers_of_points_compute_the_same, 0, N_MACHINES);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
