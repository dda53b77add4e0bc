/* Plans print nothing: whatever orders and stripes are tried, the template of each function of the
 * output is expanded once, and none where only the plan is wanted. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "driver/driver.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/stripe_case.h"
#include "tests/support/temp_dir.h"

/* Two of them alike, and larger than the arena may be. */
static const char network[] = HEAD("(1,16,16,8)") WEIGHT("w", "8,8,3,3") WEIGHT("v", "8,8,3,3")
    WEIGHT("u", "2,8,3,3") "  %a = nn.conv2d(%x, @w) " SAME ": (1,16,16,8) f32\n"
                           "  %b = nn.conv2d(%a, @v) " SAME ": (1,16,16,8) f32\n"
                           "  %y = nn.conv2d(%b, @u) " SAME ": (1,16,16,2) f32\n}\n";

static const struct {
    const char *what;
    struct codegen_options options;
    bool many_plans, fits;
} cases[] = {
    { "as usual", { .ram = 0 }, false, true },
    { "stripes", { .ram = 4096 }, true, true },
    { "no plan fits", { .ram = 64 }, true, false },
    { "pools",
      { .n_pools = 1, .pools = &(struct codegen_pool){ .name = "a", .bytes = 8192 } },
      true,
      true },
    { "parts", { .parts = 3 }, false, true },
    { "shared functions", { .optimize_size = true }, false, true },
};

/* *c: NAME.c, "" where none is written. */
static struct codegen_result compile(struct ctx *ctx, int i, bool plan_only, const char **c)
{
    struct temp_dir dir = temp_dir_new();
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = network });
    struct codegen_options options = cases[i].options;
    struct output_set set = { .ctx = ctx };
    struct codegen_result result;
    struct mapping file;

    options.name = "net";
    options.dir = dir.path;
    options.model_file = "net.onnx";
    options.model_sha256 = options.command = "";
    *c = "";
    if (!(plan_only ? codegen_sizes(module, &options, &result)
                    : codegen_c(module, &options, &set, &result))) {
        ck_assert_msg(!cases[i].fits && ctx->diags.latest->code == DIAG_RAM, "%s",
                      expect_text(ctx));
        output_abort(&set);
    } else {
        ck_assert(output_commit(&set));
    }
    if (result.n_files) {
        ck_assert_msg(file_map(ctx, temp_path(&dir, "net.c"), &file), "%s", expect_text(ctx));
        *c = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
        file_unmap(&file);
    }
    temp_dir_free(&dir);
    module_free(module);
    return result;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(each_function_is_printed_once)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *c;
    const struct codegen_result result = compile(ctx, _i, false, &c);
    const int n_functions = count(c, "\nstatic NOINLINE ");

    ck_assert_msg((result.n_plans > 1) == cases[_i].many_plans, "%s: %d plans", cases[_i].what,
                  result.n_plans);
    ck_assert_msg(result.n_printed == n_functions, "%s: %d printed, %d there", cases[_i].what,
                  result.n_printed, n_functions);
    ck_assert_msg((*c != 0) == cases[_i].fits, "%s", cases[_i].what);
    ctx_free(ctx);
}
END_TEST

/* Each has its own order of the three weights at most. */
START_TEST(weights_are_packed_once_for_all_plans)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *c;
    const struct codegen_result result = compile(ctx, _i, true, &c);

    ck_assert_msg(result.n_packed == 3, "%s: %d packed, %d plans", cases[_i].what, result.n_packed,
                  result.n_plans);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_plan_alone_prints_nothing)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *c;
    const struct codegen_result whole = compile(ctx, _i, false, &c),
                                plan = compile(ctx, _i, true, &c);

    ck_assert_int_eq(plan.n_printed, 0);
    ck_assert_int_eq(plan.n_plans, whole.n_plans);
    ck_assert_uint_eq(plan.arena_bytes, whole.arena_bytes);
    ck_assert_uint_eq(plan.weight_bytes, whole.weight_bytes);
    ctx_free(ctx);
}
END_TEST

/* --- backends --------------------------------------------------------------------------------- */

static const struct {
    const char *target, *precision, *ram;
    bool has_prologue, many_plans;
} backends[] = {
    { "dnnl", NULL, NULL, true, false },
    { "dnnl", NULL, "8K", true, true },
    { "sim_npu", "fp8", NULL, true, false },
};

static const char *read_text(struct ctx *ctx, const char *path)
{
    struct mapping file;
    const char *text;

    ck_assert_msg(file_map(ctx, path, &file), "%s", expect_text(ctx));
    text = arena_strndup(&ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    return text;
}

/* Templates of composites, of regions, and the prologue. */
START_TEST(templates_of_backends_are_printed_once)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct temp_dir dir = temp_dir_new();
    struct driver_state driver = driver_begin(ctx, COMMAND_COMPILE);
    struct output_set set = { .ctx = ctx };
    const char *target = backends[_i].target, *ours, *theirs;
    int n_composites;

    driver.args.operands[0] = "examples/digits/digits.onnx";
    driver.outputs = &set;
    driver_give(&driver, OPTION_NAME, "net");
    driver_give(&driver, OPTION_OUTPUT_DIR, dir.path);
    driver_give(&driver, OPTION_OFFLOAD, target);
    driver_give(&driver, OPTION_NO_COST, "");
    if (backends[_i].precision)
        driver_give(&driver, OPTION_PRECISION, backends[_i].precision);
    if (backends[_i].ram) {
        driver_give(&driver, OPTION_RAM, backends[_i].ram);
        driver_give(&driver, OPTION_FORCE, "");
    }
    ck_assert_msg(driver_prepare(&driver) && driver_run(&driver, STAGE_BUDGET), "%s",
                  expect_text(ctx));
    ck_assert_int_eq(driver.result.n_printed, 0);
    ck_assert_int_eq(driver.result.n_plans > 1, backends[_i].many_plans);
    ck_assert_msg(driver_run(&driver, STAGE_PRINT) && output_commit(&set), "%s", expect_text(ctx));
    ours = read_text(ctx, temp_path(&dir, "net.c"));
    theirs = read_text(ctx, temp_path(&dir, arena_printf(&ctx->perm, "net_%s.c", target)));
    n_composites = count(theirs, arena_printf(&ctx->perm, "    /* %s.", target));
    ck_assert_int_gt(count(theirs, arena_printf(&ctx->perm, "\nint net_%s_", target)), 0);
    ck_assert_int_eq(driver.result.n_printed,
                     count(ours, "\nstatic NOINLINE ") + n_composites + backends[_i].has_prologue +
                         count(theirs, arena_printf(&ctx->perm, "\nint net_%s_", target)));
    module_free(driver.module);
    driver_free(&driver);
    temp_dir_free(&dir);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("print_once");
    TCase *tests = tcase_create("all");
    const int n = (int)(sizeof cases / sizeof *cases);
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, each_function_is_printed_once, 0, n);
    tcase_add_loop_test(tests, a_plan_alone_prints_nothing, 0, n);
    tcase_add_loop_test(tests, weights_are_packed_once_for_all_plans, 0, n);
    tcase_add_loop_test(tests, templates_of_backends_are_printed_once, 0,
                        (int)(sizeof backends / sizeof *backends));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
