/* attempt.c - one damaged file through relayc, in this process. */
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "driver/driver.h"
#include "frontend/onnx/import.h"
#include "frontend/tensors/tensor_file.h"
#include "relay_ir/json.h"
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

/* What C is generated with: the machines in rotation, as the file has it, and where files go. */
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

static const char *compile(struct module *module, const struct output *output)
{
    struct driver_state driver = driver_begin(module->ctx, COMMAND_COMPILE);
    struct output_set set = { .ctx = module->ctx };
    bool ok;

    if (!module_verify(module, "import"))
        return "the module does not verify";
    driver_give(&driver, OPTION_NAME, "net");
    driver_give(&driver, OPTION_OUTPUT_DIR, output->dir);
    driver_give(&driver, OPTION_TARGET, output->machine->name);
    driver_give(&driver, OPTION_WINOGRAD, "auto");
    driver.outputs = &set;
    driver.check_limit = 1e6; /* as in fuzz_compile.c: sanitized evaluation is slow */
    driver_take(&driver, module);
    ok = driver_prepare(&driver) && driver_run(&driver, STAGE_PRINT);
    output_abort(&set);
    driver_free(&driver);
    if (ok && driver.result.n_files < 2)
        return "C was generated, but no files";
    return judge(module->ctx, ok);
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
