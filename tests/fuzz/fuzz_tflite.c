/* fuzz_tflite.c - libFuzzer's entry to the TensorFlow Lite importer, shape inference and the
 * evaluation of constants included.
 *
 * Whatever the bytes: no crash, and either a graph that verifies or at least one error that is not
 * an internal one. Seeds: $RELAYC_SHARED/tflite. */
#include <stdint.h>
#include <stdlib.h>

#include "frontend/tflite/import.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.tflite");
    struct module *module = tflite_import_bytes(ctx, data, size);

    if (!module && ctx->diags.n_errors == 0)
        abort();
    if (module && (ctx->diags.n_errors || !module_verify(module, "import")))
        abort();
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            abort();
    if (module)
        (void)pipeline_run_one(module, "fold_constant");
    module_free(module);
    ctx_free(ctx);
    return 0;
}
