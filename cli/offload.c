/* offload.c - --offload and its companions: which targets take part, and the passes with them. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "codegen_c/byoc/external_check.h"

static const char *const assign_words[] = {
    [ASSIGN_COST] = "cost", [ASSIGN_PRIORITY] = "priority", NULL
};

bool offload_wanted(const struct cli *cli)
{
    return cli->offload.options.n_offload > 0;
}

/* --- the options ------------------------------------------------------------------------------ */

/* What is only another machine's business is left out of the banner, and of paths all but the name.
 */
enum option_kind { PLAIN, FILE_NAME, FOLDER, EACH };

const char *for_shell(const struct cli *cli, const char *value)
{
    const char *safe = str_safe(&cli->ctx->perm, value, 4096);

    struct str quoted = { .arena = &cli->ctx->perm };

    if (!strpbrk(safe, " <>|&;()$`\"'\\*?[]{}!#~"))
        return safe;
    str_add(&quoted, "'");
    for (const char *c = safe; *c; c++)
        str_printf(&quoted, "%.*s%c", *c == '\'' ? 3 : 0, "'\\'", *c); /* ' is '\'' */
    str_add(&quoted, "'");
    return str_text(&quoted);
}

static const char *option_value(const struct cli *cli, const char *value, enum option_kind kind,
                                bool with_dirs)
{
    const char *slash = kind == FILE_NAME && !with_dirs ? strrchr(value, '/') : NULL;

    value = slash ? slash + 1 : value;
    return with_dirs ? for_shell(cli, value) : str_safe(&cli->ctx->perm, value, 4096);
}

const char *offload_options(const struct cli *cli, bool with_dirs)
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
        { OPTION_LOSS, PLAIN },
        { OPTION_CALIB, FILE_NAME },
        { OPTION_DATA, FILE_NAME },
        { OPTION_PREPROCESS, FILE_NAME },
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
    struct str text = { .arena = &cli->ctx->perm };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct option_values *values = &cli->args.options[all[i].option];
        const bool every = all[i].kind == FOLDER || all[i].kind == EACH;

        for (int j = every || !values->n ? 0 : values->n - 1; j < values->n; j++)
            if (all[i].kind != FOLDER || with_dirs)
                str_printf(&text, " --%s%s%s", option_name(all[i].option),
                           *values->at[j] ? " " : "",
                           option_value(cli, values->at[j], all[i].kind, with_dirs));
    }
    return str_text(&text);
}

static const char **target_names(struct cli *cli, size_t *n)
{
    const char **names;

    *n = 0;
    for (const struct target *t = cli->offload.targets.first; t; t = t->next)
        ++*n;
    names = arena_array(&cli->ctx->perm, const char *, *n);
    *n = 0;
    for (const struct target *t = cli->offload.targets.first; t; t = t->next)
        names[(*n)++] = t->name;
    return names;
}

const struct target *find_target(struct cli *cli, const char *name)
{
    const struct target *found = targets_find(&cli->offload.targets, name);
    struct str list = { .arena = &cli->ctx->perm };
    const char **names, *nearest;
    size_t n;

    if (found)
        return found;
    names = target_names(cli, &n);
    nearest = str_nearest(name, names, n);
    for (size_t i = 0; i < n; i++)
        str_printf(&list, "%s%s", i ? ", " : "", names[i]);
    diag_error(cli->ctx, DIAG_TARGET_UNKNOWN, NULL, "there is no target '%s'",
               str_safe(&cli->ctx->perm, name, 80));
    if (nearest)
        diag_note(cli->ctx, "the targets are %s", str_text(&list));
    if (nearest)
        diag_help(cli->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(cli->ctx, "the targets are %s; --target-dir adds others", str_text(&list));
    return NULL;
}

/* One word of --offload. c takes what is left over whether it is named or not. */
static bool add_offload(struct cli *cli, const char *name, bool last, const struct target **list)
{
    struct partition_options *options = &cli->offload.options;
    const struct target *target = *name ? find_target(cli, name) : NULL;

    if (!*name)
        return diag_error(cli->ctx, DIAG_USAGE, NULL,
                          "--offload: a name is missing between the commas");
    if (!target)
        return false;
    if (target == cli->offload.targets.first)
        return last || diag_error(cli->ctx, DIAG_USAGE, NULL,
                                  "--offload: '%s' takes what is left over, so it can only be last",
                                  target->name);
    for (int i = 0; i < options->n_offload; i++)
        if (list[i] == target)
            return diag_error(cli->ctx, DIAG_USAGE, NULL, "--offload: '%s' is there twice",
                              target->name);
    list[options->n_offload++] = target;
    return true;
}

static bool parse_offload(struct cli *cli, const char *text)
{
    const struct target **list = arena_array(&cli->ctx->perm, const struct target *, strlen(text));
    bool ok = true;

    cli->offload.options.offload = list;
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ",");

        ok = add_offload(cli, arena_strndup(&cli->ctx->perm, at, n), !at[n], list) && ok;
        at += n;
        if (!*at)
            return ok;
    }
}

