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

#include "codegen_c/machine/machine.h"
#include "driver/driver.h"
#include "frontend/onnx/import.h"
#include "tests/support/temp_dir.h"

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

/* Where files are begun; none is completed. */
static const char *folder(void)
{
    static struct temp_dir dir;

    if (!dir.path)
        dir = temp_dir_new();
    return dir.path;
}

/* The options that the two bytes choose. */
static void give_options(struct driver_state *driver, const uint8_t choice[2])
{
    static const char *const modes[] = { "f32", "fp8",   "fp8w",  "int8w",
                                         "afp", "mxfp4", "bf16w", "fp8" };
    static const struct {
        int bit;
        enum option_id option;
        const char *value;
    } flags[] = {
        { 1, OPTION_DETERMINISTIC, "" },
        { 2, OPTION_OPTIMIZE, "size" },
        { 4, OPTION_GUARD, "" },
        { 8, OPTION_IO_IN_ARENA, "" },
        { 16, OPTION_PARALLEL, "2" },
        { 32, OPTION_STEP, "" },
        { 64, OPTION_POOL, "near=4096,fast" },
        { 64, OPTION_POOL, "far=1G,slow" },
        { 128, OPTION_RAM, "4096" },
    };

    driver_give(driver, OPTION_NAME, "net");
    driver_give(driver, OPTION_OUTPUT_DIR, folder());
    driver_give(driver, OPTION_THREADS, "1");
    driver_give(driver, OPTION_WINOGRAD, "auto");
    driver_give(driver, OPTION_TARGET, machines[(choice[0] >> 3) % n_machines].name);
    if (choice[0] & 7)
        driver_give(driver, OPTION_PRECISION, modes[choice[0] & 7]);
    if ((choice[0] & 7) == 7)
        driver_give(driver, OPTION_ARITHMETIC, "integer");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (choice[1] & flags[i].bit)
            driver_give(driver, flags[i].option, flags[i].value);
}

static bool compile(struct module *module, const uint8_t choice[2], struct output_set *set)
{
    struct driver_state driver = driver_begin(module->ctx, COMMAND_COMPILE);
    bool ok;

    give_options(&driver, choice);
    driver.outputs = set;
    driver.check_limit = 1e6;
    ok = driver_prepare(&driver);
    if (!ok) /* the options are right */
        abort();
    driver_take(&driver, module);
    ok = driver_run(&driver, STAGE_PRINT);
    driver_free(&driver);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shape_binding bindings[] = { { "N", 1, { 2 }, false } };
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
