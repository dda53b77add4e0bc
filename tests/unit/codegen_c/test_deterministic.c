/* --deterministic: which functions of <math.h> are refused, and where; what the text says. Whether
 * the bits are the same everywhere, tests/e2e/run_deterministic tells. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

/* A chain "%y = OPERATOR" of the type, with operands %a and %b. */
static struct module *chain(struct ctx *ctx, const char *type, const char *operator)
{
    const char *text = arena_printf(&ctx->perm,
                                    "fn main(%%a: (5) %s, %%b: (5) %s) -> (%%y) {\n"
                                    "  %%y = %s : (5) %s\n}\n",
                                    type, type, operator, type);

    return generated_module(ctx, &(struct generated_case){ .text = text });
}

static bool generate(struct module *module, struct output_set *set)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = "none",
                                             .model_file = "net.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .deterministic = true };
    struct codegen_result result;

    return codegen_c(module, &options, set, &result);
}

/* called: the function of <math.h> that is refused; NULL = taken. */
static const struct {
    const char *type, *operator, * called;
} operators[] = {
    { "f32", "tan(%a)", "tan of f32 calls tanf" },
    { "f32", "power(%a, %b)", "power of f32 calls powf" },
    { "f32", "acosh(%a)", "acosh of f32 calls acoshf" },
    { "f64", "cos(%a)", "cos of f64 calls cos of" },
    { "f64", "exp(%a)", "exp of f64 calls exp of" },
    { "f64", "sigmoid(%a)", "sigmoid of f64 calls exp of" },
    { "f64", "nn.gelu(%a) {approximate=\"none\"}", "nn.gelu of f64 calls erfc" },
    { "f64", "nn.mish(%a)", "nn.mish of f64 calls" },
    { "f32", "exp(%a)", NULL },
    { "f32", "erf(%a)", NULL },
    { "f32", "nn.gelu(%a) {approximate=\"none\"}", NULL },
    { "f32", "nn.mish(%a)", NULL },
    { "f32", "cos(%a)", NULL },
    { "f32", "sin(%a)", NULL },
    { "f32", "sqrt(%a)", NULL },
    { "f32", "mod(%a, %b)", NULL },
    { "f32", "floor_mod(%a, %b)", NULL },
    { "f32", "round(%a)", NULL },
    { "f64", "divide(%a, %b)", NULL },
    { "f64", "nn.relu(%a)", NULL },
    { "i32", "power(%a, %b)", NULL },
};

START_TEST(functions_that_differ_are_refused)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct output_set set = { .ctx = ctx };
    struct module *module = chain(ctx, operators[_i].type, operators[_i].operator);
    const bool ok = generate(module, &set);

    ck_assert_msg(ok == !operators[_i].called, "%s: %s", operators[_i].operator, expect_text(ctx));
    if (operators[_i].called)
        ck_assert_msg(expect_error(ctx, DIAG_NOT_DETERMINISTIC, operators[_i].called), "%s",
                      expect_text(ctx));
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* All of them at once; in the middle of a chain, and in a kernel's own text. */
START_TEST(every_node_is_named)
{
    static const char text[] =
        "fn main(%x: (1,2,4,4) f32) -> (%z, %l) {\n"
        "  %a = nn.relu(%x) : (1,2,4,4) f32\n"
        "  %b = sinh(%a) : (1,2,4,4) f32\n"
        "  %c = exp(%b) : (1,2,4,4) f32\n"
        "  %z = tan(%c) : (1,2,4,4) f32\n"
        "  %l = nn.lp_pool2d(%x) {pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], "
        "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=3} : (1,2,2,2) f32\n"
        "}\n";
    struct ctx *ctx = ctx_new("net.onnx");
    struct output_set set = { .ctx = ctx };
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });

    ck_assert(!generate(module, &set));
    ck_assert_msg(expect_error(ctx, DIAG_NOT_DETERMINISTIC, "sinh of f32 calls sinhf"), "%s",
                  expect_text(ctx));
    ck_assert(expect_error(ctx, DIAG_NOT_DETERMINISTIC, "tan of f32 calls tanf"));
    ck_assert(expect_error(ctx, DIAG_NOT_DETERMINISTIC, "nn.lp_pool2d of f32 calls powf"));
    ck_assert(!expect_error(ctx, DIAG_NOT_DETERMINISTIC, "exp of"));
    ck_assert(!expect_error(ctx, DIAG_NOT_DETERMINISTIC, "nn.relu"));
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deterministic");
    TCase *tests = tcase_create("deterministic");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, functions_that_differ_are_refused, 0,
                        (int)(sizeof operators / sizeof *operators));
    tcase_add_test(tests, every_node_is_named);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
