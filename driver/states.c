/* states.c - --state INPUT=OUTPUT: what a network hands to its next run becomes a state (relay_ir/state.h). */
#include <string.h>

#include "base/str.h"
#include "driver/driver.h"
#include "relay_ir/state.h"

static int find_result(const struct function *fn, const char *name)
{
    for (int i = 0; i < fn->ret->n_inputs; i++)
        if (strcmp(fn->result_names[i], name) == 0)
            return i;
    return -1;
}

static const char *result_list(struct ctx *ctx, const struct function *fn)
{
    struct str text = { .arena = &ctx->perm };

    for (int i = 0; i < fn->ret->n_inputs; i++)
        str_printf(&text, "%s'%s' %s", i ? ", " : "",
                   str_safe(&ctx->perm, fn->result_names[i], 100),
                   type_text(&ctx->perm, &fn->ret->inputs[i]->type));
    return str_text(&text);
}

/* Names may hold '=': the first split of which both sides are there. */
static bool split(const struct function *fn, const char *text, struct state *state)
{
    for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
        state->param = driver_param_index(fn, text, (size_t)(at - text));
        state->result = find_result(fn, at + 1);
        if (state->param >= 0 && state->result >= 0)
            return true;
    }
    return false;
}

static bool bind_state(struct driver_state *driver, struct module *module, const char *text)
{
    const struct function *main = module->main;
    struct ctx *ctx = driver->ctx;
    const char *shown = str_safe(&ctx->perm, text, 200);
    struct state state = { 0 };
    const struct type *in, *out;

    if (!split(main, text, &state)) {
        diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                   "--state: '%s' is not INPUT=OUTPUT with names of the model", shown);
        diag_help(ctx, "its inputs are %s; its outputs are %s", driver_param_list(ctx, main),
                  result_list(ctx, main));
        return false;
    }
    if (state_of_param(module, state.param) || state_of_result(module, state.result)) {
        diag_error(ctx, DIAG_USAGE, NULL, "--state: '%s' names what is a state already", shown);
        diag_help(ctx, "remove one of them");
        return false;
    }
    in = &main->params[state.param]->type;
    out = &main->ret->inputs[state.result]->type;
    if (in->dtype == out->dtype && type_same_shape(in, out)) {
        state_add(module, &state);
        return true;
    }
    diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "--state: '%s' joins %s and %s", shown,
               type_text(&ctx->perm, in), type_text(&ctx->perm, out));
    diag_help(ctx,
              "a state goes in as it came out: the same shape and element type (--shape fixes a "
              "dimension that is free)");
    return false;
}

bool bind_states(struct driver_state *driver, struct module *module)
{
    const struct option_values *given = &driver->args.options[OPTION_STATE];
    bool ok = true;

    for (int i = 0; i < given->n; i++)
        ok = bind_state(driver, module, given->at[i]) && ok;
    return ok;
}
