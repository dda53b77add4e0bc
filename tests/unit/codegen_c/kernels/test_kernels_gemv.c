/* Matrices times one vector, by vectors of sums side by side (codegen_c/microkernel/gemv.h): of every
 * count of outputs that is left behind the panels, in f32 and in codes. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/bits.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* --- every remainder -------------------------------------------------------------------------- */

/* One panel of 32 and less, panels that are full, and full ones before a narrow one; what 8, 16 and
 * 128 outputs side by side leave. */
static const struct kernel_case remainders[] = {
    { "gemv", "nn.dense", "", "f32[1,9]; const f32[44,9]" },
    { "gemv", "nn.dense", "", "f32[1,7]; const f32[64,7]" },
    { "gemv", "nn.dense", "", "f32[1,7]; const f32[96,7]" },
    { "gemv", "nn.dense", "", "f32[1,5]; const f32[127,5]" },
    { "gemv", "nn.dense", "", "f32[1,6]; const f32[164,6]" },
    { "gemv", "nn.dense", "", "f32[1,6]; const f32[228,6]" },
    { "gemv", "nn.matmul", "", "f32[1,3]; const f32[3,105]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,77]; const f8e4m3[28,77]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,78]; const f8e5m2[44,78]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,79]; const f8e4m3[96,79]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,80]; const f8e4m3[108,80] 0x38 0x49 0xc2 0x91" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,13]; const i8[150,13]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,13]; const i4[75,13]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,13]; const bf16[231,13]" },
    { "gemv", "nn.dense", "out_dtype=f32",
      "f32[1,13]; const f16[108,13] 0.5 -3.1e-6 1.25 -0 6e-8 -1.875 0.0001" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,7]; const f16[231,7] 0.5 -3.1e-6 63.9 -0 6e-8" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,6]; const f16[44,6] 0.5 -3.1e-6 64 -0 6e-8" },
    { "gemv", "nn.dense", "out_dtype=f32", "f8e4m3[1,300]; const f8e4m3[228,300] 0x38 0xba" },
};

static const char *const machine_names[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4",
                                             "cortex-m4" };

START_TEST(every_remainder_is_computed)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(remainders, N_ROWS(remainders), 1e-5, WINOGRAD_OFF,
                          machine_find(ctx, machine_names[_i]));
    ctx_free(ctx);
}
END_TEST

/* --- bits ------------------------------------------------------------------------------------- */

static const char *const formats[] = { "f8e4m3",   "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4",
                                       "hfp8_143", "f8e2m5", "u8e2m6",     "u8e3m5",     "u8e4m4" };

static const char *const types[] = { "f32", "f16", "bf16" };

/* Codes of a format, of both signs; without subnormal ones those of which halves of words move two
 * at a time. */
static void add_codes(struct str *out, char name, int rows, int columns, const char *format,
                      bool subnormals)
{
    struct minifloat row;

    ck_assert(minifloat_from_name(format, &row));
    str_printf(out, "  const @%c : (%d,%d) %s = ", name, rows, columns, format);
    for (int i = 0; i < rows * columns; i++) {
        const unsigned code = (unsigned)(i * 37 + i / 7 + 11) % 256;
        const bool subnormal = (code & 127) < 1u << row.mantissa_bits;

        str_printf(out, "%s0x%02x", i ? ", " : "[",
                   isfinite(minifloat_decode(&row, code)) && (subnormals || !subnormal) ? code
                                                                                        : 0x3bu);
    }
    str_add(out, "]\n");
}

/* Numbers of f32, f16 or bf16, some of them subnormal in f16. */
static void add_numbers(struct str *out, char name, int rows, int columns, const char *type)
{
    str_printf(out, "  const @%c : (%d,%d) %s = ", name, rows, columns, type);
    for (int i = 0; i < rows * columns; i++)
        str_printf(out, "%s%g", i ? ", " : "[",
                   ldexp((i * 37 + i / 7 + 11) % 101 - 50, i % 13 == 0 ? -24 : -5));
    str_add(out, "]\n");
}

/* Layers one behind the other, so that each of them is a region: 77 to 44 to 231 to 300 to 9. */
static const char *network(struct arena *arena, const char *format, bool subnormals)
{
    const bool codes = minifloat_from_name(format, &(struct minifloat){ 0 });
    static const int widths[] = { 77, 44, 231, 300, 9 };
    struct str out = { .arena = arena };

    str_printf(&out,
               "fn main(%%x0: (1,%d) f32) -> (%%x%d) {\n"
               "  const @s : () f32 = [0.0078125]\n",
               widths[0], N_ROWS(widths) - 1);
    for (int i = 1; i < N_ROWS(widths); i++) {
        if (codes)
            add_codes(&out, (char)('v' + i), widths[i], widths[i - 1], format, subnormals);
        else
            add_numbers(&out, (char)('v' + i), widths[i], widths[i - 1], format);
        str_printf(&out,
                   "  %%p%d = nn.dense(%%x%d, @%c)%s : (1,%d) f32\n"
                   "  %%q%d = multiply(%%p%d, @s) : (1,%d) f32\n"
                   "  %%x%d = nn.relu(%%q%d) : (1,%d) f32\n",
                   i, i - 1, 'v' + i, strcmp(format, "f32") != 0 ? " {out_dtype=f32}" : "",
                   widths[i], i, i, widths[i], i, i, widths[i]);
    }
    str_add(&out, "}\n");
    return str_text(&out);
}

static void check(const char *format, bool subnormals)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = network(&ctx->perm, format, subnormals);
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    bits_check_targets(module, NULL);
    bits_check_fused(module, NULL);
    module_free(module);
    ctx_free(ctx);
}

