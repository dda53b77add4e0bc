/* cmd_diff.c - what differs between two compilations: models, folders or NAME.json. */
#include "cli/open_facts.h"
#include "report/diff.h"

enum form { FORM_TEXT, FORM_MARKDOWN };

static bool show(struct cli *cli, const struct diff *diff, enum form form)
{
    struct arena *arena = &cli->ctx->perm;

    if (cli->json)
        diff_add_json(diff, cli->json);
    else if (!cli->quiet)
        fputs(form == FORM_MARKDOWN ? diff_markdown(arena, diff) : diff_text(arena, diff), stdout);
    if (!diff->differs || !has_option(&cli->driver->args, OPTION_EXIT_CODE))
        return true;
    return diag_error(cli->ctx, DIAG_DIFFERS, NULL, "%s differs from %s", diff->new->path,
                      diff->old->path);
}

static bool add_scores(struct cli *cli, struct diff *diff)
{
    const struct option_values *given = &cli->driver->args.options[OPTION_EVAL];

    if (given->n == 0)
        return true;
    if (given->n != 2)
        return diag_error(cli->ctx, DIAG_USAGE, NULL,
                          "--eval: given %s, expected two reports: of OLD, then of NEW",
                          given->n == 1 ? "once" : "more than twice");
    return diff_add_scores(cli->ctx, diff, given->at[0], given->at[1]);
}

bool command_diff(struct cli *cli)
{
    static const char *const forms[] = { "text", "markdown", NULL };
    struct opened_facts old = { NULL, NULL }, new = { NULL, NULL };
    struct diff *diff;
    int form;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = option_word(cli->ctx, &cli->driver->args, OPTION_FORMAT, forms, FORM_TEXT, &form) &&
         open_facts(cli, cli->driver->args.operands[0], &old) &&
         open_facts(cli, cli->driver->args.operands[1], &new);
    if (ok) {
        diff = diff_make(cli->ctx, old.facts, new.facts);
        ok = add_scores(cli, diff) && show(cli, diff, (enum form)form);
    }
    close_facts(&old);
    close_facts(&new);
    return ok;
}
