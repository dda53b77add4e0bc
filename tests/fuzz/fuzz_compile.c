/* fuzz_compile.c - libFuzzer's entry to a whole compilation: importer, passes, precisions, plan,
 * text.
 *
 *   build/fuzz/fuzz_compile CORPUS    with the models of the ONNX node tests, for example
 *
 * The first two bytes choose the precision, the machine and the options, the rest is the model.
 * Whatever the bytes: no crash, no internal error, files or at least one error, and the same files
 * from the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "frontend/onnx/import.h"
#include "quantize/quantize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The most multiply-accumulates and bytes of intermediates of a model that is compiled: more is
 * slow, not new. */
#define MOST_WORK 5e7

static bool is_small(const struct module *module)
{
    double bytes = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            bytes += (double)type_elements(&node->outputs[i]->type);
    return bytes < MOST_WORK;
}

static bool quantize(struct module *module, int choice, struct validation *validation)
{
    static const char *const modes[] = { "f32", "fp8",   "fp8w",  "int8w",
                                         "afp", "mxfp4", "bf16w", "fp8" };
    struct quantize_options options = { .n_threads = 1 };
    struct quantize_report report;

    if (!precision_parse(module->ctx, "fuzz", modes[choice], &options.precision))
        abort();
    options.exact = choice == 7;
    return !quantize_wanted(&options) ||
           quantize_module(module, &options, &(struct pipeline_options){ .validation = validation },
                           &report);
}

static bool compile(struct module *module, const uint8_t choice[2], struct output_set *set)
{
    static const struct codegen_pool pools[] = {
        { .name = "near", .bytes = 4096, .speed = POOL_FAST },
        { .name = "far", .bytes = 1 << 30, .speed = POOL_SLOW }
    };
    const struct codegen_options options = {
        .machine = &machines[(choice[0] >> 3) % n_machines],
        .name = "net",
        .dir = "/nowhere",
        .model_file = "net.onnx",
        .model_sha256 = "",
        .command = "",
        .plan_only = true,
        .deterministic = choice[1] & 1,
        .optimize_size = choice[1] & 2,
        .guard = choice[1] & 4,
        .io_in_arena = choice[1] & 8,
        .parts = choice[1] & 16 ? 2 : 0,
        .step = choice[1] & 32,
        .n_pools = choice[1] & 64 ? 2 : 0,
        .pools = pools,
        .ram = choice[1] & 128 ? 4096 : 0,
    };
    struct codegen_result result;

    const struct validation_options checks = { .seed = 1, .limit = 1e6 };
    struct pipeline_options part = { .part = PIPELINE_PREPARE,
                                     .validation = validation_new(module, &checks) };
    bool ok = pipeline_run(module, &part) && quantize(module, choice[0] & 7, part.validation);

    part.part = PIPELINE_FUSE;
    ok = ok && pipeline_run(module, &part) && validation_end(part.validation, module);
    validation_free(part.validation);
    return ok && codegen_c(module, &options, set, &result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shape_binding bindings[] = { { "N", 1, { 2 } } };
    const struct import_options options = { .n_shapes = 1, .shapes = bindings };
    struct ctx *ctx;
    struct module *module;
    struct output_set set;
    bool ok = true;

    if (size < 2)
        return 0;
    ctx = ctx_new("fuzz.onnx");
    set = (struct output_set){ .ctx = ctx };
    module = onnx_import_bytes(ctx, data + 2, size - 2, NULL, &options);
    if (module && is_small(module))
        ok = compile(module, data, &set);
    if ((!module || !ok) != (ctx->diags.n_errors > 0))
        abort();
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            abort();
    output_abort(&set);
    module_free(module);
    ctx_free(ctx);
    return 0;
}