START_TEST(codes_have_the_bits_of_the_simulation)
{
    check(formats[_i / 2], _i % 2);
}
END_TEST

START_TEST(numbers_have_the_bits_of_the_simulation)
{
    check(types[_i], false);
}
END_TEST

/* --- blocks that share scales ----------------------------------------------------------------- */

/* Blocks that divide the inputs and such that do not, that begin amid words of four bits, that are
 * longer than what is decoded at a time, and of whole rows; codes that have to be unpacked. */
static const struct blocks {
    const char *format;
    int block;
    bool reals; /* scales are no powers of two */
    bool zeros; /* there are zero points */
    bool coded; /* x is in FP8 */
} blocks[] = {
    { .format = "f4e2m1", .block = 32 },
    { "f4e2m1", 12, .reals = true },
    { .format = "f4e2m1", .block = 320 },
    { "f4e2m1", 32, .coded = true },
    { .format = "f8e4m3", .block = 32 },
    { "f8e4m3", 160, .coded = true },
    { "f8e5m2", 4, .reals = true },
    { .format = "f8e3m4", .block = 64 },
    { .format = "f6e2m3", .block = 32 },
    { "f6e3m2", 20, .reals = true },
    { "f6e3m2", 20, .coded = true },
    { .format = "i8", .block = 32 },
    { "i8", 128, .reals = true, .zeros = true },
    { "i8", 12, .zeros = true },
    { "i4", 32, .reals = true },
    { "i4", 4, .zeros = true },
    { "i4", 28, .reals = true, .zeros = true },
};

static void add_blocks(struct str *out, const struct blocks *b, const char *shape, int rows,
                       int columns)
{
    const int n = rows * ((columns + b->block - 1) / b->block);
    struct minifloat row;
    const bool codes = minifloat_from_name(b->format, &row);

    str_printf(out, "  const @w%d : (%s) %s blocks(%d, scale=", rows, shape, b->format, b->block);
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%g", i ? ", " : "[", ldexp(b->reals ? 1 + i % 5 * 0.3 : 1, i % 11 - 8));
    for (int i = 0; i < n && b->zeros; i++)
        str_printf(out, "%s%d", i ? ", " : "], zero=[", i * 5 % 16 - 8);
    str_add(out, "]) = ");
    for (int i = 0; i < rows * columns; i++) {
        const unsigned code = (unsigned)(i * 37 + i / 7 + 11);

        str_add(out, i ? ", " : "[");
        if (codes)
            str_printf(out, "0x%02x",
                       isfinite(minifloat_decode(&row, code % (1u << minifloat_bits(&row))))
                           ? code % (1u << minifloat_bits(&row))
                           : 1u);
        else
            str_printf(out, "%d",
                       strcmp(b->format, "i4") == 0 ? (int)(code % 16) - 8
                                                    : (int)(code % 256) - 128);
    }
    str_add(out, "]\n");
}

/* 77 to 44 to 231 to 300 to 9, and a convolution of one position. */
static const char *network_in_blocks(struct arena *arena, const struct blocks *b)
{
    static const int widths[] = { 77, 44, 231, 300, 9 };
    struct str out = { .arena = arena };

    str_printf(&out, "fn main(%%x0: (1,%d) f32, %%p: (1,3,4,5) f32) -> (%%x%d, %%c) {\n", widths[0],
               N_ROWS(widths) - 1);
    for (int i = 1; i < N_ROWS(widths); i++) {
        const int n = widths[i], before = widths[i - 1];

        add_blocks(&out, b, arena_printf(arena, "%d,%d", n, before), n, before);
        if (b->coded)
            str_printf(&out,
                       "  %%d%d = cast(%%x%d) {dtype=f8e4m3, saturate=true} : (1,%d) f8e4m3\n", i,
                       i - 1, before);
        str_printf(&out,
                   "  %%p%d = nn.dense(%%%c%d, @w%d) {out_dtype=f32} : (1,%d) f32\n"
                   "  %%x%d = nn.relu(%%p%d) : (1,%d) f32\n",
                   i, b->coded ? 'd' : 'x', b->coded ? i : i - 1, n, n, i, i, n);
    }
    add_blocks(&out, b, "7,3,4,5", 7, 60);
    str_add(&out, "  %c = nn.conv2d(%p, @w7) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
                  "groups=1, data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=f32} : "
                  "(1,7,1,1) f32\n}\n");
    return str_text(&out);
}

START_TEST(blocks_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = network_in_blocks(&ctx->perm, &blocks[_i]);
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    bits_check_targets(module, NULL);
    if (_i % 4 == 0) /* one of each kind of codes, since each takes a dozen compilations */
        bits_check_deterministic(module, NULL);
    if (_i % 4 == 1)
        bits_check_fused(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_gemv");
    TCase *tests = tcase_create("all"), *in_blocks = tcase_create("blocks");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, in_blocks);
    tcase_set_timeout(tests, 0);
    tcase_set_timeout(in_blocks, 0);
    tcase_add_loop_test(tests, every_remainder_is_computed, 0, N_ROWS(machine_names));
    tcase_add_loop_test(tests, codes_have_the_bits_of_the_simulation, 0, 2 * N_ROWS(formats));
    tcase_add_loop_test(tests, numbers_have_the_bits_of_the_simulation, 0, N_ROWS(types));
    tcase_add_loop_test(in_blocks, blocks_have_the_bits_of_the_simulation, 0, N_ROWS(blocks));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
