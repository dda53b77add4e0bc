/* diagnostics.c - the diagnostics of a call, for its caller. */
#include "driver/relayc/context.h"

#include "base/str.h"

static relayc_status status_of(const struct ctx *ctx)
{
    return (relayc_status)diag_exit_code(ctx);
}

static const char *safe(struct ctx *ctx, const char *text)
{
    return text && *text ? str_safe(&ctx->perm, text, 4096) : NULL;
}

/* Names come out of models: what is printed of them must be printable. */
void context_end(relayc_context *context)
{
    struct ctx *ctx = context->call->ctx;
    const struct relayc_diagnostic **end = &context->first;

    for (const struct diag *d = ctx->diags.first; d; d = d->next) {
        struct relayc_diagnostic *out = arena_new(&ctx->perm, struct relayc_diagnostic);

        *out = (struct relayc_diagnostic){
            .code = (int)d->code,
            .severity = d->severity == DIAG_ERROR ? RELAYC_ERROR : RELAYC_WARNING,
            .file = safe(ctx, d->file),
            .node = d->origin ? safe(ctx, d->origin->name) : NULL,
            .operator_name = d->origin ? safe(ctx, d->origin->op_type) : NULL,
            .message = d->message,
            .note = d->note,
            .help = d->help,
            .node_index = d->origin ? d->origin->index : -1,
        };
        *end = out;
        end = &out->next;
    }
    context->status = status_of(ctx);
}

const relayc_diagnostic *relayc_next_diagnostic(const relayc_context *context,
                                                const relayc_diagnostic *previous)
{
    return previous ? previous->next : context->first;
}

int relayc_diagnostic_code(const relayc_diagnostic *diagnostic)
{
    return diagnostic->code;
}

relayc_severity relayc_diagnostic_severity(const relayc_diagnostic *diagnostic)
{
    return diagnostic->severity;
}

const char *relayc_diagnostic_message(const relayc_diagnostic *diagnostic)
{
    return diagnostic->message;
}

const char *relayc_diagnostic_note(const relayc_diagnostic *diagnostic)
{
    return diagnostic->note;
}

const char *relayc_diagnostic_help(const relayc_diagnostic *diagnostic)
{
    return diagnostic->help;
}

const char *relayc_diagnostic_file(const relayc_diagnostic *diagnostic)
{
    return diagnostic->file;
}

const char *relayc_diagnostic_node(const relayc_diagnostic *diagnostic)
{
    return diagnostic->node;
}

const char *relayc_diagnostic_operator(const relayc_diagnostic *diagnostic)
{
    return diagnostic->operator_name;
}

long relayc_diagnostic_node_index(const relayc_diagnostic *diagnostic)
{
    return diagnostic->node_index;
}

const char *relayc_explain(int code)
{
    return diag_explanation((enum diag_code)code);
}
