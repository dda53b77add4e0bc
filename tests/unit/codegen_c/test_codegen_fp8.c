/* FP8 in generated C: conversions agree with the reference on every code and every tie, what moves
 * elements moves codes, and the rest is refused. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const enum dtype fp8[] = { DTYPE_F8E4M3, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2, DTYPE_F8E5M2FNUZ,
                                  DTYPE_F8E3M4, DTYPE_HFP8_143,   DTYPE_F8E2M5, DTYPE_U8E2M6,
                                  DTYPE_U8E3M5, DTYPE_U8E4M4,     DTYPE_F6E3M2, DTYPE_F6E2M3,
                                  DTYPE_F4E2M1 };
enum { N_FP8 = N_ROWS(fp8) };

struct graph {
    struct arena *arena;
    const char *from;
    int n; /* elements */
    struct str lines, results;
    int n_results;
};

static void add_cast(struct graph *graph, enum dtype to, bool saturate)
{
    str_printf(&graph->lines, "  %%y%d = cast(%%x) {dtype=%s, saturate=%s} : (%d) %s\n",
               graph->n_results, dtype_name(to), saturate ? "true" : "false", graph->n,
               dtype_name(to));
    str_printf(&graph->results, "%s%%y%d", graph->n_results ? ", " : "", graph->n_results);
    graph->n_results++;
}

/* Runs the casts on one tensor. */
static void check_casts(struct graph *graph, const void *data)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = {
        .text = arena_printf(&ctx->perm, "fn main(%%x: (%d) %s) -> (%s) {\n%s}\n", graph->n,
                             graph->from, str_text(&graph->results), str_text(&graph->lines)),
    };
    struct module *module = generated_module(ctx, &row);
    const struct tensor input = { module->main->params[0]->type, (void *)(uintptr_t)data };

    generated_check_module(module, &row, &input);
    module_free(module);
    ctx_free(ctx);
}

static struct graph graph_of(struct arena *arena, enum dtype from, int n)
{
    return (struct graph){ .arena = arena,
                           .from = dtype_name(from),
                           .n = n,
                           .lines.arena = arena,
                           .results.arena = arena };
}

static const enum dtype targets[] = { DTYPE_F32, DTYPE_F64, DTYPE_BOOL, DTYPE_I8,
                                      DTYPE_I16, DTYPE_I32, DTYPE_I64,  DTYPE_U8,
                                      DTYPE_U16, DTYPE_U32, DTYPE_U64 };