/* What changes nothing is a mistake: --no-cost without a target, say. */
static bool check_companions(struct cli *cli)
{
    static const struct {
        enum option_id option;
        const char *name;
    } companions[] = { { OPTION_ASSIGN, "assign" }, { OPTION_NO_COST, "no-cost" } };

    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (has_option(&cli->args, companions[i].option) && !offload_wanted(cli))
            diag_error(cli->ctx, DIAG_USAGE, NULL, "--%s says nothing without --offload",
                       companions[i].name);
    return cli->ctx->diags.n_errors == 0;
}

/* Of the targets that take part; for `relayc targets`, of all that are the user's. */
static bool check_templates(struct cli *cli)
{
    const struct partition_options *options = &cli->offload.options;
    bool ok = true;

    for (int i = 0; i < options->n_offload; i++)
        ok = external_check_templates(cli->ctx, options->offload[i]) && ok;
    if (cli->args.command == COMMAND_TARGETS)
        for (const struct target *t = cli->offload.targets.first; t; t = t->next)
            ok = (!t->folder || external_check_templates(cli->ctx, t)) && ok;
    return ok;
}

bool prepare_offload(struct cli *cli)
{
    struct offload *offload = &cli->offload;
    const struct option_values *dirs = &cli->args.options[OPTION_TARGET_DIR];
    const char *list = option_text(&cli->args, OPTION_OFFLOAD, NULL);
    int assign;
    bool ok = option_word(cli->ctx, &cli->args, OPTION_ASSIGN, assign_words, ASSIGN_COST, &assign);

    offload->options.assign = (enum assign)assign;
    offload->options.no_cost = has_option(&cli->args, OPTION_NO_COST);
    offload->options.targets = &offload->targets;
    ok = prepare_precision(cli) && ok;
    if (list || dirs->n || cli->args.command == COMMAND_TARGETS) {
        if (!targets_load(cli->ctx, dirs->n, dirs->at, &offload->targets))
            return false;
        ok = (!list || parse_offload(cli, list)) && ok;
    }
    ok = check_templates(cli) && ok;
    return ok && check_companions(cli);
}

/* --- the passes ------------------------------------------------------------------------------- */

bool run_offload(struct cli *cli, struct module *module, const struct pipeline_options *options)
{
    cli->offload.partition = partition_new(module, &cli->offload.options);
    return partition_run(cli->offload.partition, options);
}

static int count_regions(const struct module *module, const struct target *target)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == OP_CALL && strcmp(node->callee->compiler, target->name) == 0;
    return n;
}

void report_offload(struct cli *cli, const struct module *module)
{
    const struct target *c = cli->offload.targets.first;
    bool foreign = offload_wanted(cli); /* a JSON graph may have regions of targets without */
    const char *before = "  targets";
    cJSON *json;

    for (const struct target *t = c; t && !foreign; t = t->next)
        foreign = t != c && count_regions(module, t) > 0;
    if (!foreign)
        return;
    json = cli->json ? cJSON_AddObjectToObject(cli->json, "targets") : NULL;
    for (const struct target *t = c; t; t = t->next) {
        const int n = count_regions(module, t);

        if (n == 0)
            continue;
        say(cli, "%s %s %d region%s", before, t->name, n, n == 1 ? "" : "s");
        before = ",";
        if (json)
            cJSON_AddNumberToObject(json, t->name, n);
    }
    say(cli, "%s", *before == ',' ? "\n" : "");
}

static void note(struct cli *cli, const char *text)
{
    cJSON *list = cli->json ? cJSON_GetObjectItemCaseSensitive(cli->json, "notes") : NULL;

    if (cli->json && !list)
        list = cJSON_AddArrayToObject(cli->json, "notes");
    if (list)
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
    else if (!cli->quiet)
        fprintf(stderr, "note: %s\n", text);
}

void note_offload(struct cli *cli, const struct module *module)
{
    const struct partition_options *options = &cli->offload.options;
    struct arena *arena = &cli->ctx->perm;
    const char *model = str_safe(arena, cli->args.operands[0], 4096);

    for (int i = 0; i < options->n_offload; i++)
        if (count_regions(module, options->offload[i]) == 0)
            note(cli,
                 arena_printf(arena, "%s took nothing; `relayc targets --explain %s%s` says why",
                              options->offload[i]->name, model, offload_options(cli, true)));
    if (has_option(&cli->args, OPTION_OFFLOAD))
        return;
    for (const struct target *t = cli->offload.targets.first; t; t = t->next)
        if (t->folder && t != cli->offload.targets.first && count_regions(module, t) == 0)
            note(cli, arena_printf(
                          arena, "the target %s was loaded, but takes no part without --offload %s",
                          t->name, t->name));
}
