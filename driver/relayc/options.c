/* options.c - options by name. */
#include "driver/relayc/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void context_drop(relayc_context *context, enum option_id option)
{
    for (struct setting **at = &context->settings; *at;) {
        struct setting *setting = *at;

        if (option != OPTION_COUNT && setting->option != option) {
            at = &setting->next;
            continue;
        }
        *at = setting->next;
        free(setting);
    }
}

static bool is_taken(enum option_id option)
{
    return option_rows[option].reader == READ_BY_DRIVER && option_rows[option].commands & C_COMPILE;
}

static void unknown_option(struct ctx *ctx, const char *name)
{
    const char *names[OPTION_COUNT], *nearest;
    size_t n = 0;

    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_taken((enum option_id)i))
            names[n++] = option_rows[i].name;
    diag_error(ctx, DIAG_USAGE, NULL, "compile has no option '%s' for libraries",
               str_safe(&ctx->perm, name, 80));
    nearest = str_nearest(name, names, n);
    if (nearest)
        diag_help(ctx, "did you mean '%s'?", nearest);
    else
        diag_help(ctx, "relayc_option_at lists them");
}

/* OPTION_COUNT after an error. */
static enum option_id find_option(struct ctx *ctx, const char *name)
{
    const enum option_id option = option_find(name);

    if (option != OPTION_COUNT && is_taken(option))
        return option;
    unknown_option(ctx, name);
    return OPTION_COUNT;
}

static void check_setting(void *user)
{
    relayc_context *context = user;
    enum option_id option;

    context_begin(context);
    option = find_option(context->call->ctx, context->name);
    if (option != OPTION_COUNT && !option_rows[option].argument && context->text && *context->text)
        diag_error(context->call->ctx, DIAG_USAGE, NULL, "option --%s takes no value",
                   context->name);
    if (option != OPTION_COUNT && option_rows[option].argument && !context->text)
        diag_error(context->call->ctx, DIAG_USAGE, NULL, "option --%s needs a value",
                   context->name);
    context_end(context);
}

relayc_status relayc_set(relayc_context *context, const char *name, const char *value)
{
    const size_t n = strlen(value ? value : "") + 1;
    struct setting *setting, **end = &context->settings;

    context->name = name;
    context->text = value;
    if (context_call(context, check_setting) != RELAYC_OK)
        return context->status;
    setting = malloc(sizeof *setting + n);
    if (!setting) {
        context->first = &context->no_memory;
        return context->status = RELAYC_NO_MEMORY;
    }
    setting->next = NULL;
    setting->option = option_find(name);
    memcpy(setting->value, value ? value : "", n);
    while (*end)
        end = &(*end)->next;
    *end = setting;
    return RELAYC_OK;
}

static void check_name(void *user)
{
    relayc_context *context = user;

    context_begin(context);
    if (context->name)
        find_option(context->call->ctx, context->name);
    context_end(context);
}

relayc_status relayc_unset(relayc_context *context, const char *name)
{
    context->name = name;
    if (context_call(context, check_name) == RELAYC_OK)
        context_drop(context, name ? option_find(name) : OPTION_COUNT);
    return context->status;
}

int relayc_option_at(size_t index, relayc_option *out)
{
    const size_t size = out->size < sizeof *out ? out->size : sizeof *out;
    relayc_option found = { .size = out->size };

    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!is_taken((enum option_id)i) || index-- > 0)
            continue;
        found.name = option_rows[i].name;
        found.argument = option_rows[i].argument;
        found.help = option_rows[i].help;
        memcpy(out, &found, size);
        return 1;
    }
    return 0;
}
