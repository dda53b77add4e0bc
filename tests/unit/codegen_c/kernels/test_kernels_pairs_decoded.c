/* Sums by pairs of products of what is stored small (codegen_c/kernels/conv/conv_pairs.c), as generated
 * C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* As of numbers in f32: test_kernels_pairs.c. */
static const double tolerance = 2e-6;

#define LAST "data_layout=\"NHWC\", out_dtype=f32, groups=1"

/* Every type that is decoded; the last panel whole, or of 4 to 28 channels, or shorter than a
 * vector; weights on the stack, in scratch, and in several NC blocks; strides, groups, images; one
 * pointer for all pixels; y in planes. */
static const struct kernel_case rows[] = {
#define PAIRS(shape, in_c, type, out_c)                                                            \
    {                                                                                              \
        "conv_pairs", "nn.conv2d", LAST,                                                           \
            "f32[" shape "," #in_c "]; const " type "[" #out_c "," #in_c ",1,1]"                   \
    }
    PAIRS("1,5,7", 32, "f8e4m3", 160),
    PAIRS("1,4,3", 47, "f8e4m3", 200),
    PAIRS("1,9,9", 24, "f8e5m2", 64),
    PAIRS("1,6,6", 32, "hfp8_143", 48),
    PAIRS("1,7,7", 45, "f8e4m3fnuz", 33),
    PAIRS("1,3,5", 48, "f8e5m2fnuz", 128),
    PAIRS("2,5,5", 64, "f8e4m3", 37),
    PAIRS("1,14,3", 70, "i8", 96),
    PAIRS("3,2,3", 96, "f16", 100),
    PAIRS("1,3,3", 100, "bf16", 80),
    PAIRS("1,4,3", 64, "f4e2m1", 56),
    PAIRS("1,4,7", 64, "f6e2m3", 13),
    PAIRS("1,5,3", 48, "i4", 72),
    PAIRS("1,3,3", 320, "f8e4m3", 88),
    PAIRS("1,5,5", 700, "f8e4m3", 132),
    PAIRS("1,3,3", 1024, "f8e4m3", 64),
    { "conv_pairs", "nn.conv2d", LAST ", strides=[2,2]", "f32[1,9,8,64]; const f8e4m3[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "data_layout=\"NHWC\", out_dtype=f32, groups=2",
      "f32[1,5,5,128]; const f8e4m3[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "data_layout=\"NHWC\", out_dtype=f32, groups=3, strides=[1,2]",
      "f32[2,3,5,144]; const f8e5m2[198,48,1,1]" },
    { "conv_pairs", "nn.conv2d", "data_layout=\"NHWC\", out_dtype=f32, groups=2",
      "f32[2,3,3,1800]; const f8e4m3[136,900,1,1]" },
    { "conv_pairs", "nn.conv2d", LAST ", out_layout=\"NCHW\"",
      "f32[1,5,7,48]; const f8e4m3[72,48,1,1]" },
    { "conv_pairs", "nn.conv1d", "groups=1, data_layout=\"NWC\", out_dtype=f32",
      "f32[1,50,80]; const f8e4m3[64,80,1]" },
    { "conv_pairs", "nn.dense", "out_dtype=f32", "f32[9,48]; const f8e4m3[70,48]" },
    { "conv_pairs", "nn.matmul", "out_dtype=f32", "f32[2,5,64]; const i8[64,96]" },
    { "conv_pairs", "nn.matmul", "transpose_b=true, out_dtype=f32",
      "f32[13,100]; const f8e4m3[64,100]" },
    /* not where it would take longer, or cannot be */
    { "conv_decoded", "nn.dense", "out_dtype=f32", "f32[4,48]; const f8e4m3[70,48]" },
    { "conv_decoded", "nn.conv2d", LAST, "f32[1,5,7,300]; const f8e4m3[8,300,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST, "f32[1,5,7,15]; const f8e4m3[256,15,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST,
      "f32[1,5,7,64]; const f8e5m2[96,64,1,1] 60 62 0x7c 64 65" },
};

static const struct machine *znver4(struct ctx *ctx)
{
    return machine_find(ctx, "znver4");
}

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, N_ROWS(rows), tolerance, WINOGRAD_AUTO, znver4(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(winograd_off_and_other_machines_go_without)
{
    static const struct kernel_case plain = { "conv_decoded", "nn.conv2d", LAST,
                                              "f32[1,5,7,48]; const f8e4m3[96,48,1,1]" };
    struct ctx *ctx = ctx_new("plain");

    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_OFF, znver4(ctx));
    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_AUTO, machine_find(ctx, "x86-64-v4"));
    ctx_free(ctx);
}
END_TEST

/* --- all codes -------------------------------------------------------------------------------- */

static const char *const formats[] = { "f8e4m3",   "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4",
                                       "hfp8_143", "f6e3m2", "f4e2m1",     "f8e2m5",     "u8e2m6" };

enum { IN_C = 32, OUT_C = 40 };

/* Weights that have all finite codes of the format, each channel another part of them. */
static void add_weight(struct str *out, const char *format, int number)
{
    struct minifloat row;

    ck_assert(minifloat_from_name(format, &row));
    str_printf(out, "  const @w%d : (%d,%d,1,1) %s = ", number, OUT_C, IN_C, format);
    for (int i = 0; i < OUT_C * IN_C; i++) {
        const unsigned code = (unsigned)(i * 37 + i / 7 + 11) % (1u << minifloat_bits(&row));

        str_printf(out, "%s0x%02x", i ? ", " : "[",
                   isfinite(minifloat_decode(&row, code)) ? code : 1u);
    }
    str_add(out, "]\n");
}

START_TEST(weights_have_all_codes)
{
    struct ctx *ctx = ctx_new("codes");
    struct str text = { .arena = &ctx->perm };
    struct generated_case row = { .tolerance = tolerance, .machine = znver4(ctx) };

    str_printf(&text, "fn main(%%x: (1,5,5,%d) f32) -> (", IN_C);
    for (int i = 0; i < N_ROWS(formats); i++)
        str_printf(&text, "%s%%y%d", i ? ", " : "", i);
    str_add(&text, ") {\n");
    for (int i = 0; i < N_ROWS(formats); i++) {
        add_weight(&text, formats[i], i);
        str_printf(&text,
                   "  %%y%d = nn.conv2d(%%x, @w%d) {groups=1, data_layout=\"NHWC\", "
                   "out_layout=\"NHWC\", out_dtype=f32} : (1,5,5,%d) f32\n",
                   i, i, OUT_C);
    }
    str_add(&text, "}\n");
    row.text = str_text(&text);
    ck_assert(strstr(generated_text(ctx, &row, ".c"), "unpack_panel_hfp8_143"));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pairs_decoded");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, rows_agree_with_the_reference);
    tcase_add_test(tests, winograd_off_and_other_machines_go_without);
    tcase_add_test(tests, weights_have_all_codes);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
