#include "driver/sized_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* --shape of a size chooses what is run, not what is compiled. */
static void drop_shapes(struct driver_state *driver, const struct variants *variants)
{
    struct option_values *shapes = &driver->args.options[OPTION_SHAPE];
    const struct option_values given = *shapes;

    *shapes = (struct option_values){ 0 };
    for (int i = 0; i < given.n; i++) {
        const struct option_values one = { .n = 1, .at = &given.at[i] };
        bool is_size = false;

        for (int s = 0; s < variants->n_symbols; s++)
            is_size = is_size || size_given(&one, variants->symbols[s].name);
        if (!is_size)
            option_add(driver->ctx, shapes, given.at[i]);
    }
}

/* To the folder; what is run, and on what, is no business of the compilation. */
static bool compile(struct driver_state *given, struct sized_code *out)
{
    struct driver_state *driver = &out->driver;
    struct output_set set = { .ctx = given->ctx };
    const struct variants *variants;

    driver->args = given->args;
    driver->events = given->events;
    driver->log = given->log;
    if (given->args.command == COMMAND_RUN)
        driver->args.options[OPTION_INPUT].n = 0;
    if (given->args.command == COMMAND_BENCH) /* of the program that is timed */
        driver->args.options[OPTION_CC].n = driver->args.options[OPTION_CFLAGS].n = 0;
    variants = variants_read(driver);
    if (!variants)
        return false;
    drop_shapes(driver, variants);
    driver->outputs = &set;
    option_add(given->ctx, &driver->args.options[OPTION_OUTPUT_DIR], out->code.dir);
    option_add(given->ctx, &driver->args.options[OPTION_NAME], "model");
    if (!driver_compile(driver)) {
        output_abort(&set);
        return false;
    }
    out->code.result = driver->result;
    out->code.files = driver->result.files;
    out->code.n_files = driver->result.n_files;
    out->variants = driver->module->variants;
    return output_commit(&set);
}

bool sized_code_write(struct driver_state *given, struct sized_code *out)
{
    *out = (struct sized_code){ .driver = driver_begin(given->ctx, COMMAND_COMPILE) };
    return host_code_folder(given, &out->code) && compile(given, out);
}

bool sized_code_build(struct driver_state *given, struct sized_code *out)
{
    struct generated_options options = { .name = "model" };

    if (!sized_code_write(given, out))
        return false;
    options.dir = out->code.dir;
    options.files = out->code.files;
    options.n_files = out->code.n_files;
    options.flags = host_code_flags(&out->driver);
    options.memory.n_sizes = out->variants->n_symbols;
    driver_begins(given, "building the C");
    out->code.generated = generated_build(given->ctx, out->driver.module->main, &options);
    return out->code.generated != NULL;
}

const int32_t *sized_code_sizes(const struct sized_code *code, int v)
{
    const struct variants *variants = code->variants;
    int32_t *sizes = arena_array(&code->driver.ctx->perm, int32_t, variants->n_symbols);

    for (int s = 0; s < variants->n_symbols; s++)
        sizes[s] = (int32_t)variants->at[v].values[s];
    return sizes;
}

int sized_code_chosen(const struct driver_state *driver, const struct sized_code *code)
{
    const struct variants *variants = code->variants;
    int chosen = -1;

    for (int v = 0; v < variants->n && chosen < 0; v++) {
        bool same = true;

        for (int s = 0; s < variants->n_symbols; s++) {
            const char *value =
                size_given(&driver->args.options[OPTION_SHAPE], variants->symbols[s].name);

            same = same && value && strtoll(value, NULL, 10) == variants->at[v].values[s];
        }
        chosen = same ? v : -1;
    }
    if (chosen < 0) {
        diag_error(driver->ctx, DIAG_USAGE, NULL,
                   "--vary: --shape gives no size that the code takes");
        diag_help(driver->ctx, "for example --shape %s",
                  variant_text(&driver->ctx->perm, variants, 0));
    }
    return chosen;
}

void sized_code_free(struct sized_code *code)
{
    host_code_free(&code->code);
    module_free(code->driver.module);
    driver_free(&code->driver);
}
