/* fuzz_import.c - libFuzzer's entry to the ONNX importer, shape inference and the evaluation of
 * constants included.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined ... && ./fuzz_import CORPUS
 *
 * Whatever the bytes: no crash, and either a graph that verifies or at least one error that is not
 * an internal one. The first byte chooses whether inputs get a shape. */
#include <stdint.h>
#include <stdlib.h>

#include "frontend/onnx/import.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct ctx *ctx, struct module *module)
{
    if (!module && ctx->diags.n_errors == 0)
        abort();
    if (module && (ctx->diags.n_errors || !module_verify(module, "import")))
        abort();
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shape_binding bindings[] = { { "x", 4, { 1, 3, 8, 8 }, false },
                                                     { "N", 1, { 2 }, true } };
    static const double numbers[] = { 1, 0, -1, 2.5 };
    static const struct frozen_input frozen[] = { { "x", 1, numbers }, { "s", 4, numbers } };
    struct import_options options = { .shapes = bindings, .frozen = frozen };
    struct ctx *ctx = ctx_new("fuzz.onnx");
    struct module *module;

    if (size) {
        options.n_shapes = data[0] & 1 ? 2 : 0;
        options.n_frozen = data[0] & 2 ? 2 : 0;
        data++;
        size--;
    }
    module = onnx_import_bytes(ctx, data, size, NULL, &options);
    check(ctx, module);
    if (module)
        (void)pipeline_run_one(module, "fold_constant");
    module_free(module);
    ctx_free(ctx);
    return 0;
}
