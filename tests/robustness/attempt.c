/* attempt.c - one damaged file through relayc, in this process. */
#include <string.h>

#include "codegen_c/codegen.h"
#include "codegen_c/machine/machine.h"
#include "frontend/onnx/import.h"
#include "frontend/tensors/tensor_file.h"
#include "partition/partition.h"
#include "relay_ir/json.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "tests/robustness/robustness.h"

/* A failure has an error that is the file's fault; a success has none. */
static const char *judge(const struct ctx *ctx, bool ok)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            return "an internal error was reported";
    if (ok && ctx->diags.n_errors)
        return "it succeeded with errors";
    if (!ok && !ctx->diags.n_errors)
        return "it failed without an error";
    return NULL;
}

/* What C is generated with: the machines by turns, as the file has it, and where files go. */
struct output {
    const struct machine *machine;
    const char *dir;
};

static struct output output_of(const uint8_t *bytes, size_t size, const char *dir)
{
    size_t sum = size;

    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
    return (struct output){ &machines[sum % n_machines], dir };
}

static const char *generate(struct module *module, const struct output *output,
                            const struct targets *targets)
{
    const struct codegen_options options = { .name = "net",
                                             .dir = output->dir,
                                             .machine = output->machine,
                                             .model_file = "model.onnx",
                                             .model_sha256 = "",
                                             .command = "",
                                             .targets = targets };
    struct output_set set = { .ctx = module->ctx };
    struct codegen_result result = { 0 };
    const bool ok = codegen_c(module, &options, &set, &result);

    output_abort(&set);
    if (ok && result.n_files < 2)
        return "C was generated, but no files";
    return judge(module->ctx, ok);
}

static const char *compile(struct module *module, const struct output *output)
{
    struct targets targets;

    if (!module_verify(module, "import"))
        return "the module does not verify";
    if (!pipeline_run_checked(module, &(struct pipeline_options){ .log = stderr }, 1e7))
        return judge(module->ctx, false);
    if (!module_has_foreign_regions(module))
        return generate(module, output, NULL);
    if (!targets_load(module->ctx, 0, NULL, &targets))
        return "the targets that ship cannot be loaded";
    if (!partition_check_regions(module, &targets))
        return judge(module->ctx, false);
    return generate(module, output, &targets);
}

static const char *attempt_module(struct ctx *ctx, struct module *module,
                                  const struct output *output)
{
    const char *reason = judge(ctx, module != NULL);

    if (module && !reason)
        reason = compile(module, output);
    module_free(module);
    return reason;
}

static const char *attempt_model(struct ctx *ctx, const uint8_t *bytes, size_t size,
                                 const char *dir)
{
    const struct output output = output_of(bytes, size, dir);

    return attempt_module(
        ctx, onnx_import_bytes(ctx, bytes, size, NULL, &(struct import_options){ 0 }), &output);
}

static const char *attempt_text(struct ctx *ctx, const uint8_t *bytes, size_t size, const char *dir)
{
    const char *text = arena_strndup(&ctx->perm, (const char *)bytes, size);

    const struct output output = output_of(bytes, size, dir);

    return attempt_module(ctx, module_parse(ctx, text, NULL, true), &output);
}

static const char *attempt_json(struct ctx *ctx, const uint8_t *bytes, size_t size, const char *dir)
{
    const struct output output = output_of(bytes, size, dir);

    return attempt_module(ctx, module_read_json_bytes(ctx, (const char *)bytes, size, dir),
                          &output);
}

static const char *attempt_tensors(struct ctx *ctx, const uint8_t *bytes, size_t size)
{
    struct bulk bulk = { NULL, 0 };
    struct named_tensors all = { 0 };
    const bool ok = tensor_file_read_bytes(ctx, "x", bytes, size, &bulk, &all);
    const char *reason = judge(ctx, ok);

    for (int i = 0; ok && i < all.n; i++)
        if (type_bytes(&all.at[i].tensor.type) && !all.at[i].tensor.data)
            reason = "a tensor has no data";
    bulk_release(&bulk);
    return reason;
}

const char *attempt(enum kind kind, const uint8_t *bytes, size_t size, const char *dir)
{
    struct ctx *ctx = ctx_new("damaged");
    const char *reason = kind == KIND_MODEL  ? attempt_model(ctx, bytes, size, dir)
                         : kind == KIND_TEXT ? attempt_text(ctx, bytes, size, dir)
                         : kind == KIND_JSON ? attempt_json(ctx, bytes, size, dir)
                                             : attempt_tensors(ctx, bytes, size);

    diag_print(ctx, stderr, true, 3); /* diagnostics outlive what they speak of */
    ctx_free(ctx);
    return reason;
}
