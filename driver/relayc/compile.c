/* compile.c - relayc_compile and its results. */
#include "driver/relayc/context.h"

#include <string.h>

static bool wants_log(const struct arguments *args)
{
    return has_option(args, OPTION_DUMP_AFTER) || has_option(args, OPTION_TIME_PASSES) ||
           has_option(args, OPTION_STATS);
}

static void prepare(relayc_context *context)
{
    struct call *now = context->call;
    struct driver_state *driver = &now->driver;

    *driver = driver_begin(now->ctx, COMMAND_COMPILE);
    driver->args.operands[0] = arena_strdup(&now->ctx->perm, context->text);
    now->events = log_events(context);
    now->outputs.ctx = now->ctx;
    driver->outputs = &now->outputs;
    driver->events = &now->events;
    for (const struct setting *s = context->settings; s; s = s->next)
        driver_give(driver, s->option, s->value);
    driver->log = wants_log(&driver->args) ? log_open(context) : NULL;
}

static void keep_files(struct call *now)
{
    const struct driver_state *driver = &now->driver;
    const int n = driver->emit.c ? driver->result.n_files : 0;

    now->files = arena_array(&now->ctx->perm, const char *, n + 2);
    for (int i = 0; i < n; i++)
        now->files[now->n_files++] = driver->result.files[i];
    if (!driver->emit.json)
        return;
    now->n_files += (size_t)driver_graph_files(driver, &now->files[now->n_files]);
}

static void compile(void *user)
{
    relayc_context *context = user;
    struct call *now;
    bool ok;

    context_begin(context);
    prepare(context);
    now = context->call;
    ok = driver_compile(&now->driver) && output_finish(&now->outputs);
    if (ok)
        keep_files(now);
    ok = ok && output_commit(&now->outputs);
    output_abort(&now->outputs);
    log_close(now->driver.log);
    module_free(now->driver.module);
    driver_free(&now->driver);
    if (!ok && !now->ctx->diags.n_errors)
        diag_error(now->ctx, DIAG_INTERNAL, NULL, "'compile' failed without a diagnostic");
    now->is_compiled = ok;
    if (!ok)
        now->n_files = 0;
    context_end(context);
}

relayc_status relayc_compile(relayc_context *context, const char *model)
{
    context->text = model;
    return context_call(context, compile);
}

const char *relayc_file(const relayc_context *context, size_t index)
{
    return context->call && index < context->call->n_files ? context->call->files[index] : NULL;
}

int relayc_number(const relayc_context *context, const char *name, unsigned long long *out)
{
    const struct call *last = context->call;
    const struct codegen_result none = { 0 };
    const struct codegen_result *result = last && last->is_compiled ? &last->driver.result : &none;
    const struct {
        const char *name;
        unsigned long long number;
    } numbers[] = {
        { "arena_bytes", result->arena_bytes },
        { "weight_bytes", result->weight_bytes },
        { "regions", (unsigned long long)result->n_regions },
        { "onnx_nodes", (unsigned long long)result->n_onnx_nodes },
        { "macs", (unsigned long long)result->macs },
    };

    *out = 0;
    if (result == &none || !last->driver.emit.c)
        return 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0) {
            *out = numbers[i].number;
            return 1;
        }
    return 0;
}
