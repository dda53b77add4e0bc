#include "tests/support/precision.h"

#include <check.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"

struct module *precision_network(struct ctx *ctx, const char *path,
                                 const struct import_options *import,
                                 const struct precision_case *mode,
                                 const struct calibration_source *samples)
{
    const struct import_options fixed = { .n_shapes = 0 };
    struct pipeline_options pipeline = { .part = PIPELINE_PREPARE };
    struct module *module = onnx_import(ctx, path, import ? import : &fixed);
    struct quantize_options options = { .n_threads = 1,
                                        .exact = mode->exact,
                                        .quantized_io = mode->quantized_io };
    struct quantize_report report;

    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    pipeline.validation = validation_new(module, NULL);
    ck_assert(precision_parse(ctx, "", mode->precision, &options.precision));
    if (mode->calibrated)
        options.samples = samples;
    ck_assert_msg(pipeline_run(module, &pipeline), "%s", expect_text(ctx));
    ck_assert_msg(!quantize_wanted(&options) ||
                      quantize_module(module, &options, &pipeline, &report),
                  "%s", expect_text(ctx));
    pipeline.part = PIPELINE_FUSE;
    ck_assert_msg(pipeline_run(module, &pipeline) && validation_end(pipeline.validation, module),
                  "%s", expect_text(ctx));
    validation_free(pipeline.validation);
    return module;
}