START_TEST(every_code_converts_as_in_the_reference)
{
    struct arena arena = { NULL };
    struct graph graph = graph_of(&arena, fp8[_i], 256);
    uint8_t codes[256];

    for (int i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    for (int i = 0; i < N_ROWS(targets); i++)
        add_cast(&graph, targets[i], true);
    for (int i = 0; i < N_FP8; i++) {
        if (i == _i)
            continue;
        add_cast(&graph, fp8[i], true);
        add_cast(&graph, fp8[i], false);
    }
    check_casts(&graph, codes);
    arena_release(&arena);
}
END_TEST

enum { N_SPECIAL = 12, N_NUMBERS = N_SPECIAL + 3 * 2 * 256 + 4096 };

static void add_casts_to_fp8(struct graph *graph, enum dtype to)
{
    add_cast(graph, to, true);
    add_cast(graph, to, false);
}

/* Half way between all neighbours and a hair to both sides, random bits, and what has no
 * neighbours. */
START_TEST(every_tie_and_extreme_converts_as_in_the_reference)
{
    static const float special[N_SPECIAL] = { 0,        -0.0f,      INFINITY,  -INFINITY,
                                              NAN,      -NAN,       0x1p-149f, -0x1p-127f,
                                              0x1p127f, -0x1p-126f, 0x1p-18f,  0x1.fffffep127f };
    const struct minifloat *format = dtype_minifloat(fp8[_i]);
    struct arena arena = { NULL };
    struct graph graph = graph_of(&arena, DTYPE_F32, N_NUMBERS);
    float *numbers = arena_array(&arena, float, N_NUMBERS), *number = numbers;
    uint32_t bits = 1;

    memcpy(numbers, special, sizeof special);
    number += N_SPECIAL;
    for (unsigned code = 0; code < minifloat_sign(format); code++) {
        const float low = minifloat_decode(format, code), high = minifloat_decode(format, code + 1);
        const float half =
            isfinite(high) && code + 1 < minifloat_sign(format) ? (low + high) / 2 : low * 1.0625f;
        const float around[3] = { nextafterf(half, 0), half, nextafterf(half, INFINITY) };

        for (int i = 0; i < 3; i++, number += 2) {
            number[0] = around[i];
            number[1] = -around[i];
        }
    }
    for (; number < numbers + N_NUMBERS; number++) {
        bits = bits * 1664525u + 1013904223u;
        memcpy(number, &bits, sizeof bits);
    }
    add_casts_to_fp8(&graph, fp8[_i]);
    check_casts(&graph, numbers);
    arena_release(&arena);
}
END_TEST

static const enum dtype narrow[] = { DTYPE_BOOL, DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_U16 };

START_TEST(narrow_integers_convert_to_fp8)
{
    struct arena arena = { NULL };
    struct graph graph = graph_of(&arena, narrow[_i], 512);
    uint16_t numbers[512]; /* of the widest */

    for (int i = 0; i < 512; i++)
        dtype_store_int(narrow[_i], numbers, i, (int64_t)i * i - 1000);
    for (int i = 0; i < N_FP8; i++)
        add_casts_to_fp8(&graph, fp8[i]);
    check_casts(&graph, numbers);
    arena_release(&arena);
}
END_TEST

static const char *const graphs[] = {
    /* quantise and back, in one chain behind a kernel */
    "fn main(%x: (2,30) f32) -> (%y) {\n"
    "  %a = nn.softmax(%x) {axis=1} : (2,30) f32\n"
    "  %b = cast(%a) {dtype=f8e4m3, saturate=true} : (2,30) f8e4m3\n"
    "  %y = cast(%b) {dtype=f32, saturate=true} : (2,30) f32\n}\n",
    /* codes selected, moved, padded, joined with a constant of which 0x7f is NaN */
    "fn main(%x: (2,3) f8e4m3, %z: (2,3) f8e4m3, %p: (2,3) bool) -> (%y, %w, %v) {\n"
    "  const @c : (1,3) f8e4m3 = [0x38, 0x7f, 0x80]\n"
    "  %a = where(%p, %x, %z) : (2,3) f8e4m3\n"
    "  %y = concatenate(%a, @c) {axis=0} : (3,3) f8e4m3\n"
    "  %w = transpose(%x) {axes=[1,0]} : (3,2) f8e4m3\n"
    "  %v = nn.pad(%z) {pad_before=[0,1], pad_after=[1,0], mode=\"constant\", value=0} "
    ": (3,4) f8e4m3\n}\n",
};

START_TEST(codes_are_moved_as_they_are)
{
    generated_check(
        &(struct generated_case){ .text = graphs[_i], .low = -30, .high = 30, .tolerance = 1e-2 });
}
END_TEST

/* Scalar cores leave the division of zeros out: both zeros, NaN and the rest keep their codes. */
START_TEST(zeros_behind_a_relu_are_not_divided)
{
    static const float numbers[8] = { 0, -0.0f, NAN, -1, 0x1p-149f, 0.3f, 700, -INFINITY };
    const struct generated_case row = {
        .text = "fn main(%x: (8) f32) -> (%y) {\n"
                "  const @s : () f32 = [0.0371]\n  const @z : () f8e4m3 = [0x00]\n"
                "  %a = nn.relu(%x) : (8) f32\n"
                "  %y = qnn.quantize(%a, @s, @z) {axis=0, saturate=true} : (8) f8e4m3\n}\n"
    };
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case scalar = row;
    struct module *module = generated_module(ctx, &row);
    const struct tensor input = { module->main->params[0]->type, (void *)(uintptr_t)numbers };

    scalar.machine = machine_find(ctx, "cortex-m4");
    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &scalar, ".c"), "<= 0.0f) ? "));
    ck_assert_ptr_null(strstr(generated_text(ctx, &row, ".c"), "<= 0.0f) ? "));
    generated_check_module(module, &scalar, &input);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Rounding them to f64 first would round twice. */
START_TEST(conversions_from_integers_of_64_bits_are_refused)
{
    static const char text[] = "fn main(%x: (2) i64, %z: (3) u64) -> (%y, %w) {\n"
                               "  %y = cast(%x) {dtype=f8e4m3, saturate=true} : (2) f8e4m3\n"
                               "  %w = cast(%z) {dtype=f8e5m2, saturate=true} : (3) f8e5m2\n}\n";
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    const struct codegen_options options = { .name = "net",
                                             .dir = "/nonexistent",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "" };
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;

    ck_assert(!codegen_c(module, &options, &set, &result));
    ck_assert(
        expect_error(ctx, DIAG_NO_KERNEL, "no kernel takes this element-wise chain of (2) i64"));
    ck_assert(
        expect_error(ctx, DIAG_NO_KERNEL, "no kernel takes this element-wise chain of (3) u64"));
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_fp8");
    TCase *tcase = tcase_create("codegen_fp8");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, every_code_converts_as_in_the_reference, 0, N_FP8);
    tcase_add_loop_test(tcase, every_tie_and_extreme_converts_as_in_the_reference, 0, N_FP8);
    tcase_add_loop_test(tcase, narrow_integers_convert_to_fp8, 0, N_ROWS(narrow));
    tcase_add_loop_test(tcase, codes_are_moved_as_they_are, 0, N_ROWS(graphs));
    tcase_add_test(tcase, zeros_behind_a_relu_are_not_divided);
    tcase_add_test(tcase, conversions_from_integers_of_64_bits_are_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
