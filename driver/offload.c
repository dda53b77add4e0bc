/* offload.c - --offload and related options: which targets take part, and the passes with them. */
#include <string.h>

#include "base/str.h"
#include "codegen_c/byoc/external_check.h"
#include "driver/driver.h"

static const char *const assign_words[] = {
    [ASSIGN_COST] = "cost", [ASSIGN_PRIORITY] = "priority", NULL
};

bool offload_wanted(const struct driver_state *driver)
{
    return driver->offload.options.n_offload > 0;
}

/* --- the options ------------------------------------------------------------------------------ */

/* What is only another machine's business is left out of the banner, and of paths all but the name.
 */
enum option_kind { PLAIN, FILE_NAME, FOLDER, EACH };

const char *for_shell(const struct driver_state *driver, const char *value)
{
    const char *safe = str_safe(&driver->ctx->perm, value, 4096);

    struct str quoted = { .arena = &driver->ctx->perm };

    if (!strpbrk(safe, " <>|&;()$`\"'\\*?[]{}!#~"))
        return safe;
    str_add(&quoted, "'");
    for (const char *c = safe; *c; c++)
        str_printf(&quoted, "%.*s%c", *c == '\'' ? 3 : 0, "'\\'", *c); /* ' is '\'' */
    str_add(&quoted, "'");
    return str_text(&quoted);
}

static const char *option_value(const struct driver_state *driver, const char *value,
                                enum option_kind kind, bool with_dirs)
{
    const char *slash = kind == FILE_NAME && !with_dirs ? strrchr(value, '/') : NULL;

    value = slash ? slash + 1 : value;
    return with_dirs ? for_shell(driver, value) : str_safe(&driver->ctx->perm, value, 4096);
}

const char *offload_options(const struct driver_state *driver, bool with_dirs)
{
    static const struct {
        enum option_id option;
        enum option_kind kind;
    } all[] = {
        { OPTION_TARGET_DIR, FOLDER },
        { OPTION_OFFLOAD, PLAIN },
        { OPTION_ASSIGN, PLAIN },
        { OPTION_NO_COST, PLAIN },
        { OPTION_PRECISION, PLAIN },
        { OPTION_QTABLE, FILE_NAME },
        { OPTION_KEEP_F32, EACH },
        { OPTION_KEEP_FIRST, PLAIN },
        { OPTION_KEEP_LAST, PLAIN },
        { OPTION_TOPK, PLAIN },
        { OPTION_TOPK_PRECISION, PLAIN },
        { OPTION_LOSS, PLAIN },
        { OPTION_CALIB, FILE_NAME },
        { OPTION_DATA, FILE_NAME },
        { OPTION_PREPROCESS, FILE_NAME },
        { OPTION_SAMPLES, PLAIN },
        { OPTION_SPLIT, FILE_NAME },
        { OPTION_LIMIT, PLAIN },
        { OPTION_SCALE, PLAIN },
        { OPTION_SCALE_WEIGHTS, PLAIN },
        { OPTION_FORMATS, PLAIN },
        { OPTION_FP8_PARAMS, PLAIN },
        { OPTION_EQUALIZE, PLAIN },
        { OPTION_SMOOTH, PLAIN },
        { OPTION_ROUND, PLAIN },
        { OPTION_BIAS_CORRECTION, PLAIN },
        { OPTION_ARITHMETIC, PLAIN },
        { OPTION_ROUNDING, PLAIN },
        { OPTION_QUANTIZED_IO, PLAIN },
    };
    struct str text = { .arena = &driver->ctx->perm };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct option_values *values = &driver->args.options[all[i].option];
        const bool every = all[i].kind == FOLDER || all[i].kind == EACH;

        for (int j = every || !values->n ? 0 : values->n - 1; j < values->n; j++)
            if (all[i].kind != FOLDER || with_dirs)
                str_printf(&text, " --%s%s%s", option_name(all[i].option),
                           *values->at[j] ? " " : "",
                           option_value(driver, values->at[j], all[i].kind, with_dirs));
    }
    return str_text(&text);
}

static const char **target_names(struct driver_state *driver, size_t *n)
{
    const char **names;

    *n = 0;
    for (const struct target *t = driver->offload.targets.first; t; t = t->next)
        ++*n;
    names = arena_array(&driver->ctx->perm, const char *, *n);
    *n = 0;
    for (const struct target *t = driver->offload.targets.first; t; t = t->next)
        names[(*n)++] = t->name;
    return names;
}

