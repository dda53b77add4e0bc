/* fuzz_json.c - libFuzzer's entry to the reader of JSON graphs. Whatever the bytes: no crash, a
 * refusal has an error that is the file's fault, and what is accepted is a sound graph that is
 * written and read back as itself, and passes through the pipeline. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "driver/driver.h"
#include "relay_ir/json.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
#include "tests/support/temp_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *print(struct ctx *ctx, const struct module *module)
{
    struct str text = { .arena = &ctx->perm };

    module_print(module, &text);
    return str_text(&text);
}

static bool has_internal_error(const struct ctx *ctx)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->code == DIAG_INTERNAL)
            return true;
    return false;
}

/* In a folder of its own, which stays for the next input. */
static const char *folder(void)
{
    static struct temp_dir dir;

    if (!dir.path)
        dir = temp_dir_new();
    return dir.path;
}

static void check_round_trip(struct ctx *ctx, const struct module *module)
{
    struct output_set set = { .ctx = ctx };
    const char *path = arena_printf(&ctx->perm, "%s/graph.json", folder());
    struct module *again;

    if (!module_write_json(module, &set, path,
                           arena_printf(&ctx->perm, "%s/graph.bin", folder())) ||
        !output_commit(&set))
        abort();
    again = module_read_json(ctx, path);
    if (!again || strcmp(print(ctx, again), print(ctx, module)) != 0)
        abort();
    module_free(again);
}

static void run_all_passes(struct ctx *ctx, struct module *module)
{
    struct driver_state driver = driver_begin(ctx, COMMAND_INSPECT);

    driver_take(&driver, module);
    driver_run(&driver, STAGE_FUSE);
    driver_free(&driver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx *ctx = ctx_new("fuzz.json");
    struct module *module = module_read_json_bytes(ctx, (const char *)data, size, NULL);

    if (!module != (ctx->diags.n_errors > 0) || has_internal_error(ctx) ||
        (module && !module_verify(module, "reading")))
        abort();
    if (module) {
        check_round_trip(ctx, module);
        run_all_passes(ctx, module);
        if (has_internal_error(ctx))
            abort();
    }
    module_free(module);
    ctx_free(ctx);
    return 0;
}
