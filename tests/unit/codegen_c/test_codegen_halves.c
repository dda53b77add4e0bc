/* f16 and bf16 in generated C: moved and converted, and f16 as weights, with the bits of the
 * simulation on every processor. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/dtype.h"
#include "codegen_c/machine/machine.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ir.h"
#include "tests/support/bits.h"
#include "tests/support/run_generated.h"

enum { CODES = 65536, TIES = 3 * CODES };

/* Every code of both, and what stands between numbers of f16 and of bf16: ties, and the nearest
 * numbers on both sides, which a detour over f32 must not make ties of. */
static const char text[] =
    "fn main(%h: (256,256) f16, %b: (256,256) bf16, %x: (3,65536) f32, %d: (3,65536) f64, "
    "%i: (65536) i32) -> (%hx, %hb, %h8, %bx, %bh, %xh, %xb, %dh, %db, %d8, %ih, %moved, %both) {\n"
    "  const @known : (1,256) f16 = crc32:00000000\n"
    "  %hx = cast(%h) {dtype=f32, saturate=true} : (256,256) f32\n"
    "  %hb = cast(%h) {dtype=bf16, saturate=true} : (256,256) bf16\n"
    "  %h8 = cast(%h) {dtype=f8e4m3, saturate=false} : (256,256) f8e4m3\n"
    "  %bx = cast(%b) {dtype=f64, saturate=true} : (256,256) f64\n"
    "  %bh = cast(%b) {dtype=f16, saturate=true} : (256,256) f16\n"
    "  %xh = cast(%x) {dtype=f16, saturate=true} : (3,65536) f16\n"
    "  %xb = cast(%x) {dtype=bf16, saturate=true} : (3,65536) bf16\n"
    "  %dh = cast(%d) {dtype=f16, saturate=true} : (3,65536) f16\n"
    "  %db = cast(%d) {dtype=bf16, saturate=true} : (3,65536) bf16\n"
    "  %d8 = cast(%d) {dtype=f8e5m2, saturate=true} : (3,65536) f8e5m2\n"
    "  %ih = cast(%i) {dtype=f16, saturate=true} : (65536) f16\n"
    "  %t = transpose(%h) {axes=[1,0]} : (256,256) f16\n"
    "  %part = strided_slice(%t) {begin=[3,0], strides=[2,1], size=[99,256]} "
    ": (99,256) f16\n"
    "  %moved = concatenate(%h, %part, @known) {axis=0} : (356,256) f16\n"
    "  %up = cast(%b) {dtype=f32, saturate=true} : (256,256) f32\n"
    "  %half = nn.relu(%up) : (256,256) f32\n"
    "  %both = cast(%half) {dtype=bf16, saturate=true} : (256,256) bf16\n}\n";

/* Half way between a code's number and the next one's of the same sign. */
static double between(int code, bool is_bf16)
{
    const uint16_t bits = (uint16_t)code, next = (uint16_t)(code + 1);
    const double a = (double)(is_bf16 ? bf16_to_f32(bits) : f16_to_f32(bits));
    const double b = (double)(is_bf16 ? bf16_to_f32(next) : f16_to_f32(next));

    return isfinite(a) && isfinite(b) ? (a + b) / 2 : a;
}