const struct target *find_target(struct driver_state *driver, const char *name)
{
    const struct target *found = targets_find(&driver->offload.targets, name);
    struct str list = { .arena = &driver->ctx->perm };
    const char **names, *nearest;
    size_t n;

    if (found)
        return found;
    names = target_names(driver, &n);
    nearest = str_nearest(name, names, n);
    for (size_t i = 0; i < n; i++)
        str_printf(&list, "%s%s", i ? ", " : "", names[i]);
    diag_error(driver->ctx, DIAG_TARGET_UNKNOWN, NULL, "unknown target '%s'",
               str_safe(&driver->ctx->perm, name, 80));
    if (nearest)
        diag_note(driver->ctx, "the targets are %s", str_text(&list));
    if (nearest)
        diag_help(driver->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(driver->ctx, "the targets are %s; --target-dir adds others", str_text(&list));
    return NULL;
}

/* One word of --offload. c takes what is left over whether it is named or not. */
static bool add_offload(struct driver_state *driver, const char *name, bool last,
                        const struct target **list)
{
    struct partition_options *options = &driver->offload.options;
    const struct target *target = *name ? find_target(driver, name) : NULL;

    if (!*name)
        return diag_error(driver->ctx, DIAG_USAGE, NULL,
                          "--offload: a name is missing between the commas");
    if (!target)
        return false;
    if (target == driver->offload.targets.first)
        return last || diag_error(driver->ctx, DIAG_USAGE, NULL,
                                  "--offload: '%s' takes the remaining nodes, so it must be last",
                                  target->name);
    for (int i = 0; i < options->n_offload; i++)
        if (list[i] == target)
            return diag_error(driver->ctx, DIAG_USAGE, NULL, "--offload: '%s' is given twice",
                              target->name);
    list[options->n_offload++] = target;
    return true;
}

static bool parse_offload(struct driver_state *driver, const char *text)
{
    const struct target **list =
        arena_array(&driver->ctx->perm, const struct target *, strlen(text));
    bool ok = true;

    driver->offload.options.offload = list;
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ",");

        ok = add_offload(driver, arena_strndup(&driver->ctx->perm, at, n), !at[n], list) && ok;
        at += n;
        if (!*at)
            return ok;
    }
}

/* What changes nothing is a mistake: --no-cost without a target, say. */
static bool check_companions(struct driver_state *driver)
{
    static const struct {
        enum option_id option;
        const char *name;
    } companions[] = { { OPTION_ASSIGN, "assign" }, { OPTION_NO_COST, "no-cost" } };

    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (has_option(&driver->args, companions[i].option) && !offload_wanted(driver))
            diag_error(driver->ctx, DIAG_USAGE, NULL, "--%s has no effect without --offload",
                       companions[i].name);
    return driver->ctx->diags.n_errors == 0;
}

/* Of the targets that take part; for `relayc targets`, of all that are the user's. */
static bool check_templates(struct driver_state *driver)
{
    const struct partition_options *options = &driver->offload.options;
    bool ok = true;

    for (int i = 0; i < options->n_offload; i++)
        ok = external_check_templates(driver->ctx, options->offload[i]) && ok;
    if (driver->args.command == COMMAND_TARGETS)
        for (const struct target *t = driver->offload.targets.first; t; t = t->next)
            ok = (!t->folder || external_check_templates(driver->ctx, t)) && ok;
    return ok;
}

bool prepare_offload(struct driver_state *driver)
{
    struct offload *offload = &driver->offload;
    const struct option_values *dirs = &driver->args.options[OPTION_TARGET_DIR];
    const char *list = option_text(&driver->args, OPTION_OFFLOAD, NULL);
    int assign;
    bool ok =
        option_word(driver->ctx, &driver->args, OPTION_ASSIGN, assign_words, ASSIGN_COST, &assign);

    offload->options.assign = (enum assign)assign;
    offload->options.no_cost = has_option(&driver->args, OPTION_NO_COST);
    offload->options.targets = &offload->targets;
    ok = prepare_precision(driver) && ok;
    if (list || dirs->n || driver->args.command == COMMAND_TARGETS) {
        if (!targets_load(driver->ctx, dirs->n, dirs->at, &offload->targets))
            return false;
        ok = (!list || parse_offload(driver, list)) && ok;
    }
    ok = check_templates(driver) && ok;
    return ok && check_companions(driver);
}

/* --- the passes ------------------------------------------------------------------------------- */

bool stage_partition(struct driver_state *driver)
{
    const struct pipeline_options options = driver_pipeline_options(driver);

    driver->offload.partition = partition_new(driver->module, &driver->offload.options);
    return partition_run(driver->offload.partition, &options);
}

int count_regions(const struct module *module, const struct target *target)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_CALL && strcmp(node->callee->compiler, target->name) == 0;
    return n;
}

void note_offload(struct driver_state *driver, const struct module *module)
{
    const struct partition_options *options = &driver->offload.options;
    struct arena *arena = &driver->ctx->perm;
    const char *model = str_safe(arena, driver->args.operands[0], 4096);

    for (int i = 0; i < options->n_offload; i++)
        if (count_regions(module, options->offload[i]) == 0)
            driver_note(
                driver,
                arena_printf(arena, "%s took no node; `relayc targets --explain %s%s` explains why",
                             options->offload[i]->name, model, offload_options(driver, true)));
    if (has_option(&driver->args, OPTION_OFFLOAD))
        return;
    for (const struct target *t = driver->offload.targets.first; t; t = t->next)
        if (t->folder && t != driver->offload.targets.first && count_regions(module, t) == 0)
            driver_note(driver,
                        arena_printf(arena, "the target %s is not used without --offload %s",
                                     t->name, t->name));
}
