/* context.c - contexts and their calls. */
#include "driver/relayc/context.h"

#include <stdlib.h>

#include "base/memory.h"

const char *relayc_version(void)
{
    return RELAYC_VERSION;
}

int relayc_version_number(void)
{
    return 10000 * RELAYC_VERSION_MAJOR + 100 * RELAYC_VERSION_MINOR + RELAYC_VERSION_PATCH;
}

static void forget(void *user)
{
    relayc_context *context = user;

    if (context->call)
        ctx_free(context->call->ctx);
    context->call = NULL;
    context->first = NULL;
}

void context_begin(relayc_context *context)
{
    struct ctx *ctx = ctx_new(NULL);

    context->call = arena_new(&ctx->perm, struct call);
    context->call->ctx = ctx;
}

relayc_status context_call(relayc_context *context, void (*body)(void *context))
{
    size_t bytes;

    (void)memory_attempt(context->owner, forget, context);
    if (!memory_guard(context->owner, body, context, &bytes)) {
        context->call = NULL;
        context->first = &context->no_memory;
        context->status = RELAYC_NO_MEMORY;
    }
    return context->status;
}

relayc_context *relayc_new(void)
{
    relayc_context *context = calloc(1, sizeof *context);

    if (!context)
        return NULL;
    context->owner = memory_owner_new();
    if (!context->owner) {
        free(context);
        return NULL;
    }
    context->no_memory.code = DIAG_OUT_OF_MEMORY;
    context->no_memory.severity = RELAYC_ERROR;
    context->no_memory.message = "out of memory";
    context->no_memory.node_index = -1;
    return context;
}

void relayc_free(relayc_context *context)
{
    if (!context)
        return;
    (void)memory_attempt(context->owner, forget, context);
    context_drop(context, OPTION_COUNT);
    memory_owner_free(context->owner);
    free(context);
}
