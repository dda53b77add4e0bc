/* Numbers of quantised types, calculated with by the reference evaluator and by the engine. */
#include <check.h>
#include <string.h>

#include "relay_ir/interpret.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "runtime/engine/engine.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

#define PRODUCT(type, codes)                                                                       \
    "fn main(%x: (2,3) f32) -> (%y) {\n  const @w : (2,3) " type " = " codes "\n"                  \
    "  %y = nn.dense(%x, @w) {out_dtype=f32}\n}\n"

/* Products and casts of x = 1 2 4, 0.5 -1 3, in the reference and in the engine. */
static const struct {
    const char *text;
    int n;
    double want[6];
} numbers[] = {
    /* afp<3,2,3>: 0x0c = 1, 0x0e = 1.5, 0x20 the sign, 0x01 = 2^-4 */
    { PRODUCT("afp<3,2,3>", "[0x0c, 0x0e, 0x2c, 0x01, 0x00, 0x0c]"),
      4,
      { 0, 4.0625, -4, 3.03125 } },
    { PRODUCT("f4e2m1 blocks(2, scale=[0.5, 4, 1, 2])", "[0x02, 0x07, 0x0a, 0x01, 0x00, 0x03]"),
      4,
      { 0.5 + 6 - 16, 0.5 + 12, 0.25 - 3 - 12, 0.25 + 9 } },
    { PRODUCT("i4 blocks(3, scale=[0.5, 2])", "[-8, 7, 1, 0, -1, 2]"),
      4,
      { -4 + 7 + 2, -4 + 16, -2 - 3.5 + 1.5, 2 + 12 } },
    { PRODUCT("f8e4m3 scaled(axis=0, scale=[0.5, 3])", "[0x38, 0x40, 0xb8, 0x01, 0x00, 0x38]"),
      4,
      { 1 + 4 - 4, 4 + 0x1p-9, 0.5 - 2 - 3, 3 + 0x1p-10 } }, /* codes stand for themselves */
    { PRODUCT("i8", "[-128, 1, 2, 0, 127, 1]"),
      4,
      { -128 + 2 + 8, 254 + 4, -64 - 1 + 6, -127 + 3 } },
    { PRODUCT("bf16", "[0.5, 1, 2, 0, 128, 1]"), 4, { 10.5, 260, 5.25, -125 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3) afp<3,2,3> = [0x0c, 0x2e, 0x01]\n"
      "  %d = cast(@w) {dtype=f32, saturate=true}\n"
      "  %y = multiply(%x, %d)\n}\n",
      6,
      { 1, -3, 0.25, 0.5, 1.5, 0.1875 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (2,3) f8e5m2 blocks(2, scale=[0.5, 4, 1, 2]) = [0x3c, 0x3c, 0xbc, 0x3c, 0x40, "
      "0x3c]\n"
      "  %d = cast(@w) {dtype=f32, saturate=true}\n"
      "  %y = multiply(%x, %d)\n}\n",
      6,
      { 0.5, 1, -16, 0.5, -2, 6 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () afp<3,2,3> = [0x00]\n"
      "  %q = qnn.quantize(%x, @s, @z) {axis=0, saturate=true}\n"
      "  %r = reshape(%q) {shape=[3,2]}\n"
      "  %y = qnn.dequantize(%r, @s, @z) {axis=0}\n}\n",
      6,
      { 1, 2, 4, 0.5, -1, 3 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @s : (3) f32 = [0.5, 1, 0.25]\n"
      "  const @z : (3) i4 = [0, -2, 7]\n"
      "  %q = qnn.quantize(%x, @s, @z) {axis=1, saturate=true}\n"
      "  %y = qnn.dequantize(%q, @s, @z) {axis=1}\n}\n",
      6,
      { 1, 2, 0, 0.5, -1, 0 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @s : () f32 = [0.5]\n"
      "  const @z : () u4 = [1]\n"
      "  %q = qnn.quantize(%x, @s, @z) {axis=0, saturate=true}\n"
      "  %y = qnn.dequantize(%q, @s, @z) {axis=0}\n}\n",
      6,
      { 1, 2, 4, 0.5, -0.5, 3 } },
    { "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  %q = cast(%x) {dtype=i4, saturate=true}\n"
      "  %w = cast(%q) {dtype=i32, saturate=true}\n"
      "  %t = multiply(%w, %w)\n"
      "  %u = cast(%t) {dtype=i4, saturate=true}\n" /* 16 and 9 wrap */
      "  %y = cast(%u) {dtype=f32, saturate=true}\n}\n",
      6,
      { 1, 4, 0, 0, 1, -7 } },
};

static const struct tensor x_tensor = { { DTYPE_F32, 2, { 2, 3 }, NULL },
                                        (void *)(float[]){ 1, 2, 4, 0.5F, -1, 3 } };

START_TEST(quantized_numbers_are_calculated_with)
{
    struct module *module = module_parse(ctx, numbers[_i].text, NULL, false);
    struct bulk bulk = { NULL, 0 };
    struct tensor *y = arena_array(&ctx->perm, struct tensor, 1);
    struct engine *engine;

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert_msg(module_verify(module, "parsing"), "%s", expect_text(ctx));
    ck_assert_msg(interpret(ctx, module->main, &x_tensor, y, &bulk, NULL), "%s", expect_text(ctx));
    ck_assert_int_eq(type_elements(&y->type), numbers[_i].n);
    for (int i = 0; i < numbers[_i].n; i++)
        ck_assert_double_eq(tensor_at(y, i), numbers[_i].want[i]);
    engine = engine_new(ctx, module->main);
    ck_assert_msg(engine != NULL, "%s", expect_text(ctx));
    ck_assert_double_le(engine_difference(ctx, module->main, engine, &x_tensor, 2), 0);
    engine_free(engine);
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

static const struct {
    const char *lines, *error;
} refused[] = {
    { "%y = reshape(@b) {shape=[4]}", "input 0 of reshape has block scales" },
    { "%y = nn.dense(@b, %x) {out_dtype=f32}", "input 0 of nn.dense has block scales" },
    { "%y = cast(@b) {dtype=i8, saturate=true}", "cast of block-scaled values to i8" },
    { "%y = cast(%x) {dtype=afp, saturate=true}", "cast to afp needs the codec" },
    { "%y = concatenate(@a, @c) {axis=0}", "are afp<3,2,3> and afp<4,3,7>, expected one type" },
    { "%y = add(@a, @a)", "is afp" },
};

START_TEST(quantized_numbers_are_refused_with_a_reason)
{
    const char *text = arena_printf(&ctx->perm,
                                    "fn main(%%x: (2,2) f32) -> (%%y) {\n"
                                    "  const @b : (2,2) f4e2m1 blocks(2, scale=[1, 2]) = [0x01, "
                                    "...]\n"
                                    "  const @a : (2) afp<3,2,3> = [0x01, ...]\n"
                                    "  const @c : (2) afp<4,3,7> = [0x01, ...]\n"
                                    "  %s\n}\n",
                                    refused[_i].lines);

    ck_assert_ptr_null(module_parse(ctx, text, NULL, false));
    ck_assert_msg(strstr(expect_text(ctx), refused[_i].error) != NULL, "%s", expect_text(ctx));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantized numbers");
    TCase *tcase = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, quantized_numbers_are_calculated_with, 0, N_ROWS(numbers));
    tcase_add_loop_test(tcase, quantized_numbers_are_refused_with_a_reason, 0, N_ROWS(refused));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
