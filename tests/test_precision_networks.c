/* Whole networks in every precision: the generated C has the bits of the simulation, on every
 * processor. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "quantize/quantize.h"
#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const struct {
    const char *precision;
    bool calibrated, exact, quantized_io;
} modes[] = {
    { "f32", false, false, false },
    { "f16w", false, false, false },
    { "bf16w", false, false, false },
    { "fp8w", false, false, false },
    { "int8w", false, false, false },
    { "int8w=i4", false, false, false },
    { "afp=afp6", false, false, false },
    { "mxfp4", false, false, false },
    { "mxfp6", false, false, false },
    { "fp8", false, false, false },
    { "fp8", true, false, false },
    { "fp8=f8e5m2", true, false, false },
    { "fp8=f8e3m4,f8e4m3fnuz", true, false, false },
    { "fp8", true, true, true },
    { "int8", true, false, false },
    { "int8", true, false, true },
};

/* Two samples of ramps: enough for ranges. */
static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;

    (void)ctx;
    for (int i = 0; i < fn->n_params; i++) {
        const int64_t n = type_elements(&fn->params[i]->type);

        inputs[i] = tensor_new(bulk, &fn->params[i]->type);
        for (int64_t j = 0; j < n; j++)
            dtype_store(inputs[i].type.dtype, inputs[i].data, j,
                        (double)((j * 37 + index * 11) % 64) / 16 - 2);
    }
    return true;
}

static struct module *quantized(struct ctx *ctx, const char *path, int mode)
{
    const struct import_options import = { .n_shapes = 0 };
    struct pipeline_options pipeline = { .part = PIPELINE_PREPARE };
    struct module *module = onnx_import(ctx, path, &import);
    struct calibration_source samples = { .n = 2, .load = load };
    struct quantize_options options = { .n_threads = 1,
                                        .exact = modes[mode].exact,
                                        .quantized_io = modes[mode].quantized_io };
    struct quantize_report report;

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert(precision_parse(ctx, "", modes[mode].precision, &options.precision));
    samples.user = module->main;
    if (modes[mode].calibrated)
        options.samples = &samples;
    ck_assert_msg(pipeline_run(module, &pipeline), "%s", expect_text(ctx));
    ck_assert_msg(!quantize_wanted(&options) ||
                      quantize_module(module, &options, &pipeline, &report),
                  "%s", expect_text(ctx));
    pipeline.part = PIPELINE_FUSE;
    ck_assert_msg(pipeline_run(module, &pipeline), "%s", expect_text(ctx));
    return module;
}

START_TEST(digits_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, "examples/digits/digits.onnx", _i);

    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("precision_networks");
    TCase *tcase = tcase_create("precision_networks");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, digits_have_the_bits_of_the_simulation, 0, N_ROWS(modes));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