START_TEST(halves_have_the_bits_of_the_simulation)
{
    static uint16_t codes[CODES];
    static float floats[TIES];
    static double doubles[TIES];
    static int32_t integers[CODES];
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    struct tensor inputs[5];
    void *const data[5] = { codes, codes, floats, doubles, integers };

    for (int i = 0; i < CODES; i++) {
        /* f16's ties of even codes, and bf16's of odd ones: f32 holds both. */
        const double tie = between(i, i & 1);

        codes[i] = (uint16_t)i;
        integers[i] = (i - CODES / 2) * 3 + (i % 7 == 0) * (i << 12);
        floats[i] = (float)tie;
        floats[CODES + i] = nextafterf((float)tie, INFINITY);
        floats[2 * CODES + i] = nextafterf((float)tie, -INFINITY);
        /* RISC-V's conversion from f64 forgets the sign of NaN. */
        doubles[i] = isnan(tie) ? 1 : tie;
        doubles[CODES + i] = nextafter(doubles[i], INFINITY);
        doubles[2 * CODES + i] = nextafter(doubles[i], -INFINITY);
    }
    for (int i = 0; i < 5; i++)
        inputs[i] = (struct tensor){ module->main->params[i]->type, data[i] };
    bits_check_module(module, inputs);
    bits_check_targets(module, inputs);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Rows that are no whole vectors, and NaN in the middle of them: their codes keep the sign only. */
START_TEST(a_cast_alone_takes_whole_vectors)
{
    static const char rows[] = "fn main(%x: (1,1003) f32, %z: (1,5) f32) -> (%h, %s) {\n"
                               "  %h = cast(%x) {dtype=f16, saturate=true} : (1,1003) f16\n"
                               "  %s = cast(%z) {dtype=f16, saturate=true} : (1,5) f16\n}\n";
    static const char *const named[] = { "x86-64-v3", "x86-64-v4", "x86-64", "cortex-m4" };
    static float x[1003], z[5] = { 65519, 65520, -65520, -INFINITY, 0x1.002p-14f };
    struct ctx *ctx = ctx_new("rows");
    struct generated_case row = { .text = rows, .machine = machine_find(ctx, named[_i]) };
    struct module *module = generated_module(ctx, &row);
    struct tensor inputs[2];
    const bool has_row = strstr(generated_text(ctx, &row, ".c"), "f32_to_f16_row(");

    ck_assert(has_row == (_i < 2));
    for (int i = 0; i < 1003; i++)
        x[i] = i % 7 == 0 ? (i % 2 ? NAN : -NAN)
                          : (float)ldexp((i % 2 ? 1 : -1) + i * 1e-4, i % 40 - 22);
    inputs[0] = (struct tensor){ module->main->params[0]->type, x };
    inputs[1] = (struct tensor){ module->main->params[1]->type, z };
    generated_vector_builds();
    generated_check_module(module, &row, inputs);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- as weights ------------------------------------------------------------------------------- */

/* A dense layer of one row, one of several, and convolutions: pointwise, and of each channel by
 * itself. Each result is one product, of a weight that is some code. */
static const char *products(struct arena *arena, int n)
{
    return arena_printf(
        arena,
        "fn main(%%x: (1,1) f32, %%r: (3,1) f32, %%p: (1,1,2,3) f32, %%d: (1,%d,1,1) f32) -> "
        "(%%one, %%many, %%point, %%depth) {\n"
        "  const @w : (%d,1) f16 = crc32:00000000\n"
        "  const @k : (%d,1,1,1) f16 = crc32:00000000\n"
        "  %%one = nn.dense(%%x, @w) {out_dtype=f32} : (1,%d) f32\n"
        "  %%many = nn.dense(%%r, @w) {out_dtype=f32} : (3,%d) f32\n"
        "  %%point = nn.conv2d(%%p, @k) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
        "groups=1, data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=f32} : (1,%d,2,3) f32\n"
        "  %%depth = nn.conv2d(%%d, @k) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
        "groups=%d, data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=f32} : (1,%d,1,1) f32\n"
        "}\n",
        n, n, n, n, n, n, n, n);
}

/* The codes of +0 up to some magnitude, then those of -0 down to it. */
static void fill_weights(struct module *module, int magnitudes)
{
    int n_filled = 0;

    for (struct function *fn = module->main; fn; fn = fn->next)
        for (struct value *value = fn->constants; value; value = value->next)
            for (int i = 0; value->type.dtype == DTYPE_F16 && i < 2 * magnitudes; i++, n_filled++)
                ((uint16_t *)(uintptr_t)value->data)[i] =
                    (uint16_t)(i < magnitudes ? i : CODES / 2 + i - magnitudes);
    ck_assert_int_ge(n_filled, 4 * magnitudes);
}

enum { CODE_OF_64 = 21 << 10 };

/* Up to 64, which are raised (codegen_c/expr/halves.h), and all, with infinity and NaN. */
static const int magnitudes[] = { CODE_OF_64, CODES / 2 };

START_TEST(weights_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(
        ctx, &(struct generated_case){ .text = products(&ctx->perm, 2 * magnitudes[_i]) });

    fill_weights(module, magnitudes[_i]);
    bits_check_module(module, NULL);
    bits_check_deterministic(module, NULL);
    bits_check_targets(module, NULL);
    bits_check_fused(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* One number too great, and the codes stand as they are. */
START_TEST(weights_below_64_are_raised)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(
        ctx, &(struct generated_case){ .text = products(&ctx->perm, 2 * CODE_OF_64) });

    fill_weights(module, CODE_OF_64);
    ck_assert(bits_differ(module, "define F16_TIMES 0x1p102f", "define F16_TIMES 0x1p101f"));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_halves");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, halves_have_the_bits_of_the_simulation);
    tcase_add_loop_test(tests, a_cast_alone_takes_whole_vectors, 0, 4);
    tcase_add_loop_test(tests, weights_have_the_bits_of_the_simulation, 0, 2);
    tcase_add_test(tests, weights_below_64_are_raised);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
